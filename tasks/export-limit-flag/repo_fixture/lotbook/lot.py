"""A lot, and what makes one valid."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import date

from lotbook.errors import LedgerError

PRODUCTS = ("barley", "oats", "rye", "spelt", "wheat")
CODE = re.compile(r"[A-Z]\d\d-\d{4,}")


@dataclass(frozen=True)
class Lot:
    code: str
    product: str
    kg: float
    packed: date

    @classmethod
    def parse(cls, fields: dict[str, object]) -> Lot:
        """Build a lot from the fields of a ledger line; raise LedgerError if one is missing or wrong."""
        try:
            code, product = str(fields["code"]), str(fields["product"])
            kg, packed = float(fields["kg"]), date.fromisoformat(str(fields["packed"]))
        except KeyError as missing:
            raise LedgerError(f"the lot has no {missing.args[0]}") from None
        except (TypeError, ValueError) as wrong:
            raise LedgerError(f"the lot cannot be read: {wrong}") from None
        if not CODE.fullmatch(code):
            raise LedgerError(f"{code!r} is not a lot code")
        if product not in PRODUCTS:
            raise LedgerError(f"{product!r} is not one of {', '.join(PRODUCTS)}")
        if kg <= 0:
            raise LedgerError(f"{code} weighs {kg:g} kg")
        return cls(code, product, kg, packed)

    def fields(self) -> dict[str, object]:
        """Give the fields as a ledger line holds them."""
        return asdict(self) | {"packed": self.packed.isoformat()}
