"""The clerk's commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from parcelhub import fees, storage
from parcelhub.parcel import SIZES, ParcelError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    arguments = _parser().parse_args(argv)
    shop = storage.load(arguments.shop)
    try:
        if arguments.command == "put":
            shop.take_in(arguments.code, arguments.phone, arguments.size, arguments.day)
        elif arguments.command == "hand":
            print(f"{shop.hand_over(arguments.code, arguments.day) / 100:.2f} to pay")
        elif arguments.command == "back":
            shop.send_back(arguments.code, arguments.day, arguments.reason)
        else:
            for parcel in shop.waiting():
                owed = fees.owed(parcel, arguments.day)
                print(f"{parcel.code:<10} {parcel.size} since {parcel.since} {owed / 100:>6.2f} {parcel.phone}")
    except ParcelError as error:
        print(f"parcelhub: {error}", file=sys.stderr)
        return 1
    storage.save(shop, arguments.shop)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="parcelhub", description="The parcel shelf of a corner shop.")
    parser.add_argument("--shop", type=Path, required=True, metavar="FILE")
    commands = parser.add_subparsers(dest="command", required=True)
    put = commands.add_parser("put", help="put a parcel on the shelf")
    put.add_argument("code")
    put.add_argument("--phone", required=True)
    put.add_argument("--size", choices=SIZES, default="M")
    hand = commands.add_parser("hand", help="hand a parcel over to its customer")
    hand.add_argument("code")
    back = commands.add_parser("back", help="give a parcel back to the carrier")
    back.add_argument("code")
    back.add_argument("--reason", required=True)
    for command in (put, hand, back, commands.add_parser("list", help="show what lies on the shelf")):
        command.add_argument("--day", type=date.fromisoformat, default=date.today(), help="(default: today)")
    return parser
