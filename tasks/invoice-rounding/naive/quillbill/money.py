"""Amounts of money: euros as Decimal, with two places."""

import re
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
ZERO = Decimal("0.00")

_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]{1,2})?")
_PERCENT = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse_amount(text: object) -> Decimal:
    """Read an amount; ValueError on anything but a string of digits with at most two places."""
    if not isinstance(text, str) or not _AMOUNT.fullmatch(text):
        raise ValueError(f"{text!r} is not an amount such as \"12.50\"")
    return Decimal(text) + ZERO


def parse_percent(text: object) -> Decimal:
    """Read a percentage from 0 to 100; ValueError on anything else."""
    if not isinstance(text, str) or not _PERCENT.fullmatch(text) or Decimal(text) > 100:
        raise ValueError(f"{text!r} is not a percentage from \"0\" to \"100\"")
    return Decimal(text)


def round_to_cents(amount: Decimal) -> Decimal:
    """Round to two places; half a cent goes away from zero."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def format_amount(amount: Decimal) -> str:
    """Print an amount with two places and a comma between thousands."""
    return f"{amount:,.2f}"
