"""Bookings to CSV (docs/exports.md)."""

import csv
from collections.abc import Iterable
from typing import TextIO

from ferrydesk.bookings import Booking

COLUMNS = ("reference", "sailing", "name", "phone", "passengers", "vehicle")


def write(bookings: Iterable[Booking], file: TextIO) -> None:
    """Write a header and one row a booking."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for booking in bookings:
        writer.writerow([getattr(booking, column) for column in COLUMNS])


def no_shows(bookings: Iterable[Booking]) -> list[Booking]:
    return [booking for booking in bookings if not booking.checked_in]
