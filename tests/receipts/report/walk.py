"""Walk what a page says, and what a written page holds."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from smriti.receipts.report.view import Block, Cards, Cell, Chart, Curves, Dots, Facts, Page, Plot, Point, Span, Table

VOID = {"meta", "link", "br", "img", "hr", "input"}


def blocks(page: Page) -> Iterator[Block]:
    """Every block of every section."""
    for section in page.sections:
        yield from section.blocks


def tables(page: Page) -> Iterator[Table]:
    """Every table, those of plots among them."""
    for block in blocks(page):
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Chart):
            yield block.table


def cells(page: Page) -> Iterator[Cell]:
    """Every cell of every table and list."""
    for table in tables(page):
        for row in table.rows:
            yield from row
    for block in blocks(page):
        if isinstance(block, Facts):
            yield from (cell for _, cell in block.facts)


def spans(page: Page) -> Iterator[Span]:
    """Every span that may show a figure."""
    for cell in cells(page):
        yield from cell.spans
    for block in blocks(page):
        if isinstance(block, Cards):
            for card in block.cards:
                yield from (card.value, card.interval)


def points(plot: Plot) -> Iterator[Point]:
    """Every point of a plot."""
    if isinstance(plot, Dots):
        for _, row in plot.rows:
            yield from row
    elif isinstance(plot, Curves):
        for row in plot.points:
            yield from row


class Parsed(HTMLParser):
    """The elements and the text of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.cells: list[str] = []
        self.unclosed: list[str] = []
        self._cell: list[str] | None = None
        self._skip = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.unclosed.append(tag)
        if tag in {"td", "th"}:
            self._cell = []
        self._skip += tag in {"style", "svg"}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag, f"</{tag}> closes another element"
        if tag in {"td", "th"} and self._cell is not None:
            self.cells.append("".join(self._cell))
            self._cell = None
        self._skip -= tag in {"style", "svg"}

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)
        if not self._skip:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text but that of styles and drawings."""
        return "".join(self.texts)

    @property
    def ids(self) -> list[str]:
        """Every id, in order."""
        return [found for _, attributes in self.elements if (found := attributes.get("id"))]
