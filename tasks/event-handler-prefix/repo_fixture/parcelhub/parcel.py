"""A parcel and its states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

SIZES = ("S", "M", "L")


class ParcelError(Exception):
    """Something that cannot happen to a parcel as it stands."""


@dataclass
class Parcel:
    code: str
    phone: str
    size: str
    since: date
    until: date | None = None
    """When it left the shelf; None as long as it lies there."""
    fate: str | None = None
    """`collected`, or why it was sent back."""

    def leave(self, day: date, fate: str) -> None:
        """Take the parcel off the shelf; raise ParcelError if it has left before or did not yet lie there."""
        if self.until is not None:
            raise ParcelError(f"{self.code} has left the shelf on {self.until}")
        if day < self.since:
            raise ParcelError(f"{self.code} came on {self.since}, after {day}")
        self.until, self.fate = day, fate
