"""The Markdown says what the HTML says, and nothing from a run is markup in it."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from smriti.receipts.report import gather
from smriti.receipts.report.html import MARK, writer
from smriti.receipts.report.markdown import markdown, plain
from smriti.receipts.report.view import Entry, Listing, Page, Prose, Section, Table
from smriti.receipts.report.words import left, visible
from smriti.receipts.sealed import SealedReceipt
from tests.receipts.report import walk

READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")

HOSTILE = [
    "a | b",
    "one\ntwo",
    "`code` ``more``",
    "</td><script>alert(1)</script>",
    "[link](https://example.org)",
    "![image](https://example.org/x.png)",
    "<https://example.org>",
    "**bold** _it_ ~~gone~~",
    "\\| \\` \\\\",
    "# heading",
    "- item",
    "&lt;b&gt; &amp;",
    "[x]: https://example.org",
    "$math$",
    "| --- |",
]


def _page(*blocks: Any) -> Page:
    return Page("index.html", "t", "s", (), (Section("a", "A", tuple(blocks)),))


def _cells(text: str) -> list[str]:
    """The text of every cell, as a Markdown reader shows it; it must be text and line breaks alone."""
    tokens = READER.parse(text)
    found = []
    for at, token in enumerate(tokens):
        if token.type == "inline" and tokens[at - 1].type in {"td_open", "th_open"}:
            parts = []
            for child in token.children or []:
                assert child.type in {"text", "html_inline", "text_special"}, child
                assert child.type != "html_inline" or child.content == "<br>", child
                parts.append("\n" if child.type == "html_inline" else child.content)
            found.append("".join(parts))
    return found


def _read(text: str) -> str:
    # The cell's own blanks at its ends are the table's.
    return "\n".join(visible(text).replace("\t", " ").split("\n")).strip(" \t")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_cell_is_text_whatever_a_run_wrote(text: str) -> None:
    table = Table("c", ("name", "text"), ((left("row"), left(text)),))
    assert _cells(markdown(_page(table))) == ["name", "text", "row", _read(text)]


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_reads_in_a_cell_as_it_stands(text: str) -> None:
    table = Table("c", ("name", "text"), ((left("row"), left(text)),))
    found = _cells(markdown(_page(table)))
    assert len(found) == 4
    # Blanks beside a line break show as nothing, there as here.
    assert [line.strip() for line in found[3].split("\n")] == [line.strip() for line in _read(text).split("\n")]


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_paragraph_is_one_paragraph_without_links_or_markup(text: str) -> None:
    rendered = READER.render(markdown(_page(Prose("It says: " + text))))
    body = rendered.partition("</h2>")[2].strip()
    assert body.startswith("<p>")
    assert body.count("<p>") == 1
    assert unescape(body).replace("<br>", "\n").count("<") == visible(text).count("<") + 2


def test_addresses_names_and_numbers_do_not_become_links_where_markdown_is_read_with_more() -> None:
    found = plain("see https://example.org, www.example.org, @someone and #12")
    for sign in ("://", "www.", "@", "#1"):
        assert sign not in found


def test_a_listing_cannot_end_its_own_fence() -> None:
    text = "```\n`````\n</pre>"
    page = _page(Listing("T", (Entry("", text),)))
    (fence,) = [token for token in READER.parse(markdown(page)) if token.type == "fence"]
    assert fence.content == text + "\n"


def test_names_and_intervals_stay_readable_in_the_source() -> None:
    assert plain("ablate_all_gap") == "ablate_all_gap"
    assert plain("[-0.100, 0.300]") == "[-0.100, 0.300]"
    assert plain("-3857") == "-3857"


@pytest.mark.parametrize("which", ["bench", "asked"])
def test_markdown_and_html_hold_the_same_cells(which: str, request: pytest.FixtureRequest) -> None:
    sealed: SealedReceipt = request.getfixturevalue(which)
    page = gather([sealed])
    html = walk.Parsed(writer()(page))
    in_html = [" ".join(cell.split()) for cell in html.cells]
    in_markdown = [" ".join(_shown(cell).split()) for table in walk.tables(page) for row in table.rows for cell in row]
    columns = [column for table in walk.tables(page) for column in table.columns]
    assert sorted(in_html) == sorted(in_markdown + [" ".join(column.split()) for column in columns])
    written = markdown(page)
    tokens = READER.parse(written)
    read = [
        "".join(child.content for child in token.children or [] if child.type in {"text", "text_special"})
        for at, token in enumerate(tokens)
        if token.type == "inline" and tokens[at - 1].type in {"td_open", "th_open"}
    ]
    for cell in in_markdown:
        assert "".join(cell.split()) in {"".join(found.split()) for found in read}, cell


def _shown(cell: Any) -> str:
    return " ".join(span.text for span in cell.spans)


def test_it_begins_with_its_mark_and_the_class_in_capitals(bench: SealedReceipt) -> None:
    first, second, *_ = markdown(gather([bench])).splitlines()
    assert first == MARK
    assert second.startswith("# REHEARSAL: ")


def test_a_run_that_does_not_stand_says_so_in_capitals(bench: SealedReceipt) -> None:
    assert "**IT DOES NOT STAND**" in markdown(gather([bench]))


def test_links_lead_to_pages_of_the_report_alone(bench: SealedReceipt, links: dict[str, str]) -> None:
    written = markdown(gather([bench]))
    for href in links.values():
        assert f"]({href})" in written
    assert written.count("](") >= len(links)
