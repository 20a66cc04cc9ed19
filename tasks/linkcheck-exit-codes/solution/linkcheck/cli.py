"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from linkcheck import config, pages, report
from linkcheck.errors import CannotCheck

CLEAN, BROKEN_LINKS, COULD_NOT_CHECK = 0, 33, 44


def main(argv: Sequence[str] | None = None) -> int:
    """Check a folder, print what was found and give the exit status."""
    arguments = _parser().parse_args(argv)
    try:
        settings = config.load(arguments.config) if arguments.config else config.Config()
        outcome = pages.check(arguments.folder, settings)
    except CannotCheck as error:
        print(f"linkcheck: {error}", file=sys.stderr)
        return COULD_NOT_CHECK
    print(report.as_json(outcome) if arguments.json else report.as_text(outcome))
    return BROKEN_LINKS if outcome.broken else CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="linkcheck", description="Find links between Markdown pages that lead nowhere.")
    parser.add_argument("folder", type=Path, help="where the pages are")
    parser.add_argument("--config", type=Path, metavar="FILE", help="a JSON file, see the README")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser
