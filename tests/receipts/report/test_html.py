"""The HTML needs nothing beside it, runs nothing, and shows what a run wrote as text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti.receipts.report import gather, write_report
from smriti.receipts.report.html import MARK, writer
from smriti.receipts.report.plots import svg
from smriti.receipts.report.trials import trial_pages
from smriti.receipts.report.view import Bars, Chart, Dots, Entry, Listing, Page, Point, Section, Table
from smriti.receipts.report.words import left, visible
from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.receipts.writer import ReceiptWriter
from smriti.score.bench import planned_cases
from tests.receipts import build
from tests.receipts.report import walk

HOSTILE = (
    "</pre></script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
    "<style>body{display:none}</style>\x1b[2J\u202egnp.exe {{ 7 * 7 }} &lt;b&gt; \" ' `"
)


def _page(*blocks: Any) -> Page:
    return Page("index.html", "t", "s", (), (Section("a", "A", tuple(blocks)),))


@pytest.fixture(params=["bench", "asked"])
def written(request: pytest.FixtureRequest) -> str:
    sealed: SealedReceipt = request.getfixturevalue(request.param)
    return writer()(gather([sealed]))


def test_nothing_is_fetched_and_nothing_is_run(written: str) -> None:
    parsed = walk.Parsed(written)
    names = {name for name, _ in parsed.elements}
    assert not names & {"script", "iframe", "object", "embed", "form", "base", "img", "audio", "video", "source"}
    for name, attributes in parsed.elements:
        assert not [key for key in attributes if key.startswith("on")]
        for key in ("href", "src", "srcset", "xlink:href", "data", "action", "poster"):
            target = attributes.get(key)
            if target is not None and (name, target) != ("link", "data:,"):
                assert re.fullmatch(r"#[\w-]+|(\.\./)?(trials/)?[\w.-]+\.html", target), (name, target)
    # Names of the drawing's vocabularies are names; nothing is fetched by them.
    assert set(re.findall(r"https?://[^\"'\s<]+", written)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in written
    assert not re.search(r"url\((?!#)", written)


def test_a_policy_of_the_page_forbids_scripts_and_requests(written: str) -> None:
    (policy,) = [
        a["content"] for n, a in walk.Parsed(written).elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy


def test_ids_are_unique_and_every_reference_within_the_page_leads_somewhere(written: str) -> None:
    parsed = walk.Parsed(written)
    assert [name for name, times in Counter(parsed.ids).items() if times > 1] == []
    known = set(parsed.ids)
    for _, attributes in parsed.elements:
        target = attributes.get("href") or ""
        assert not target.startswith("#") or target[1:] in known
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in known
    for name in re.findall(r"url\(#([^)]+)\)", written):
        assert name in known


def test_every_element_is_closed(written: str) -> None:
    assert walk.Parsed(written).unclosed == []


def test_each_plot_has_a_name_a_description_and_its_figures_in_a_table(written: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", written, re.DOTALL)
    assert len(drawings) >= 4
    for drawing in drawings:
        root = ET.fromstring(drawing)
        assert root.get("role") == "img"
        title, described = root[0], root[1]
        assert [title.tag.rpartition("}")[2], described.tag.rpartition("}")[2]] == ["title", "desc"]
        assert title.text
        assert described.text
        assert root.get("aria-labelledby") == f"{title.get('id')} {described.get('id')}"
    for figure in written.split("</figure>")[1:]:
        assert "<table" in figure.partition("<figure")[0]


def test_every_colour_of_a_plot_is_the_pages(written: str) -> None:
    for drawing in re.findall(r"<svg.*?</svg>", written, re.DOTALL):
        assert not re.search(r"#[0-9a-fA-F]{6}\b|#[0-9a-fA-F]{3}\b|rgb\(", drawing)
        assert "var(--" in drawing
        assert "DejaVu" not in drawing


def test_the_class_is_in_the_title_on_top_of_the_page_and_in_each_plot(bench: SealedReceipt) -> None:
    written = writer()(gather([bench]))
    assert "<title>REHEARSAL: " in written
    assert '<p class="loud"><strong>REHEARSAL</strong>' in written
    for drawing in re.findall(r"<svg.*?</svg>", written, re.DOTALL):
        assert ">REHEARSAL<" in drawing


def test_the_pages_of_a_rehearsals_trials_are_as_loud(bench: SealedReceipt) -> None:
    write = writer()
    for page in trial_pages(bench, {}):
        assert '<p class="loud"><strong>REHEARSAL</strong>' in write(page)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SealedReceipt:
    """A receipt whose agent, check and memory system wrote markup wherever they could."""
    keep = ReceiptWriter.keep
    monkeypatch.setattr(
        ReceiptWriter, "keep", lambda self, kind, _content: keep(self, kind, f"+{HOSTILE} {kind}\n".encode())
    )
    receipt = ReceiptWriter.create(tmp_path / "hostile", build.a_manifest())
    for case in planned_cases(receipt.manifest):
        made = build.evidence_of(receipt, case)
        more: dict[str, Any] = {"left_out": (HOSTILE,)}
        if made.injected_ids is not None:
            more["injected_ids"] = (*made.injected_ids, HOSTILE)
        if made.fault:
            more["fault"] = made.fault.model_copy(update={"message": HOSTILE})
        receipt.append([made.model_copy(update=more)])
    receipt.seal()
    receipt.close()
    return read_sealed(tmp_path / "hostile")


def test_what_a_run_wrote_is_shown_and_not_executed(hostile: SealedReceipt, place: Path) -> None:
    report = write_report([hostile], place, {})
    seen = visible(HOSTILE)
    for path in sorted(place.rglob("*.html")):
        parsed = walk.Parsed(path.read_text())
        names = {name for name, _ in parsed.elements}
        assert not names & {"script", "img"}
        assert [name for name, _ in parsed.elements].count("style") == 1
        assert not [key for _, attributes in parsed.elements for key in attributes if key.startswith("on")]
        assert parsed.unclosed == []
        if path != report.html:
            assert seen in parsed.text
            assert "\x1b" not in parsed.text
            assert "\u202e" not in parsed.text
    (page,) = [path for path in place.glob("trials/*") if "alpha-off-t1" in path.name]
    parsed = walk.Parsed(page.read_text())
    # Transcript, diff, check output, and what grading left out; the ids stand there too where a ledger has them.
    assert parsed.text.count("document.title='owned'") >= 4


@settings(max_examples=40)
@given(st.text(st.characters(codec="utf-8"), max_size=80))
def test_any_text_reads_as_it_stands(text: str) -> None:
    table = Table("c", ("name",), ((left(text),),))
    written = writer()(_page(table, Listing("L", (Entry(text, text),))))
    parsed = walk.Parsed(written)
    assert parsed.unclosed == []
    assert parsed.cells[-1] == visible(text)


@pytest.mark.parametrize("name", ["$x$ & <b>", HOSTILE, "a" * 500, "", "日本語", "\ud83d"])
def test_a_plot_takes_any_name_as_text(name: str) -> None:
    plot = Dots(name, (name,), ((name, (Point(0, 0.5, 0.1, 0.9, 1.0),)),), unit=True)
    for drawing in svg(Chart("any", name, name, plot, Table("c", (), ())), "rehearsal"):
        root = ET.fromstring(drawing)
        assert not [element for element in root.iter() if element.tag.endswith(("}script", "}b", "}image"))]
        assert root[0].text in {visible(name), None}
        if len(visible(name)) < 20 and name:
            assert visible(name) in [element.text for element in root.iter() if element.tag.endswith("}text")]


def test_a_plot_of_nothing_known_is_drawn_empty() -> None:
    for plot in (
        Dots("axis", (), (("row", (Point(0, None),)),), reference=0.0),
        Dots("axis", ("off", "on"), (), connected=True),
        Bars("axis", ("a", "b", "c", "d"), (("row", (None, None, None, None)),)),
    ):
        for drawing in svg(Chart("none", "t", "d", plot, Table("c", (), ())), ""):
            ET.fromstring(drawing)


def test_no_two_of_many_series_look_the_same() -> None:
    plot = Dots("axis", tuple(f"s{n}" for n in range(14)), (("row", tuple(Point(n, n / 14) for n in range(14))),))
    wide, _ = svg(Chart("many", "t", "d", plot, Table("c", (), ())), "")
    shapes = {found[0]: found[1] for found in re.findall(r'<path id="([\w-]+)" d="([^"]+)"', wide)}
    marks = [
        (shapes.get(ref), style)
        for style, ref in re.findall(r'style="([^"]*var\(--s\d\)[^"]*)" href="#([\w-]+)"', wide)
    ]
    # Once in the legend, and once in the plot in another size.
    assert len(marks) == 28
    assert len(set(marks)) == 28


def test_the_page_begins_with_its_mark(written: str) -> None:
    assert written.startswith(f"{MARK}\n<!doctype html>\n")
