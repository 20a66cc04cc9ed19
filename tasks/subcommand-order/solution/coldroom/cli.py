"""The command line: one subcommand for each step."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import coldroom.steps  # noqa: F401  (registers the steps)
from coldroom.registry import STEPS, in_usual_order
from coldroom.store import UnusableStore, load, save

RUN_ALL = "run-all"


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        store = load(arguments.store)
    except UnusableStore as error:
        print(f"coldroom: {error}", file=sys.stderr)
        return 1
    if arguments.step == RUN_ALL:
        chosen = [known for known in in_usual_order() if known.name in arguments.only]
    else:
        chosen = [STEPS[arguments.step]]
    if arguments.step == RUN_ALL and arguments.dry_run:
        print("\n".join(known.name for known in chosen))
        return 0
    for known in chosen:
        print("\n".join(known.work(store)))
    save(store, arguments.store)
    return 0


def _step_names(text: str) -> set[str]:
    names = set(text.split(","))
    if unknown := names - STEPS.keys():
        raise argparse.ArgumentTypeError(f"unknown step: {', '.join(sorted(unknown))}")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="coldroom", description="Look after the cold store.")
    parser.add_argument("--store", type=Path, default=Path("store.json"), help="the store's file (default: %(default)s)")
    commands = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    for known in sorted(STEPS.values(), key=lambda known: known.name):
        commands.add_parser(known.name, help=known.help)
    run_all = commands.add_parser(RUN_ALL, help="run every step, or some, in the usual order")
    run_all.add_argument("--only", type=_step_names, default=set(STEPS), metavar="NAME[,NAME...]", help="run only these steps")
    run_all.add_argument("--dry-run", action="store_true", help="print the names of the steps, run none")
    return parser
