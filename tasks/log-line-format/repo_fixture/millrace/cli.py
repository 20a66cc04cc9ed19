"""The command line."""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from millrace import logs
from millrace.loader import UnusableFile, read_deliveries, read_mills
from millrace.report import report_lines
from millrace.rules import accepted

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    logs.configure(arguments.verbosity)
    try:
        mills = read_mills(arguments.mills)
        rows = read_deliveries(arguments.deliveries)
    except UnusableFile as error:
        log.error("%s", error)
        return 2
    kept = accepted(rows, mills)
    rejected = len(rows) - len(kept)
    print("\n".join(report_lines(kept, mills, rejected)))
    return 1 if rejected else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="millrace", description="Check a night's grain deliveries.")
    parser.add_argument("deliveries", type=Path, help="CSV file from the weighbridge")
    parser.add_argument("--mills", type=Path, default=Path("data/mills.csv"), help="the mills' codes and names (default: %(default)s)")
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-v", dest="verbosity", action="store_const", const=1, default=0, help="a line for each accepted row, too")
    volume.add_argument("-q", dest="verbosity", action="store_const", const=-1, help="only warnings and errors")
    return parser
