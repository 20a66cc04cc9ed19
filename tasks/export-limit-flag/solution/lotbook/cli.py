"""The commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from lotbook import ledger, select
from lotbook.errors import LedgerError
from lotbook.formats import FORMATS
from lotbook.lot import PRODUCTS, Lot

EXPORT_LIMIT = 640
"""How many lots `export` writes unless told otherwise."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except LedgerError as error:
        print(f"lotbook: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lotbook", description="The mill's lot ledger.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add = commands.add_parser("add", help="append a lot")
    add.add_argument("ledger", type=Path)
    for name in ("code", "product", "kg", "packed"):
        add.add_argument(f"--{name}", required=True)
    add.set_defaults(run=_add)

    listing = commands.add_parser("list", help="show lots as a table, in the order of the ledger")
    _selection(listing)
    listing.set_defaults(run=_list)

    stats = commands.add_parser("stats", help="add up the weight of each product")
    _selection(stats)
    stats.set_defaults(run=_stats)

    export = commands.add_parser("export", help="write lots for other systems, newest first")
    _selection(export)
    export.add_argument("--format", choices=sorted(FORMATS), default="csv")
    export.add_argument(
        "--limit",
        type=_count,
        default=EXPORT_LIMIT,
        metavar="N",
        help="write at most N lots, 0 for all of them (default: %(default)s)",
    )
    export.set_defaults(run=_export)
    return parser


def _selection(command: argparse.ArgumentParser) -> None:
    command.add_argument("ledger", type=Path)
    command.add_argument("--product", choices=PRODUCTS, help="only lots of this product")
    command.add_argument("--since", type=date.fromisoformat, metavar="DATE", help="only lots packed on DATE or later")


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return count


def _selected(arguments: argparse.Namespace) -> list[Lot]:
    return select.matching(ledger.read(arguments.ledger), arguments.product, arguments.since)


def _add(arguments: argparse.Namespace) -> None:
    names = ("code", "product", "kg", "packed")
    ledger.append(arguments.ledger, Lot.parse({name: getattr(arguments, name) for name in names}))


def _list(arguments: argparse.Namespace) -> None:
    for lot in _selected(arguments):
        print(f"{lot.code:<10} {lot.packed}  {lot.product:<8} {lot.kg:>9.1f} kg")


def _stats(arguments: argparse.Namespace) -> None:
    for product, kg in select.weight_by_product(_selected(arguments)).items():
        print(f"{product:<8} {kg:>11.1f} kg")


def _export(arguments: argparse.Namespace) -> None:
    lots = select.newest_first(_selected(arguments))
    if arguments.limit:
        lots = lots[: arguments.limit]
    FORMATS[arguments.format](lots, sys.stdout)
