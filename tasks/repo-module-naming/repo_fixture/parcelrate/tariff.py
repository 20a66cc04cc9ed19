"""How a tariff becomes a price."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


class Refused(ValueError):
    """The carrier does not take such a parcel."""


@dataclass(frozen=True)
class Tariff:
    """A carrier's price sheet; docs/tariffs.md says how to read one off."""

    base: Decimal
    included_kg: int
    per_kg: Decimal
    zones: Mapping[str, Decimal]
    max_kg: Decimal

    def price(self, kg: Decimal, zone: str) -> Decimal:
        """Price in euros of one parcel. Raises Refused outside the carrier's weights and zones."""
        if not 0 < kg <= self.max_kg:
            raise Refused(f"takes parcels up to {self.max_kg} kg, not {kg} kg")
        if zone not in self.zones:
            raise Refused(f"serves zones {', '.join(sorted(self.zones))}, not {zone}")
        started = int(kg.to_integral_value(rounding=ROUND_CEILING))
        beyond = max(0, started - self.included_kg)
        price = (self.base + beyond * self.per_kg) * self.zones[zone]
        return price.quantize(CENT, rounding=ROUND_HALF_UP)
