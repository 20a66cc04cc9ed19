"""The `partbook` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from partbook import query, render
from partbook.catalogue import load
from partbook.errors import PartbookError


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partbook", description="Spare parts catalogue of the workshop.")
    parser.add_argument("--catalogue", required=True, metavar="FILE", help="CSV file with the parts")
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser("list", help="list parts in the order of the shelves")
    listing.add_argument("--bin", default="", metavar="PREFIX", help="only bins that start with PREFIX")
    listing.add_argument("--match", default="", metavar="TEXT", help="only parts with TEXT in name or number")

    commands.add_parser("show", help="tell all about one part").add_argument("number")
    commands.add_parser("reorder", help="print what has to be ordered")
    return parser


def answer(args: argparse.Namespace) -> list[str]:
    """Give the lines that answer a request."""
    parts = load(args.catalogue)
    if args.command == "show":
        return render.card(query.by_number(parts, args.number))
    if args.command == "reorder":
        return render.order_list(query.short(parts))
    return render.table(query.matching(query.in_bin(parts, args.bin), args.match))


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        lines = answer(args)
    except PartbookError as error:
        print(f"partbook: {error}", file=sys.stderr)
        return 2
    for line in lines:
        print(line)
    return 0


def run() -> None:
    raise SystemExit(main())
