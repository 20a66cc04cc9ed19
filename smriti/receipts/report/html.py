"""Write a page as HTML that needs nothing beside it: no script, no font, no address of anybody else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from smriti.receipts.report.plots import svg
from smriti.receipts.report.view import Page
from smriti.receipts.report.words import visible

MARK = "<!-- smriti report/1 -->"
"""The first line of every file of a report: what has it may be replaced by another report."""

_TEMPLATES = Path(__file__).parent / "templates"


def writer() -> Callable[[Page], str]:
    """Make what writes pages. All text is escaped, and what cannot be seen is written out."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    def shown(found: Any) -> Any:
        return visible(found) if isinstance(found, str) and not isinstance(found, Markup) else found

    def plot(chart: Any, loud: str) -> Any:
        wide, narrow = svg(chart, loud)
        return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')  # noqa: S704  # drawn and escaped there

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["plot"] = plot
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["diff_line"] = _diff_line
    template = environment.get_template("page.html")
    style = Markup((_TEMPLATES / "style.css").read_text("utf-8"))  # noqa: S704  # a file of this package
    return lambda page: template.render(page=page, style=style, mark=Markup(MARK))  # noqa: S704  # a constant


def _diff_line(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "file"
    return {"+": "added", "-": "removed", "@": "place"}.get(line[:1], "")
