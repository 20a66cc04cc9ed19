"""Which lots a command is about, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from lotbook.lot import Lot


def matching(lots: Iterable[Lot], product: str | None = None, since: date | None = None) -> list[Lot]:
    """Keep the lots of a product that were packed on a day or after it, in the order in which they come."""
    return [
        lot for lot in lots if (product is None or lot.product == product) and (since is None or lot.packed >= since)
    ]


def newest_first(lots: Iterable[Lot]) -> list[Lot]:
    """Order by packing date, newest first; of one day, the lot further down the ledger comes first."""
    return sorted(reversed(list(lots)), key=lambda lot: lot.packed, reverse=True)


def weight_by_product(lots: Iterable[Lot]) -> dict[str, float]:
    """Add up the kilograms of each product that occurs, by name."""
    total: dict[str, float] = {}
    for lot in lots:
        total[lot.product] = total.get(lot.product, 0.0) + lot.kg
    return dict(sorted(total.items()))
