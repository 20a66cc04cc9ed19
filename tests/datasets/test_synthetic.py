"""A synthetic LongMemEval has the shape of the real one, and is the same for the same seed."""

from __future__ import annotations

import itertools
import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from smriti.datasets.longmemeval import read
from smriti.datasets.synthetic import KINDS, REAL_ROWS, make_rows, write
from smriti.errors import UsageError
from tests.shared import shared

ROWS = 20


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return list(make_rows(ROWS, seed=1))


def test_the_file_is_what_json_writes_with_indent_4_and_reads_as_synthetic(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path / "rows.json"
    seen: list[int] = []
    write(path, ROWS, 1, lambda done, _: seen.append(done))
    assert path.read_text(encoding="utf-8") == json.dumps(rows, indent=4)
    assert seen == list(range(1, ROWS + 1))
    reading = read(path)
    assert "synthetic" in reading.flags[0]
    for trap in (
        "rows_with_a_session_listed_twice",
        "rows_with_a_session_after_the_question",
        "answerable_rows_with_unmarked_gold",
        "sessions_begun_by_an_assistant",
    ):
        assert reading.counts[trap] >= 1, trap
    assert reading.counts["rows_with_empty_sessions"] + reading.counts["rows_with_empty_turns"] >= 1
    assert reading.counts["rows_with_unsorted_dates"] >= ROWS // 3


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(rows: list[dict[str, Any]]) -> None:
    assert next(make_rows(ROWS, seed=1)) == rows[0]
    other = next(make_rows(ROWS, seed=2))
    assert other["haystack_sessions"] != rows[0]["haystack_sessions"]
    assert other["question_id"] != rows[0]["question_id"]


def test_lengths_and_counts_are_those_of_real_rows(rows: list[dict[str, Any]]) -> None:
    sessions = [turns for row in rows for turns in row["haystack_sessions"]]
    turns = [turn for session in sessions for turn in session]
    said = {role: [len(turn["content"]) for turn in turns if turn["role"] == role] for role in ("user", "assistant")}
    assert all(38 <= len(row["haystack_sessions"]) <= 62 for row in rows)
    assert 45 <= len(sessions) / ROWS <= 50
    assert max(map(len, sessions)) <= 16
    assert 184 <= statistics.median(said["user"]) <= 217
    assert 1800 <= statistics.median(said["assistant"]) <= 2090
    assert 0.5e6 <= len(json.dumps(rows, indent=4)) / ROWS <= 0.62e6


def test_the_traps_of_the_real_rows_are_there(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        gold = set(row["answer_session_ids"])
        for session_id, turns in zip(row["haystack_session_ids"], row["haystack_sessions"], strict=True):
            assert session_id.startswith("answer") == (session_id in gold)
            assert all(("has_answer" in turn) == (session_id in gold) for turn in turns)
    assert any(isinstance(row["answer"], int) for row in rows)


def test_of_500_rows_as_many_are_of_each_kind_as_in_the_real_file() -> None:
    assert sum(kind.rows for kind in KINDS) == REAL_ROWS
    real = json.loads(shared("longmemeval_s_questions.json").read_text())
    counted = Counter(
        (row["question_type"], len(row["answer_session_ids"]), "_abs" not in row["question_id"]) for row in real
    )
    assert counted == {(kind.type, kind.gold, kind.answerable): kind.rows for kind in KINDS}


@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_any_number_of_rows_can_be_made(rows: int) -> None:
    made = list(itertools.islice(make_rows(rows), 3))
    assert len(made) == min(rows, 3)
    assert len({row["question_id"] for row in made}) == len(made)


def test_no_rows_and_a_file_that_is_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected at least 1"):
        write(tmp_path / "rows.json", 0)
    (tmp_path / "rows.json").touch()
    with pytest.raises(UsageError, match="is there already"):
        write(tmp_path / "rows.json", 1)
