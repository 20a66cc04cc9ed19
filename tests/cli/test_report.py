"""`smriti report`: pages from receipts that verify, and where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benches import fact, run_bench, tiny_task
from tests.cli.command_line import Smriti
from tests.receipts import build

pytestmark = pytest.mark.usefixtures("all_known")


@pytest.fixture(autouse=True)
def _drawing(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let matplotlib keep what it keeps in no user's home."""
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.getbasetemp() / "matplotlib"))


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    return build.write(tmp_path / "receipts" / "run")


def test_the_path_of_the_page_is_the_last_line(smriti: Smriti, receipt: Path) -> None:
    ended = smriti("report", receipt)
    assert (ended.status, ended.err) == (0, "")
    page = receipt.parent / "run.report" / "index.html"
    assert ended.out.splitlines()[-1] == str(page)
    assert page.exists()
    assert "class rehearsal" in ended.out


def test_out_names_another_place(smriti: Smriti, receipt: Path) -> None:
    ended = smriti("report", receipt, "--out", "mine")
    assert ended.out.splitlines()[-1] == "mine/index.html"
    assert (Path("mine") / "report.md").exists()
    assert not (receipt.parent / "run.report").exists()


def test_json_is_one_object_that_names_both_files(smriti: Smriti, receipt: Path) -> None:
    ended = smriti("report", receipt, "--json")
    folder = receipt.parent / "run.report"
    assert ended.json == {"report": str(folder / "index.html"), "markdown": str(folder / "report.md")}


def test_open_shows_the_page_in_a_browser_and_without_it_none_is_started(
    smriti: Smriti, receipt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    smriti("report", receipt)
    assert opened == []
    smriti("report", receipt, "--open")
    assert opened == [(receipt.parent / "run.report" / "index.html").resolve().as_uri()]


def test_several_receipts_are_laid_side_by_side(smriti: Smriti, receipt: Path, tmp_path: Path) -> None:
    other = build.write(tmp_path / "receipts" / "other", build.a_manifest(run_id="20250102t000000-def456"))
    ended = smriti("report", receipt, other)
    assert ended.status == 0
    page = receipt.parent / "run+other.report" / "index.html"
    assert ended.out.splitlines()[-1] == str(page)
    assert "2 receipts side by side" in page.read_text()


def test_an_interrupted_receipt_is_refused_and_nothing_is_written(smriti: Smriti, tmp_path: Path) -> None:
    cut = build.write(tmp_path / "cut", rows=3)
    smriti("report", cut).assert_refused("was interrupted", "Resume it first")
    assert not (tmp_path / "cut.report").exists()


def test_a_changed_receipt_is_refused_with_what_failed(smriti: Smriti, receipt: Path) -> None:
    scores = receipt / "scores.ndjson"
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false', 1))
    smriti("report", receipt).assert_refused("does not verify", "does not follow from the evidence")
    assert not (receipt.parent / "run.report").exists()


def test_what_is_not_there_is_refused(smriti: Smriti) -> None:
    smriti("report", "nowhere").assert_refused("nowhere is not there", "no report was written")


def test_a_receipt_that_is_named_twice_is_refused(smriti: Smriti, receipt: Path) -> None:
    smriti("report", receipt, receipt / ".." / "run").assert_refused("named twice")


def test_what_is_no_report_is_refused_before_anything_is_read(smriti: Smriti) -> None:
    Path("mine").mkdir()
    (Path("mine") / "notes.txt").write_text("mine")
    Path("empty").mkdir()
    smriti("report", "empty", "--out", "mine").assert_refused("is no part of a report")


def test_the_texts_of_memories_are_those_of_the_installed_task_of_the_same_digest(
    smriti: Smriti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = run_bench(tmp_path, [tiny_task()]).directory
    for installed, seen in ((tiny_task(), True), (tiny_task(fixture={"README.md": "another"}), False)):
        monkeypatch.setattr("smriti.cli.report.load_corpus", lambda found=installed: [found])
        assert smriti("report", receipt).status == 0
        (page,) = (receipt.parent / "receipt.report").glob("trials/*-alpha-on-t1.html")
        planted = page.read_text().partition('id="memories"')[2].partition("</section>")[0]
        assert (fact("alpha") in planted) == seen
