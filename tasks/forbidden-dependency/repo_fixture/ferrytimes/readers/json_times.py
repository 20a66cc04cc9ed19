"""Skerry Boats' timetables: an object with a list of sailings for each line."""

import json

from ferrytimes.model import BadTimetable, Departure, departure


def read(text: str, source: str) -> list[Departure]:
    try:
        lines = json.loads(text)["lines"]
        return [
            departure(source, time=sailing.get("at"), line=code, origin=sailing.get("from"), destination=sailing.get("to"))
            for code, sailings in lines.items()
            for sailing in sailings
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadTimetable(source, "is not a timetable in JSON") from error
