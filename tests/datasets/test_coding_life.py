"""The coding-life fixture is read as one corpus, or refused with file, row and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smriti.datasets.coding_life import folder, identity, read
from smriti.errors import UsageError


def session(**fields: Any) -> dict[str, Any]:
    turns = [{"speaker": "Ann", "text": "We use tabs."}, {"speaker": "Bob", "text": "Fine."}]
    return {"id": "s1", "date": "2024-03-01", "project": "billing", "turns": turns} | fields


def question(**fields: Any) -> dict[str, Any]:
    stated = {"id": "q1", "type": "preference", "text": "Tabs?", "date": "2024-05-01", "gold": ["s1"], "answer": "yes"}
    return stated | fields


def written(path: Path, sessions: list[Any] | None = None, questions: list[Any] | None = None) -> Path:
    sessions = [session()] if sessions is None else sessions
    questions = [question()] if questions is None else questions
    (path / "sessions.json").write_text(json.dumps({"version": 1, "sessions": sessions}))
    (path / "questions.json").write_text(json.dumps({"version": 1, "questions": questions}))
    return path


def test_a_document_is_a_session_under_its_date_and_project(tmp_path: Path) -> None:
    unanswerable = question(id="q2", type="unanswerable", gold=[], answer=None)
    reading = read(written(tmp_path, questions=[question(), unanswerable]))
    (corpus,) = reading.corpora
    assert corpus.documents[0].content == "2024-03-01\nproject: billing\nAnn: We use tabs.\nBob: Fine."
    first, second = corpus.questions
    assert (first.gold, first.answerable, first.groups) == (("s1",), True, ("all", "preference"))
    assert (second.gold, second.answerable) == ((), False)
    assert reading.counts == {
        "sessions": 1,
        "projects": 1,
        "questions": 2,
        "unanswerable": 1,
        "type_preference": 1,
        "type_unanswerable": 1,
    }


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        ([], "field sessions: found none"),
        ([session(), session()], r"row 1 \(id 's1'\), field id: found 's1', as in row 0"),
        ([session(turns=[])], "field turns: found none"),
        ([session(turns=[{"speaker": "Ann", "text": " "}])], r"field turns\[0\]\.text: found ' '"),
        ([session(turns=[{"speaker": "Ann"}])], r"field sessions\[0\]\.turns\[0\]\.text: found nothing"),
        ([session(date="")], "field date: found ''"),
        ([session(id=7)], r"field sessions\[0\]\.id: found 7"),
    ],
)
def test_what_is_wrong_with_a_session_is_told(tmp_path: Path, sessions: list[Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        read(written(tmp_path, sessions=sessions))
    assert "sessions.json" in str(raised.value)


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "field questions: found none"),
        ([question(), question()], r"row 1 \(id 'q1'\), field id: found 'q1', as in row 0"),
        ([question(gold=["s2"])], r"field gold\[0\]: found 's2'; expected the id of a session"),
        ([question(gold=["s1", "s1"])], r"field gold\[1\]: found 's1'"),
        ([question(gold=[])], r"field gold: found \[\]; expected at least one session"),
        ([question(type="unanswerable")], "expected none, as the question is unanswerable"),
        ([question(type="all")], "that one is the group of all questions"),
        ([question(text=None)], r"field questions\[0\]\.text: found None"),
    ],
)
def test_what_is_wrong_with_a_question_is_told(tmp_path: Path, questions: list[Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        read(written(tmp_path, questions=questions))
    assert "questions.json" in str(raised.value)


def test_another_version_and_an_absent_folder_are_refused(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "sessions.json").write_text('{"version": 2, "sessions": []}')
    with pytest.raises(UsageError, match="field version: found 2; expected 1"):
        read(tmp_path)
    with pytest.raises(UsageError, match="is no folder"):
        read(tmp_path / "absent")


def test_the_fixture_is_named_by_a_digest_of_both_files(tmp_path: Path) -> None:
    before = identity(written(tmp_path))
    assert (before.name, before.bytes) == ("coding-life", sum(path.stat().st_size for path in tmp_path.iterdir()))
    assert identity(tmp_path) == before
    assert identity(written(tmp_path, questions=[question(text="Tabs or blanks?")])).sha256 != before.sha256


def test_the_fixture_that_comes_with_smriti_is_read() -> None:
    reading = read(folder())
    assert reading.counts["sessions"] >= 60
    assert reading.counts["questions"] >= 80
