"""Marlow Freight: price sheet of September 2024."""

from decimal import Decimal

from parcelrate.tariff import Tariff

KEY = "marlow"
NAME = "Marlow Freight"
TARIFF = Tariff(
    base=Decimal("4.10"),
    included_kg=2,
    per_kg=Decimal("0.85"),
    zones={"A": Decimal("1"), "B": Decimal("1.20"), "C": Decimal("1.45")},
    max_kg=Decimal("40"),
)
