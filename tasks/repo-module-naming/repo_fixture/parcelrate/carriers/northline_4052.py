"""Northline Cargo: price sheet of June 2023, zone C on request only."""

from decimal import Decimal

from parcelrate.tariff import Tariff

KEY = "northline"
NAME = "Northline Cargo"
TARIFF = Tariff(
    base=Decimal("18.00"),
    included_kg=30,
    per_kg=Decimal("0.35"),
    zones={"A": Decimal("1"), "B": Decimal("1.30")},
    max_kg=Decimal("250"),
)
