"""A departure, and what makes it valid."""

import re
from dataclasses import dataclass

DAYS = ("daily", "weekdays", "weekends")


class BadTimetable(Exception):
    """A timetable that cannot be used: which, and why."""

    def __init__(self, source: str, why: str) -> None:
        super().__init__(f"{source}: {why}")


@dataclass(frozen=True, order=True)
class Departure:
    """One sailing: `time` is HH:MM on the quay's clock, `days` one of DAYS."""

    time: str
    line: str
    origin: str
    destination: str
    days: str = "daily"


def is_time(text: str) -> bool:
    return re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", text) is not None


def departure(source: str, *, time: object, line: object, origin: object, destination: object, days: object = None) -> Departure:
    """Make a departure of what a file said; BadTimetable if a part is absent or cannot be. Without `days` it is daily."""
    for name, part in (("time", time), ("line", line), ("origin", origin), ("destination", destination)):
        if not isinstance(part, str) or not part.strip():
            raise BadTimetable(source, f"a departure without {name}")
    if not is_time(time):
        raise BadTimetable(source, f"{time!r} is not a time")
    days = days or "daily"
    if days not in DAYS:
        raise BadTimetable(source, f"{days!r} is none of {', '.join(DAYS)}")
    return Departure(time, line.strip(), origin.strip(), destination.strip(), days)
