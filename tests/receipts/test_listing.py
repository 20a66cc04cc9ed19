"""Receipts are listed whatever state they are in."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from smriti.receipts.listing import age, list_receipts, receipt_folders
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SUMMARY
from tests.receipts.claimable import bench, bench_manifest, retrieval, retrieval_manifest


def started(day: int) -> str:
    return f"2026-01-{day:02}T00:00:00+00:00"


def test_each_receipt_says_what_it_is_of_and_whether_it_holds(tmp_path: Path) -> None:
    bench(tmp_path / "bench" / "one", bench_manifest(2))
    retrieval(tmp_path / "locomo" / "two", retrieval_manifest(started="2026-01-02T00:00:00+00:00"))
    second, first = list_receipts(tmp_path)
    assert (first.suite, first.systems, first.agent, first.rows, first.planned) == ("bench", ("mine",), "coder", 12, 12)
    assert (first.evidence_class, first.state, first.directory) == ("measured", "verified", tmp_path / "bench" / "one")
    assert (second.suite, second.systems, second.agent) == ("locomo", ("first", "second"), None)


def test_the_newest_stands_first_and_what_names_no_time_last(tmp_path: Path) -> None:
    for name, day in (("b", 2), ("c", 3), ("a", 1)):
        bench(tmp_path / name, bench_manifest(1, started=started(day)))
    bench(tmp_path / "z", bench_manifest(1, started="yesterday"))
    assert [receipt.directory.name for receipt in list_receipts(tmp_path)] == ["c", "b", "a", "z"]


def test_interrupted_and_tampered_runs_are_told_apart(tmp_path: Path) -> None:
    bench(tmp_path / "interrupted", bench_manifest(1, started=started(2)), sealed=False)
    tampered = bench(tmp_path / "tampered", bench_manifest(1)) / SCORES
    tampered.write_bytes(tampered.read_bytes().replace(b'"passed":true', b'"passed":false'))
    assert [receipt.state for receipt in list_receipts(tmp_path)] == ["interrupted", "refused"]


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, None])
def test_what_cannot_be_read_is_listed_as_refused(tmp_path: Path, content: bytes | None) -> None:
    good = bench(tmp_path / "good", bench_manifest(1))
    broken = bench(tmp_path / "broken", bench_manifest(1))
    (broken / MANIFEST).unlink()
    if content is not None:
        (broken / MANIFEST).write_bytes(content)
    listed = list_receipts(tmp_path)
    assert [(receipt.directory, receipt.state) for receipt in listed] == [(good, "verified"), (broken, "refused")]
    assert (listed[1].suite, listed[1].started) == (None, None)


def test_a_manifest_that_is_a_folder_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "odd" / MANIFEST).mkdir(parents=True)
    (tmp_path / "odd" / SCORES).write_bytes(b"")
    assert [receipt.state for receipt in list_receipts(tmp_path)] == ["refused"]


@pytest.mark.parametrize("name", [MANIFEST, EVIDENCE, SCORES, SUMMARY])
def test_a_pipe_in_the_place_of_a_file_is_listed_as_refused(tmp_path: Path, name: str) -> None:
    """Nobody writes into it: whoever opened it to read would wait for ever."""
    made = bench(tmp_path / "made", bench_manifest(1))
    (made / name).unlink()
    os.mkfifo(made / name)
    assert [receipt.state for receipt in list_receipts(tmp_path)] == ["refused"]


def test_a_receipt_is_found_at_any_depth_and_nothing_is_looked_for_inside_it(tmp_path: Path) -> None:
    outer = bench(tmp_path / "a" / "b" / "outer", bench_manifest(1))
    (outer / "inner").mkdir()
    (outer / "inner" / MANIFEST).write_bytes(b"")
    assert list(receipt_folders(tmp_path)) == [outer]
    assert list(receipt_folders(outer)) == [outer]


def test_a_folder_without_receipts_lists_none(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    assert list_receipts(tmp_path) == []


@pytest.mark.parametrize(
    ("ago", "shown"),
    [
        (timedelta(seconds=0), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(hours=2, minutes=59), "2 h"),
        (timedelta(hours=24), "1 d"),
        (timedelta(days=400), "400 d"),
        (timedelta(seconds=-1), "–"),
    ],
)
def test_age_is_written_in_its_largest_whole_unit(ago: timedelta, shown: str) -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    assert age(now - ago, now) == shown


def test_an_unknown_age_is_a_dash() -> None:
    assert age(None, datetime(2026, 6, 1, tzinfo=UTC)) == "–"
