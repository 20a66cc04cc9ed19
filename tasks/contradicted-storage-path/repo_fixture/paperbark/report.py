"""The overview for the members' pages."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby

from paperbark.documents import Document


def overview(documents: Iterable[Document]) -> str:
    """Write one HTML page that lists the documents under their years."""
    lines = ["<!doctype html>", '<meta charset="utf-8">', "<title>Archive</title>"]
    by_year = sorted(documents, key=lambda document: (document.year, document.id))
    for year, group in groupby(by_year, key=lambda document: document.year):
        lines += [f"<h2>{year}</h2>", "<ul>"]
        lines += [f"<li>{document.id} {escape(document.title)}</li>" for document in group]
        lines.append("</ul>")
    return "\n".join([*lines, ""])
