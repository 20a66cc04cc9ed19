"""Write a page as Markdown: the same text and figures, a table for each plot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smriti.receipts.report.html import MARK
from smriti.receipts.report.view import Banner, Block, Cards, Cell, Chart, Facts, Listing, Page, Prose, Span, Table
from smriti.receipts.report.words import visible

_FIGURE = re.compile(r"\[[+-]?[\d.]+(?:e[+-]?\d+)?, [+-]?[\d.]+(?:e[+-]?\d+)?\]|[+-]?[\d.]+")
# An underscore within a word, as most names have one, marks nothing.
_SIGNS = re.compile(
    r"(?i)[&\\`*\[\]<>|~$@]|(?<![a-z0-9])_|_(?![a-z0-9])|:(?=//)|(?<=\bwww)\.|#(?=\d)|^[#+=-](?=\s|[#+=-])"
)
_ENTITIES = {sign: f"&#{ord(sign)};" for sign in "@|:.#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown(page: Page) -> str:
    """Write the page, what must be known first at its top."""
    return "\n".join(_lines(page)) + "\n"


def plain(text: str) -> str:
    """Escape text, so that it reads in Markdown as it stands: no markup, no link, no line of its own."""
    if _FIGURE.fullmatch(text):
        return text
    text = visible(text).replace("\t", " ")
    return _SIGNS.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), text).replace("\n", "<br>")


def _lines(page: Page) -> Iterator[str]:
    yield MARK
    loud = f"{page.loud.upper()}: " if page.loud else ""
    yield f"# {loud}{plain(page.title)}"
    yield ""
    yield plain(page.subtitle)
    for banner in page.banners:
        yield from _banner(banner)
    for section in page.sections:
        yield from ("", f"## {plain(section.title)}")
        for block in section.blocks:
            yield ""
            yield from _block(block)


def _banner(banner: Banner) -> Iterator[str]:
    yield ""
    yield f"> **{plain(banner.evidence_class.upper())}** {plain(banner.meaning)}"
    yield ">"
    standing = "It stands" if banner.stands else "IT DOES NOT STAND"
    yield f"> **{standing}**: {plain(banner.standing)}. Run {plain(banner.receipt)}."
    for name, sentence in banner.flags:
        yield ">"
        yield f"> **{plain(name.upper())}** {plain(sentence)}"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Prose():
            yield plain(block.text)
        case Cards():
            yield from _rows(
                ("figure", "value", "interval", ""),
                [
                    (plain(card.label), _span(card.value), _span(card.interval), plain(card.stands_on))
                    for card in block.cards
                ],
                numeric=(False, True, True, False),
            )
        case Facts():
            yield from (f"- {plain(name)}: {_cell(cell)}" for name, cell in block.facts)
        case Chart():
            yield f"**{plain(block.title)}.** {plain(block.description)}"
            yield ""
            yield from _table(block.table)
        case Table():
            yield from _table(block)
        case Listing():
            yield from _listing(block)


def _table(table: Table) -> Iterator[str]:
    yield f"*{plain(table.caption)}*"
    yield ""
    first = table.rows[0] if table.rows else ()
    numeric = tuple(cell.numeric for cell in first) or (False,) * len(table.columns)
    yield from _rows(tuple(map(plain, table.columns)), [tuple(map(_cell, row)) for row in table.rows], numeric=numeric)


def _rows(columns: tuple[str, ...], rows: list[tuple[str, ...]], *, numeric: tuple[bool, ...]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join('--:' if right else '---' for right in numeric)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _listing(listing: Listing) -> Iterator[str]:
    """Fence text by more backticks than it has anywhere."""
    if listing.left_out:
        yield from (plain(listing.left_out), "")
    text = "\n".join(f"{entry.head}\n{entry.body}" if entry.head else entry.body for entry in listing.entries)
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    yield from (f"{fence}text", visible(text), fence)


def _cell(cell: Cell) -> str:
    return " ".join(map(_span, cell.spans))


def _span(span: Span) -> str:
    return plain(span.text) if span.href is None else f"[{plain(span.text)}]({span.href})"
