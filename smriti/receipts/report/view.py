"""What a report says, before it is HTML or Markdown: pages of sections of blocks. Both are made from this alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from smriti.types import Score

Tone = Literal["", "good", "bad", "muted"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text; nothing in it is markup, wherever it came from."""

    text: str
    href: str | None = None
    """A page of the same report, relative to its folder."""
    tone: Tone = ""
    score: Score | None = None
    """The sealed figure whose value or interval `text` is."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    spans: tuple[Span, ...]
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose first column names its rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    folded: bool = False
    """Long, and beside a plot that says the same: shown when asked for, and in print."""


@dataclass(frozen=True, slots=True)
class Point:
    """A value of one series, with its interval and the most that a perfect system would reach, where there are such."""

    series: int
    value: float | None
    low: float | None = None
    high: float | None = None
    ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class Dots:
    """A row of points for each label."""

    axis: str
    series: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Point, ...]], ...]
    connected: bool = False
    """Draw the way from the first point of a row to its second."""
    reference: float | None = None
    unit: bool = False
    """The axis goes from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars for each label: what is negative goes to the left."""

    axis: str
    series: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """A curve of points for each series, over whole numbers; `points` has a row for each of `at`."""

    axis: str
    across: str
    series: tuple[str, ...]
    at: tuple[int, ...]
    points: tuple[tuple[Point, ...], ...]


Plot = Dots | Bars | Curves


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot, its text alternative, and its figures as a table."""

    name: str
    """Unique on its page."""
    title: str
    description: str
    plot: Plot
    table: Table


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names, and what each is."""

    facts: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One headline figure."""

    label: str
    value: Span
    interval: Span
    stands_on: str


@dataclass(frozen=True, slots=True)
class Cards:
    """The headline figures."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A passage of a listing: what it is, and its text as it stands."""

    head: str
    body: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Text of a run, shown as it is."""

    title: str
    entries: tuple[Entry, ...]
    left_out: str = ""
    """How much is not shown; empty where all is."""
    diff: bool = False


Block = Table | Chart | Prose | Facts | Cards | Listing


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Banner:
    """What must be known before any figure is read."""

    receipt: str
    evidence_class: str
    meaning: str
    stands: bool
    standing: str
    flags: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    path: str
    """In the folder of the report."""
    title: str
    subtitle: str
    banners: tuple[Banner, ...]
    sections: tuple[Section, ...]
    links: tuple[Span, ...] = field(default=())

    @property
    def loud(self) -> str:
        """Name the classes that no figure of this page may be read without: it stands on top, in print too."""
        classes = dict.fromkeys(banner.evidence_class for banner in self.banners)
        return " + ".join(name for name in ("rehearsal", "development") if name in classes)
