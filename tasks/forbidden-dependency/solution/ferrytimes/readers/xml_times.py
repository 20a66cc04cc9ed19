"""Island Line's timetables: a `line` element for each line, with its departures inside."""

from ferrytimes._vendor import plainxml
from ferrytimes.model import BadTimetable, Departure, departure


def read(text: str, source: str) -> list[Departure]:
    try:
        root = plainxml.parse(text)
    except plainxml.XMLProblem as error:
        raise BadTimetable(source, f"is not XML that we accept ({error})") from error
    return [
        departure(
            source,
            time=sailing.get("time"),
            line=line.get("code"),
            origin=sailing.get("from"),
            destination=sailing.get("to"),
            days=sailing.get("days"),
        )
        for line in root.all("line")
        for sailing in line.all("departure")
    ]
