"""From the order desk's JSON to an Invoice."""

import json
from collections.abc import Set
from datetime import date
from pathlib import Path
from typing import Any

from quillbill.invoice import Invoice, Line
from quillbill.money import ZERO, parse_amount

INVOICE_KEYS = frozenset({"number", "date", "customer", "lines"})
LINE_KEYS = frozenset({"text", "quantity", "unit_price"})


class BadInvoice(Exception):
    """The input is not an invoice; the message says where and why."""


def read_invoice(path: Path) -> Invoice:
    try:
        return parse_invoice(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadInvoice(f"cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise BadInvoice(f"not JSON: {error}") from error


def parse_invoice(source: Any) -> Invoice:
    """Build an invoice from decoded JSON."""
    _check_keys("invoice", source, INVOICE_KEYS, {"shipping"})
    lines = source["lines"]
    if not isinstance(lines, list) or not lines:
        raise BadInvoice("invoice: lines must be a list with at least one line")
    try:
        return Invoice(
            number=_text("number", source["number"]),
            date=date.fromisoformat(_text("date", source["date"])),
            customer=_text("customer", source["customer"]),
            lines=tuple(_parse_line(place, line) for place, line in enumerate(lines, 1)),
            shipping=parse_amount(source["shipping"]) if "shipping" in source else ZERO,
        )
    except ValueError as error:
        raise BadInvoice(f"invoice: {error}") from error


def _parse_line(place: int, source: Any) -> Line:
    where = f"line {place}"
    _check_keys(where, source, LINE_KEYS, set())
    quantity = source["quantity"]
    if not isinstance(quantity, int) or isinstance(quantity, bool) or quantity == 0:
        raise BadInvoice(f"{where}: quantity must be a whole number other than 0, not {quantity!r}")
    try:
        unit_price = parse_amount(source["unit_price"])
        text = _text("text", source["text"])
    except ValueError as error:
        raise BadInvoice(f"{where}: {error}") from error
    if unit_price < 0:
        raise BadInvoice(f"{where}: unit_price must not be negative; a credit note has negative quantities")
    return Line(text, quantity, unit_price)


def _check_keys(where: str, source: Any, needed: Set[str], optional: Set[str]) -> None:
    if not isinstance(source, dict):
        raise BadInvoice(f"{where}: expected an object, found {source!r}")
    if missing := needed - source.keys():
        raise BadInvoice(f"{where}: missing {', '.join(sorted(missing))}")
    if unknown := source.keys() - needed - optional:
        raise BadInvoice(f"{where}: unknown {', '.join(sorted(unknown))}")


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} must be a string that is not empty")
    return value
