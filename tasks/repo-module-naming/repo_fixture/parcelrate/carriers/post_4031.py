"""Union Post: price sheet of January 2024."""

from decimal import Decimal

from parcelrate.tariff import Tariff

KEY = "post"
NAME = "Union Post"
TARIFF = Tariff(
    base=Decimal("3.90"),
    included_kg=1,
    per_kg=Decimal("1.15"),
    zones={"A": Decimal("1"), "B": Decimal("1.60"), "C": Decimal("2.10")},
    max_kg=Decimal("31.5"),
)
