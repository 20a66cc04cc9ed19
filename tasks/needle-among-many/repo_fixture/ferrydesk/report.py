"""Figures by sailing."""

from collections import defaultdict
from collections.abc import Iterable

from ferrydesk.bookings import Booking


def report(bookings: Iterable[Booking]) -> list[str]:
    """One line a sailing, by name: passengers, vehicles (bikes are none) and the share of passengers who did not turn up."""
    sailings = defaultdict(list)
    for booking in bookings:
        sailings[booking.sailing].append(booking)
    lines = []
    for sailing, booked in sorted(sailings.items()):
        passengers = sum(booking.passengers for booking in booked)
        vehicles = sum(booking.vehicle in ("car", "van") for booking in booked)
        absent = sum(booking.passengers for booking in booked if not booking.checked_in)
        lines.append(f"{sailing}: {passengers} passengers, {vehicles} vehicles, {absent / passengers:.0%} absent")
    return lines
