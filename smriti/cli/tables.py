"""How summaries look: what must be known first, tables of figures that are never cut, and where the receipt is."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from smriti.types import Score, Summary

_UNBOUNDED = 100_000
"""Columns: more than any table needs."""


def summary_console() -> Console:
    """Make the console of a summary: stdout, of 110 columns where that is no terminal."""
    console = Console(highlight=False, markup=False)  # `ablation_delta_sr[kw]` is a name, not markup
    if not console.is_terminal:
        console.width = 110
    return console


def print_flags(console: Console, summary: Summary) -> None:
    """Print what must be known before any figure is read."""
    for flag in summary.flags:
        name, _, sentence = flag.partition(": ")
        console.print(Text.assemble((name.upper(), "bold"), ": ", sentence), soft_wrap=True)


def print_closing(console: Console, summary: Summary, directory: Path, more: str = "") -> None:
    """Print how much of the plan is covered, and where the receipt is."""
    cover = summary.coverage
    console.print(
        f"\n{cover.planned} planned = {cover.completed} completed + {cover.failed} failed + {cover.skipped} skipped; "
        f"class {summary.evidence_class}{more}",
    )
    verify = f"smriti verify {shlex.quote(str(directory))}"
    console.print(f"receipt {directory}\ncheck it with: {verify}", soft_wrap=True)


def new_table(first: str, *figures: str) -> Table:
    """Make a table of a name and figures, as narrow as they allow."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(console: Console, title: str, table: Table) -> None:
    """Print a title and the whole table, also on a terminal that is narrower than it."""
    console.print(f"\n{title}", soft_wrap=True)
    table.width = natural_width(console, table)
    console.print(table, crop=False)


def natural_width(console: Console, table: Table) -> int:
    """Return the columns that the table takes when nothing in it is cut or wrapped."""
    return console.measure(table, options=console.options.update(width=_UNBOUNDED)).maximum


def number(score: Score, style: str = ".3f") -> str:
    """Write the value of a figure; a dash where nothing can be said."""
    return "–" if score.value is None else format(score.value, style)


def interval(score: Score, style: str = ".3f") -> str:
    """Write the interval of a figure; a dash where it has none."""
    if score.interval is None:
        return "–"
    return f"[{format(score.interval.low, style)}, {format(score.interval.high, style)}]"
