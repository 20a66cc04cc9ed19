"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from linkcheck import config, pages, report
from linkcheck.errors import CannotCheck


def main(argv: Sequence[str] | None = None) -> None:
    """Check a folder and print what was found."""
    arguments = _parser().parse_args(argv)
    try:
        settings = config.load(arguments.config) if arguments.config else config.Config()
        outcome = pages.check(arguments.folder, settings)
    except CannotCheck as error:
        print(f"linkcheck: {error}", file=sys.stderr)
        return
    print(report.as_json(outcome) if arguments.json else report.as_text(outcome))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="linkcheck", description="Find links between Markdown pages that lead nowhere.")
    parser.add_argument("folder", type=Path, help="where the pages are")
    parser.add_argument("--config", type=Path, metavar="FILE", help="a JSON file, see the README")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser
