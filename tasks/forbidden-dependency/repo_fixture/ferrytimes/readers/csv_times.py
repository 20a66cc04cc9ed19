"""Nordferry's timetables: semicolons, and a heading line."""

import csv

from ferrytimes.model import BadTimetable, Departure, departure

COLUMNS = {"line", "time", "from", "to", "days"}


def read(text: str, source: str) -> list[Departure]:
    rows = csv.DictReader(text.splitlines(), delimiter=";")
    missing = COLUMNS - set(rows.fieldnames or ())
    if missing:
        raise BadTimetable(source, f"no column {', '.join(sorted(missing))}")
    return [
        departure(source, time=row["time"], line=row["line"], origin=row["from"], destination=row["to"], days=row["days"])
        for row in rows
    ]
