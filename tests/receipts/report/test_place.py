"""A report is written whole, in the place of nothing but an earlier report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from smriti.errors import ReceiptError, UsageError
from smriti.receipts import report as reports
from smriti.receipts.report import default_place, write_report
from smriti.receipts.report.place import check_place
from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.receipts.verify import verify
from tests.receipts import build


def _held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_bench_report_is_a_page_a_markdown_file_and_a_page_for_each_trial(bench: SealedReceipt, place: Path) -> None:
    written = write_report([bench], place)
    assert (written.html, written.markdown) == (place / "index.html", place / "report.md")
    trials = {str(path.relative_to(place)) for path in place.glob("trials/*")}
    assert {*_held(place)} == {"index.html", "report.md", *trials}
    assert len(trials) == len(bench.records) == written.pages - 1


def test_a_retrieval_report_has_no_pages_of_trials(asked: SealedReceipt, place: Path) -> None:
    write_report([asked], place)
    assert [*_held(place)] == ["index.html", "report.md"]


def test_several_receipts_make_one_page(bench: SealedReceipt, place: Path, tmp_path: Path) -> None:
    other = read_sealed(build.write(tmp_path / "other", build.a_manifest(run_id="20250102t000000-def456")))
    write_report([bench, other], place)
    assert [*_held(place)] == ["index.html", "report.md"]


@pytest.mark.parametrize("which", ["bench", "asked"])
def test_the_same_receipt_gives_the_same_bytes_wherever_it_lies(
    which: str, request: pytest.FixtureRequest, place: Path, tmp_path: Path
) -> None:
    sealed: SealedReceipt = request.getfixturevalue(which)
    write_report([sealed], place)
    moved = Path(shutil.copytree(sealed.directory, tmp_path / "elsewhere" / "other name"))
    write_report([read_sealed(moved)], tmp_path / "again")
    assert _held(place) == _held(tmp_path / "again")
    assert not [name for name, content in _held(place).items() if str(tmp_path).encode() in content]


def test_by_default_it_lies_beside_the_receipt_which_still_verifies(tmp_path: Path) -> None:
    receipt = build.write(tmp_path / "receipts" / "run")
    place = default_place([receipt])
    assert place == tmp_path / "receipts" / "run.report"
    write_report([read_sealed(receipt)], place)
    assert verify(receipt).state == "verified"


def test_of_several_receipts_the_folder_names_all(tmp_path: Path) -> None:
    assert default_place([tmp_path / "a", tmp_path / "x" / "b"]) == tmp_path / "a+b.report"
    with pytest.raises(UsageError, match="--out"):
        default_place([tmp_path / ("a" * 150), tmp_path / ("b" * 150)])


def test_an_earlier_report_is_replaced_and_none_of_its_pages_is_left(
    bench: SealedReceipt, asked: SealedReceipt, place: Path
) -> None:
    write_report([bench], place)
    write_report([asked], place)
    assert [*_held(place)] == ["index.html", "report.md"]
    assert [path.name for path in place.parent.iterdir()] == ["there"]


@pytest.mark.parametrize("name", ["notes.txt", "trials/notes.html", "deep/index.html", "report.md"])
def test_what_is_no_report_is_not_written_over(
    bench: SealedReceipt, asked: SealedReceipt, place: Path, name: str
) -> None:
    write_report([bench], place)
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text("mine\n")
    before = _held(place)
    with pytest.raises(UsageError, match=r"is no part of a report.*--out"):
        write_report([asked], place)
    assert _held(place) == before


def test_a_folder_that_no_report_has_is_not_taken_away_empty_as_it_is(asked: SealedReceipt, place: Path) -> None:
    write_report([asked], place)
    (place / "mine").mkdir()
    with pytest.raises(UsageError, match="is no part of a report"):
        write_report([asked], place)
    assert (place / "mine").is_dir()


def test_a_file_and_a_link_are_not_written_over(asked: SealedReceipt, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="is no folder"):
            write_report([asked], tmp_path / name)
    assert (tmp_path / "file").read_text() == "mine"
    assert [*(tmp_path / "folder").iterdir()] == []


def test_a_link_among_the_pages_is_no_part_of_a_report(asked: SealedReceipt, bench: SealedReceipt, place: Path) -> None:
    write_report([bench], place)
    (place / "trials" / "link.html").symlink_to(place / "index.html")
    with pytest.raises(UsageError, match="is no part of a report"):
        write_report([asked], place)


def test_an_empty_folder_is_taken(asked: SealedReceipt, place: Path) -> None:
    place.mkdir()
    write_report([asked], place)
    assert (place / "index.html").exists()


def test_no_report_goes_into_a_receipt(bench: SealedReceipt, asked: SealedReceipt) -> None:
    for inside in (bench.directory, bench.directory / "report", bench.directory / "transcripts" / "x"):
        with pytest.raises(UsageError, match="is within the receipt"):
            check_place(inside)
        with pytest.raises(UsageError, match="is within the receipt"):
            write_report([asked], inside)
    assert verify(bench.directory).state == "verified"


def test_when_writing_fails_the_earlier_report_stands_and_nothing_half_is_left(
    bench: SealedReceipt, asked: SealedReceipt, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report([bench], place)
    before = _held(place)

    def full(_page: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reports, "markdown", full)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        write_report([asked], place)
    assert _held(place) == before
    assert [path.name for path in place.parent.iterdir()] == ["there"]


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(asked: SealedReceipt, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_report([asked], tmp_path / "file" / "report")


@pytest.mark.parametrize("name", ["jinja2", "matplotlib"])
def test_without_what_draws_the_pages_the_command_that_installs_it_is_named(
    asked: SealedReceipt, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reports, "find_spec", lambda wanted: None if wanted == name else object())
    with pytest.raises(UsageError, match=rf"needs {name}, .* pip install 'smriti\[report\]'"):
        write_report([asked], place)
    assert not place.exists()


def test_reading_of_reports_imports_neither_of_them() -> None:
    modules = "import sys, smriti.receipts.report, smriti.cli.report"
    code = f"{modules}\nprint({{'jinja2', 'matplotlib', 'markupsafe'}} & set(sys.modules))"
    ended = build.python(code)
    assert (ended.returncode, ended.stdout) == (0, "set()\n"), ended.stderr


def test_a_receipt_that_is_interrupted_or_changed_makes_no_report(tmp_path: Path) -> None:
    with pytest.raises(ReceiptError, match="interrupted"):
        read_sealed(build.write(tmp_path / "cut", rows=3))
    changed = build.write(tmp_path / "changed")
    (changed / "scores.ndjson").write_bytes(
        (changed / "scores.ndjson").read_bytes().replace(b'"passed":true', b'"passed":false', 1)
    )
    with pytest.raises(ReceiptError, match="does not verify"):
        read_sealed(changed)
