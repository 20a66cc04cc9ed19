"""An event, and the lines of an event file (docs/format.md)."""

from collections.abc import Iterable
from typing import NamedTuple, TextIO


class Event(NamedTuple):
    time: int
    loop: str
    axles: int


class FormatError(ValueError):
    """A line that is not an event."""


def read(file: TextIO) -> list[Event]:
    """Events in the order of the lines. Raises FormatError, with the line's number, on a line that is not an event."""
    events = []
    for number, line in enumerate(file, start=1):
        try:
            time, loop, axles = line.rstrip("\n").split(",")
            events.append(Event(int(time), loop, int(axles)))
        except ValueError:
            raise FormatError(f"line {number}: expected time,loop,axles, found {line!r}") from None
    return events


def write(events: Iterable[Event], file: TextIO) -> None:
    file.writelines(f"{event.time},{event.loop},{event.axles}\n" for event in events)
