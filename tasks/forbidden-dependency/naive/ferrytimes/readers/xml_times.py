"""Island Line's timetables: a `line` element for each line, with its departures inside."""

import xml.etree.ElementTree as ET

from ferrytimes.model import BadTimetable, Departure, departure


def read(text: str, source: str) -> list[Departure]:
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise BadTimetable(source, f"is not XML ({error})") from error
    return [
        departure(
            source,
            time=sailing.get("time"),
            line=line.get("code"),
            origin=sailing.get("from"),
            destination=sailing.get("to"),
            days=sailing.get("days"),
        )
        for line in root.findall("line")
        for sailing in line.findall("departure")
    ]
