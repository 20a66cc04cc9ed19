"""The cleaning steps."""

from collections.abc import Iterable

from roadcount.events import Event

MAX_AXLES = 12


def drop_impossible(events: Iterable[Event]) -> list[Event]:
    """Events that a vehicle can have made."""
    return [event for event in events if 0 < event.axles <= MAX_AXLES]


def collapse_repeats(events: Iterable[Event], seconds: int) -> list[Event]:
    """Events without those that lie at most `seconds` before or after an earlier kept event of their loop."""
    kept = []
    times: dict[str, list[int]] = {}
    for event in events:
        of_loop = times.setdefault(event.loop, [])
        if any(abs(event.time - time) <= seconds for time in of_loop):
            continue
        of_loop.append(event.time)
        kept.append(event)
    return kept
