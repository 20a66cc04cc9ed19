"""Counts by loop and hour."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from roadcount.events import Event


def summarise(events: Iterable[Event]) -> list[str]:
    """One line `loop hour vehicles axles` for each loop and hour (UTC) with an event, sorted."""
    vehicles, axles = Counter(), Counter()
    for event in events:
        hour = datetime.fromtimestamp(event.time, UTC).strftime("%Y-%m-%dT%H")
        vehicles[event.loop, hour] += 1
        axles[event.loop, hour] += event.axles
    return [f"{loop} {hour} {vehicles[loop, hour]} {axles[loop, hour]}" for loop, hour in sorted(vehicles)]
