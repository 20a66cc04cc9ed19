"""`smriti list receipts`: what there is, the newest first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from smriti.cli import listing
from tests.cli.command_line import Smriti
from tests.receipts.claimable import bench, bench_manifest, retrieval, retrieval_manifest


@pytest.fixture(autouse=True)
def _noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of these tests began at midnight, and it is noon."""
    monkeypatch.setattr(listing, "now", lambda: datetime(2026, 1, 1, 12, tzinfo=UTC))


@pytest.fixture
def several(smriti: Smriti) -> None:
    del smriti
    bench(Path("receipts/bench/good"), bench_manifest(2))
    bench(Path("receipts/bench/cut"), bench_manifest(1, started="2026-01-01T11:00:00+00:00"), sealed=False)
    made = retrieval_manifest(started="2025-12-31T12:00:00+00:00")
    retrieval(Path("receipts/coding-life/two"), made)
    Path("receipts/broken").mkdir()
    Path("receipts/broken/manifest.json").write_text("{")


@pytest.mark.usefixtures("several")
def test_each_receipt_is_a_line_and_a_broken_one_too(smriti: Smriti) -> None:
    ended = smriti("list", "receipts")
    assert (ended.status, ended.err) == (0, "")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert lines[0] == "suite system agent n class state age receipt"
    assert lines[2:] == [
        "bench mine coder 6 measured interrupted 1 h receipts/bench/cut",
        "bench mine coder 12 measured verified 12 h receipts/bench/good",
        "locomo first, second – 12 component verified 1 d receipts/coding-life/two",
        "– – – – – refused – receipts/broken",
    ]


def test_a_run_that_lacks_attempts_says_of_how_many_it_has_them(smriti: Smriti) -> None:
    scores = bench(Path("receipts/cut"), bench_manifest(1), sealed=False) / "scores.ndjson"
    scores.write_bytes(scores.read_bytes().partition(b"\n")[0] + b"\n")
    assert "  1 of 6  " in smriti("list", "receipts").out


@pytest.mark.usefixtures("several")
def test_json_has_the_time_and_no_age(smriti: Smriti) -> None:
    listed = smriti("list", "receipts", "--json").json["receipts"]
    assert [receipt["state"] for receipt in listed] == ["interrupted", "verified", "verified", "refused"]
    assert listed[1]["started"] == "2026-01-01T00:00:00+00:00"
    assert (listed[1]["directory"], listed[1]["systems"]) == ("receipts/bench/good", ["mine"])
    assert listed[3]["started"] is None
    assert "age" not in listed[1]


@pytest.mark.usefixtures("several")
def test_another_folder_or_a_receipt_itself_may_be_named(smriti: Smriti) -> None:
    assert len(smriti("list", "receipts", "receipts/bench", "--json").json["receipts"]) == 2
    assert len(smriti("list", "receipts", "receipts/bench/good", "--json").json["receipts"]) == 1


def test_where_there_is_none_it_says_so(smriti: Smriti) -> None:
    ended = smriti("list", "receipts")
    assert (ended.status, ended.out) == (0, "no receipt below receipts\n")
    assert smriti("list", "receipts", "--json").json == {"receipts": []}


def test_a_folder_that_is_not_there_is_unusable(smriti: Smriti) -> None:
    smriti("list", "receipts", "nowhere").assert_refused("nowhere is not there, expected a folder with receipts in it")
