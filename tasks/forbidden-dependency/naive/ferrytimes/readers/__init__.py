"""Readers of timetables, one module a format."""

from collections.abc import Callable
from pathlib import Path

from ferrytimes.model import BadTimetable, Departure
from ferrytimes.readers import csv_times, json_times, xml_times

READERS: dict[str, Callable[[str, str], list[Departure]]] = {
    ".csv": csv_times.read,
    ".json": json_times.read,
    ".xml": xml_times.read,
}


def read_timetable(path: Path) -> list[Departure]:
    """Read a timetable of any format that there is a reader for; BadTimetable if it cannot be used."""
    read = READERS.get(path.suffix.lower())
    if read is None:
        raise BadTimetable(path.name, f"no reader for {path.suffix or 'a file without suffix'!r}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadTimetable(path.name, f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadTimetable(path.name, "is not UTF-8") from error

    departures = read(text, path.name)
    if not departures:
        raise BadTimetable(path.name, "no departures")
    return departures
