"""The commands."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from stallpay.business_days import read_holidays
from stallpay.money import after_commission, euros
from stallpay.orders import BadExport, read_orders
from stallpay.schedule import payouts


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        arguments.command(arguments)
    except (BadExport, OSError) as error:
        print(f"stallpay: {error}", file=sys.stderr)
        return 1
    return 0


def _schedule(arguments: argparse.Namespace) -> None:
    for (day, seller), cents in payouts(read_orders(arguments.orders), read_holidays(arguments.holidays)).items():
        print(f"{day}  {seller:<6} {euros(cents):>12}")


def _balance(arguments: argparse.Namespace) -> None:
    balance: dict[str, int] = defaultdict(int)
    for order in read_orders(arguments.orders):
        balance[order.seller] += after_commission(order.cents)
    for seller, cents in sorted(balance.items()):
        print(f"{seller:<6} {euros(cents):>12}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stallpay", description="Payouts to the market's sellers.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (("schedule", _schedule, "what is paid on which day"), ("balance", _balance, "what each seller gets in all")):
        added = commands.add_parser(name, help=text)
        added.add_argument("orders", type=Path, metavar="ORDERS.csv")
        added.add_argument("--holidays", type=Path, default=Path("data/holidays.txt"), help="the bank's holidays (default: %(default)s)")
        added.set_defaults(command=command)
    return parser
