"""The command line."""

import argparse
import sys
from pathlib import Path

from ferrytimes.model import BadTimetable, is_time
from ferrytimes.readers import read_timetable

BAD_TIMETABLE = 3


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit status."""
    arguments = parser().parse_args(argv)
    try:
        departures = read_timetable(arguments.timetable)
    except BadTimetable as problem:
        print(f"ferrytimes: {problem}", file=sys.stderr)
        return BAD_TIMETABLE

    for departure in sorted(departures):
        if departure.origin == arguments.origin and departure.time >= arguments.after:
            print(f"{departure.time}  {departure.line:<4} {departure.destination} ({departure.days})")
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ferrytimes", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    departures = commands.add_parser("departures", help="what leaves from a quay, in order of time")
    departures.add_argument("timetable", type=Path)
    departures.add_argument("--from", dest="origin", required=True, metavar="QUAY")
    departures.add_argument("--after", default="00:00", type=time_of_day, metavar="HH:MM")
    return top


def time_of_day(text: str) -> str:
    if not is_time(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 07:10")
    return text
