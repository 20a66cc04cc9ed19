"""Making text of parts."""

from __future__ import annotations

from collections.abc import Sequence

from partbook.catalogue import Part


def table(parts: Sequence[Part]) -> list[str]:
    """Give the lines of a listing: a heading, then a line for each part."""
    rows = [("number", "bin", "stock", "name")]
    rows += [(part.number, part.bin, str(part.stock), part.name) for part in parts]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return [
        f"{number:<{widths[0]}}  {place:<{widths[1]}}  {stock:>{widths[2]}}  {name}" for number, place, stock, name in rows
    ]


def card(part: Part) -> list[str]:
    """Give the lines that tell all about one part."""
    lines = [f"{part.number}: {part.name}", f"bin {part.bin}, {part.stock} in stock (minimum {part.minimum}, packs of {part.pack})"]
    if part.short:
        lines.append(f"order {part.packs_to_order} packs")
    return lines


def order_list(parts: Sequence[Part]) -> list[str]:
    """Give the lines of an order: packs and part number, tab-separated as the supplier's form wants it."""
    return [f"{part.packs_to_order}\t{part.number}" for part in parts]
