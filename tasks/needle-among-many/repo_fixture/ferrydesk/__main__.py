"""Command line: python3 -m ferrydesk."""

import argparse
import sys
from pathlib import Path

from ferrydesk import bookings, export
from ferrydesk.report import report


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="ferrydesk")
    commands = parser.add_subparsers(dest="command", required=True)
    exporter = commands.add_parser("export", help="write bookings as CSV to standard output")
    exporter.add_argument("file", type=Path, help="nightly file of bookings")
    exporter.add_argument("--no-shows", action="store_true", help="only who did not check in")
    reporter = commands.add_parser("report", help="print figures by sailing")
    reporter.add_argument("file", type=Path, help="nightly file of bookings")
    args = parser.parse_args(argv)
    try:
        booked = bookings.load(args.file)
    except (OSError, bookings.BookingsError) as error:
        print(f"ferrydesk: {error}", file=sys.stderr)
        return 1
    if args.command == "report":
        print("\n".join(report(booked)))
        return 0
    if args.no_shows:
        booked = export.no_shows(booked)
    export.write(booked, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
