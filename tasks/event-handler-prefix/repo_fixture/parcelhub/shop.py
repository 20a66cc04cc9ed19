"""Shelf and outbox: everything that can happen to a parcel in a shop."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from parcelhub import fees, notices
from parcelhub.parcel import SIZES, Parcel, ParcelError


@dataclass
class Shop:
    parcels: dict[str, Parcel] = field(default_factory=dict)
    """By code, those that have left included."""
    outbox: list[tuple[str, str]] = field(default_factory=list)
    """Phone and text of the messages that the till has not yet sent."""

    def waiting(self) -> list[Parcel]:
        """Give the parcels that lie on the shelf, the oldest first."""
        here = [parcel for parcel in self.parcels.values() if parcel.until is None]
        return sorted(here, key=lambda parcel: (parcel.since, parcel.code))

    def take_in(self, code: str, phone: str, size: str, day: date) -> None:
        """Put a new parcel on the shelf and tell the customer."""
        if code in self.parcels:
            raise ParcelError(f"{code} is known already")
        if size not in SIZES:
            raise ParcelError(f"{code}: {size!r} is not one of {', '.join(SIZES)}")
        self.parcels[code] = Parcel(code, phone, size, since=day)
        self.outbox.append((phone, notices.arrival(self.parcels[code])))

    def hand_over(self, code: str, day: date) -> int:
        """Give a parcel to its customer, and give the cents that are owed for it."""
        parcel = self._parcel(code)
        parcel.leave(day, "collected")
        return fees.owed(parcel, day)

    def send_back(self, code: str, day: date, reason: str) -> None:
        """Give a parcel back to the carrier and tell the customer."""
        parcel = self._parcel(code)
        parcel.leave(day, reason)
        self.outbox.append((parcel.phone, notices.sent_back(parcel)))

    def _parcel(self, code: str) -> Parcel:
        if code not in self.parcels:
            raise ParcelError(f"{code} is not known")
        return self.parcels[code]
