"""Picking parts out of the catalogue. Every function keeps the order of what it is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from partbook.catalogue import Part
from partbook.errors import NoSuchPage, UnknownPart

PAGE_SIZE = 84
"""Rows on a page of a listing, where nobody asks for another number."""


def by_number(parts: Iterable[Part], number: str) -> Part:
    """Return the part with this number, in whatever case it was typed."""
    for part in parts:
        if part.number.casefold() == number.casefold():
            return part
    raise UnknownPart(f"no part has the number {number}")


def in_bin(parts: Iterable[Part], prefix: str) -> list[Part]:
    """Keep the parts whose bin starts with `prefix`."""
    return [part for part in parts if part.bin.casefold().startswith(prefix.casefold())]


def matching(parts: Iterable[Part], text: str) -> list[Part]:
    """Keep the parts with `text` in their name or number."""
    needle = text.casefold()
    return [part for part in parts if needle in part.name.casefold() or needle in part.number.casefold()]


def short(parts: Iterable[Part]) -> list[Part]:
    """Keep the parts that have to be ordered."""
    return [part for part in parts if part.short]


def page(parts: Sequence[Part], number: int, size: int) -> tuple[Sequence[Part], int]:
    """Return the parts on page `number`, counted from 1, and how many pages there are; no parts make one empty page."""
    pages = max(1, -(-len(parts) // size))
    if not 1 <= number <= pages:
        raise NoSuchPage(f"there is no page {number}: the listing has {pages}")
    start = (number - 1) * size
    return parts[start : start + size], pages
