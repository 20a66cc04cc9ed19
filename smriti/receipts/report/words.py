"""How figures, and what a run left behind, become spans and cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from smriti.receipts.report.view import Cell, Point, Span, Tone
from smriti.types import Score

DASH = "–"

Figures = Mapping[tuple[str, str, str | None, str], Score]
"""Metric, system, condition and group → figure."""

# Controls, directions, joiners that show nothing, surrogates and tags: what would change how other text is read.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Write out what cannot be seen, as ⟨U+202E⟩; newlines and tabs stay."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def by_name(scores: Iterable[Score]) -> Figures:
    """Index figures by what they are of."""
    return {(score.metric, score.system, score.condition, score.group): score for score in scores}


def value(score: Score | None, style: str = ".3f") -> Span:
    """Write the value of a figure; a dash where nothing can be said."""
    if score is None or score.value is None:
        return Span(DASH, tone="muted", score=score)
    return Span(format(score.value, style), score=score)


def interval(score: Score | None, style: str = ".3f") -> Span:
    """Write the interval of a figure; a dash where it has none."""
    if score is None or score.interval is None:
        return Span(DASH, tone="muted", score=score)
    low, high = (format(end, style) for end in (score.interval.low, score.interval.high))
    return Span(f"[{low}, {high}]", score=score)


def figure(score: Score | None, style: str = ".3f") -> tuple[Cell, Cell]:
    """Write value and interval, a cell each."""
    return right(value(score, style)), right(interval(score, style))


def both(score: Score | None, style: str = ".3f") -> Cell:
    """Write value and interval into one cell."""
    if score is None or score.interval is None:
        return right(value(score, style))
    return right(value(score, style), interval(score, style))


def count(number: int | None) -> Cell:
    """Write a count."""
    return right(Span(DASH, tone="muted") if number is None else Span(str(number)))


def left(*spans: Span | str) -> Cell:
    """Make a cell of text."""
    return Cell(tuple(Span(span) if isinstance(span, str) else span for span in spans))


def right(*spans: Span | str) -> Cell:
    """Make a cell of figures."""
    return Cell(tuple(Span(span) if isinstance(span, str) else span for span in spans), numeric=True)


def point(series: int, score: Score | None, ceiling: Score | None = None) -> Point:
    """Place a figure in a plot."""
    found = None if score is None else score.interval
    return Point(
        series,
        None if score is None else score.value,
        None if found is None else found.low,
        None if found is None else found.high,
        None if ceiling is None else ceiling.value,
    )


def told(score: Score | None, style: str = ".3f") -> str:
    """Say a figure in running text: value, and interval where there is one."""
    ends = "" if score is None or score.interval is None else f" {interval(score, style).text}"
    return f"{value(score, style).text}{ends}"


def verdict(status: str) -> tuple[str, Tone]:
    """Say in a word how a trial ended."""
    match status:
        case "passed":
            return "pass", "good"
        case "failed":
            return "fail", "bad"
        case "skipped":
            return "skipped", "muted"
    return status.replace("_", " "), "bad"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Name things one by one, and say how many are not named."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def described(found: object) -> str:
    """Write a setting of the manifest."""
    match found:
        case None:
            return DASH
        case bool():
            return "yes" if found else "no"
        case Mapping():
            return ", ".join(f"{name} {described(each)}" for name, each in found.items()) or DASH
        case list() | tuple():
            return ", ".join(described(each) for each in found) or DASH
    return str(found)
