"""The commands."""

import argparse
import sys
from collections.abc import Sequence

from tidewatch.cache import Cache, default_directory
from tidewatch.client import Client
from tidewatch.errors import TidewatchError
from tidewatch.readings import level_lines, tide_lines
from tidewatch.services import SERVICES


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        lines = arguments.command(arguments)
    except TidewatchError as error:
        print(f"tidewatch: {error}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


def _services(_: argparse.Namespace) -> list[str]:
    return [f"{s.name:<10} {'restricted' if s.restricted else 'open':<11} {s.summary}" for s in SERVICES.values()]


def _levels(arguments: argparse.Namespace) -> list[str]:
    return level_lines(Client("gauges", Cache(default_directory())).get_json("/readings", station=arguments.station))


def _almanac(arguments: argparse.Namespace) -> list[str]:
    return tide_lines(Client("almanac", Cache(default_directory())).get_json("/day", day=arguments.day))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tidewatch", description="Ask the harbour office's data services.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    services = commands.add_parser("services", help="list the services")
    services.set_defaults(command=_services)
    levels = commands.add_parser("levels", help="latest readings of a gauge")
    levels.add_argument("station")
    levels.set_defaults(command=_levels)
    almanac = commands.add_parser("almanac", help="high and low water of a day")
    almanac.add_argument("day", metavar="YYYY-MM-DD")
    almanac.set_defaults(command=_almanac)
    return parser
