"""Reads the nightly file of bookings."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

VEHICLES = ("none", "bike", "car", "van")


class BookingsError(ValueError):
    """A nightly file that is not what was agreed."""


@dataclass(frozen=True)
class Booking:
    reference: str
    sailing: str
    name: str
    phone: str
    """As typed by the passenger; may be empty."""
    passengers: int
    vehicle: Literal["none", "bike", "car", "van"]
    checked_in: bool


def load(path: Path) -> list[Booking]:
    """Bookings in the file's order. Raises BookingsError, with the booking's place, on one that is incomplete or odd."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BookingsError(f"{path}: {error}") from None
    bookings = []
    for number, entry in enumerate(entries, start=1):
        missing = [field.name for field in fields(Booking) if field.name not in entry]
        if missing:
            raise BookingsError(f"{path}: booking {number} lacks {', '.join(missing)}")
        if entry["vehicle"] not in VEHICLES:
            raise BookingsError(f"{path}: booking {number} has vehicle {entry['vehicle']!r}")
        bookings.append(Booking(**{field.name: entry[field.name] for field in fields(Booking)}))
    return bookings
