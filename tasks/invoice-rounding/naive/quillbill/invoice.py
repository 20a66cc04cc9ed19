"""What an invoice is, and what it comes to."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from quillbill.money import ZERO, round_to_cents


@dataclass(frozen=True)
class Line:
    """Something sold, or on a credit note taken back."""

    text: str
    quantity: int
    unit_price: Decimal
    discount_percent: Decimal = Decimal(0)

    @property
    def net(self) -> Decimal:
        """Price of the whole line less its discount, in whole cents."""
        return round_to_cents(self.quantity * self.unit_price * (100 - self.discount_percent) / 100)


@dataclass(frozen=True)
class Invoice:
    """An invoice, or a credit note if its quantities are negative."""

    number: str
    date: date
    customer: str
    lines: tuple[Line, ...]
    shipping: Decimal = ZERO

    @property
    def is_credit_note(self) -> bool:
        return all(line.quantity < 0 for line in self.lines)

    @property
    def subtotal(self) -> Decimal:
        return sum((line.net for line in self.lines), ZERO)

    @property
    def total(self) -> Decimal:
        return self.subtotal + self.shipping
