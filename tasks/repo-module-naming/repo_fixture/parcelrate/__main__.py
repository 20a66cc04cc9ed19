"""Command line: python3 -m parcelrate."""

import argparse
import sys
from decimal import Decimal, InvalidOperation

from parcelrate import catalogue
from parcelrate.tariff import Refused


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="parcelrate")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("carriers", help="list the carriers")
    quote = commands.add_parser("quote", help="price of one parcel")
    quote.add_argument("carrier")
    quote.add_argument("--kg", type=kilograms, required=True)
    quote.add_argument("--zone", default="A")
    args = parser.parse_args(argv)

    carriers = catalogue.load()
    if args.command == "carriers":
        for carrier in carriers.values():
            print(f"{carrier.key:<12}{carrier.name}")
        return 0
    if args.carrier not in carriers:
        print(f"no carrier {args.carrier!r}; there are {', '.join(carriers)}", file=sys.stderr)
        return 2
    carrier = carriers[args.carrier]
    try:
        print(carrier.tariff.price(args.kg, args.zone.upper()))
    except Refused as refusal:
        print(f"{carrier.name} {refusal}", file=sys.stderr)
        return 1
    return 0


def kilograms(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text!r} is not a weight") from None


if __name__ == "__main__":
    sys.exit(main())
