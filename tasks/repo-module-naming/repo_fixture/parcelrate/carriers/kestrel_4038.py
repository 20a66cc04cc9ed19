"""Kestrel Couriers: price sheet of March 2024."""

from decimal import Decimal

from parcelrate.tariff import Tariff

KEY = "kestrel"
NAME = "Kestrel Couriers"
TARIFF = Tariff(
    base=Decimal("5.20"),
    included_kg=3,
    per_kg=Decimal("0.70"),
    zones={"A": Decimal("1"), "B": Decimal("1.25"), "C": Decimal("1.55")},
    max_kg=Decimal("25"),
)
