"""The commands."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from quillbill.layout import printed
from quillbill.money import format_amount
from quillbill.parse import BadInvoice, read_invoice


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    status = 0
    for path in arguments.files:
        try:
            invoice = read_invoice(path)
        except BadInvoice as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 1
            continue
        if arguments.command == "print":
            print("\n".join(printed(invoice)))
        else:
            print(f"{invoice.number}  {format_amount(invoice.total)}")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="quillbill", description="Invoices and credit notes in plain text.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("print", help="print an invoice").add_argument("files", nargs=1, type=Path, metavar="FILE")
    commands.add_parser("total", help="print numbers and totals").add_argument("files", nargs="+", type=Path, metavar="FILE")
    return parser
