"""The command line: one subcommand for each step."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import coldroom.steps  # noqa: F401  (registers the steps)
from coldroom.registry import STEPS
from coldroom.store import UnusableStore, load, save


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        store = load(arguments.store)
    except UnusableStore as error:
        print(f"coldroom: {error}", file=sys.stderr)
        return 1
    print("\n".join(STEPS[arguments.step].work(store)))
    save(store, arguments.store)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="coldroom", description="Look after the cold store.")
    parser.add_argument("--store", type=Path, default=Path("store.json"), help="the store's file (default: %(default)s)")
    commands = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    for known in sorted(STEPS.values(), key=lambda known: known.name):
        commands.add_parser(known.name, help=known.help)
    return parser
