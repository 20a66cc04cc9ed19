"""Amounts of money: euros as Decimal, with two places."""

import re
from decimal import Decimal

CENT = Decimal("0.01")
ZERO = Decimal("0.00")

_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]{1,2})?")


def parse_amount(text: object) -> Decimal:
    """Read an amount; ValueError on anything but a string of digits with at most two places."""
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise ValueError(f"{text!r} is not an amount such as \"12.50\"")
    return Decimal(text) + ZERO


def format_amount(amount: Decimal) -> str:
    """Print an amount with two places and a comma between thousands."""
    return f"{amount:,.2f}"
