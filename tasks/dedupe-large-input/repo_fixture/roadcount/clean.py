"""The cleaning steps."""

from collections.abc import Iterable

from roadcount.events import Event

MAX_AXLES = 12


def drop_impossible(events: Iterable[Event]) -> list[Event]:
    """Events that a vehicle can have made."""
    return [event for event in events if 0 < event.axles <= MAX_AXLES]
