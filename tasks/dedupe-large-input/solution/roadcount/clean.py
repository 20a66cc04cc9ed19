"""The cleaning steps."""

from collections.abc import Iterable

from roadcount.events import Event

MAX_AXLES = 12


def drop_impossible(events: Iterable[Event]) -> list[Event]:
    """Events that a vehicle can have made."""
    return [event for event in events if 0 < event.axles <= MAX_AXLES]


def collapse_repeats(events: Iterable[Event], seconds: int) -> list[Event]:
    """Events without those that lie at most `seconds` before or after an earlier kept event of their loop.

    Takes time linear in the number of events: kept events are more than `seconds` apart, so a slot of `seconds` + 1
    holds one of them at most, and only an event's own slot and its two neighbours can hold one that is near.
    """
    kept = []
    slots: dict[tuple[str, int], int] = {}
    for event in events:
        slot = event.time // (seconds + 1)
        near = (slots.get((event.loop, other)) for other in (slot - 1, slot, slot + 1))
        if any(time is not None and abs(event.time - time) <= seconds for time in near):
            continue
        slots[event.loop, slot] = event.time
        kept.append(event)
    return kept
