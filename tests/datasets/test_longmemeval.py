"""LongMemEval rows become corpora that give nothing away, or are refused with row and field."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.datasets.fields import Place
from smriti.datasets.longmemeval import USER_EVIDENCE, FileState, Form, Instance, read
from smriti.errors import UsageError
from smriti.types import DatasetReading, Document
from tests.shared import shared
from tests.strategies import Broken, broken_longmemeval_rows, longmemeval_rows

same_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def row(**fields: Any) -> dict[str, Any]:
    """A row with two sessions, the first of which holds the evidence; `fields` are put in the place of its own."""
    return {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Which colour?",
        "answer": "red",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ["answer_1", "ultrachat_2"],
        "haystack_sessions": [
            [{"role": "user", "content": "It is red.", "has_answer": True}, {"role": "assistant", "content": "Noted."}],
            [{"role": "user", "content": "Hello."}],
        ],
        "answer_session_ids": ["answer_1"],
    } | fields


@same_file
@given(longmemeval_rows())
def test_every_question_has_its_sessions_in_order_and_gold_among_them(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    reading = read(written(tmp_path, rows))
    assert len(reading.corpora) == len(rows) == reading.counts["rows"]
    for corpus, given_row in zip(reading.corpora, rows, strict=True):
        documents, (question,) = tuple(corpus.documents), corpus.questions
        order = list(dict.fromkeys(given_row["haystack_session_ids"]))
        source_ids = [document.source_id for document in documents]
        assert len(documents) == len(corpus.documents) == len(order) == len(set(source_ids))
        assert question.answerable == bool(question.gold)
        if question.answerable:
            assert [order[source_ids.index(gold)] for gold in question.gold] == given_row["answer_session_ids"]
        for session_id, date, turns in zip(
            given_row["haystack_session_ids"],
            given_row["haystack_dates"],
            given_row["haystack_sessions"],
            strict=True,
        ):
            content = documents[order.index(session_id)].content
            assert date in content.splitlines()
            assert all(f"{turn['role']}: {turn['content']}" in content for turn in turns)


@same_file
@given(broken_longmemeval_rows())
def test_a_malformed_row_is_refused_in_one_paragraph_with_its_number_and_field(tmp_path: Path, broken: Broken) -> None:
    with pytest.raises(UsageError) as raised:
        read(written(tmp_path, broken.rows))
    told = str(raised.value)
    assert f"row {broken.number}" in told
    assert f"field {broken.field}" in told
    assert "\n" not in told


def test_what_a_system_sees_names_neither_gold_nor_question_nor_answer(tmp_path: Path) -> None:
    (corpus,) = read(written(tmp_path, [row(question_id="secret_abs_id", answer="vermilion")])).corpora
    seen = repr((corpus.id, tuple(corpus.documents)))
    for word in ("answer", "has_answer", "secret", "_abs", "vermilion", "ultrachat", "Which colour"):
        assert word not in seen


def test_the_same_session_has_another_name_in_every_row(tmp_path: Path) -> None:
    first, second = read(written(tmp_path, [row(), row(question_id="q2")])).corpora
    assert not {d.source_id for d in first.documents} & {d.source_id for d in second.documents}


def test_a_session_listed_twice_is_one_document_with_both_dates(tmp_path: Path) -> None:
    twice = row(
        haystack_session_ids=["answer_1", "b", "b"],
        haystack_dates=["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00", "2023/05/19 (Fri) 10:00"],
        haystack_sessions=[
            row()["haystack_sessions"][0],
            [{"role": "user", "content": "Hello."}],
            [{"role": "user", "content": "Hello.", "has_answer": False}],
        ],
    )
    reading = read(written(tmp_path, [twice]))
    assert reading.corpora[0].documents[1].content == "2023/05/21 (Sun) 10:00\n2023/05/19 (Fri) 10:00\nuser: Hello."
    assert reading.counts["rows_with_a_session_listed_twice"] == 1
    assert (reading.counts["sessions"], reading.counts["documents"]) == (3, 2)
    assert reading.counts["rows_with_unsorted_dates"] == 1


def test_an_abstention_has_no_gold_and_is_counted_apart(tmp_path: Path) -> None:
    reading = read(written(tmp_path, [row(), row(question_id="q1_abs")]))
    answerable, abstention = (corpus.questions[0] for corpus in reading.corpora)
    assert (answerable.answerable, len(answerable.gold)) == (True, 1)
    assert (abstention.answerable, abstention.gold) == (False, ())
    assert (reading.counts["answerable"], reading.counts["unanswerable"]) == (1, 1)


def test_questions_whose_evidence_is_a_users_turn_are_a_group(tmp_path: Path) -> None:
    by_assistant = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": "Red.", "has_answer": True}]]
    rows = [row(), row(question_id="q2", haystack_sessions=[*by_assistant, row()["haystack_sessions"][1]])]
    by_user, other = (corpus.questions[0] for corpus in read(written(tmp_path, rows)).corpora)
    assert by_user.groups == ("all", "multi-session", USER_EVIDENCE)
    assert other.groups == ("all", "multi-session")


def test_the_official_form_holds_user_turns_alone(tmp_path: Path) -> None:
    (corpus,) = read(written(tmp_path, [row()]), "user-turns").corpora
    assert [document.content for document in corpus.documents] == ["It is red.", "Hello."]


def test_every_row_is_validated_before_any_is_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"row 2 .*field haystack_sessions\[1\]\[0\]\.content: found 7;"):
        read(
            written(
                tmp_path,
                [
                    row(),
                    row(question_id="q2"),
                    row(question_id="q3", haystack_sessions=[[], [{"role": "user", "content": 7}]]),
                ],
            )
        )


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"answer_session_ids": []}, "field answer_session_ids: found no session"),
        (
            {"answer_session_ids": ["b"]},
            r"field answer_session_ids\[0\]: found 'b'; expected a session of the haystack",
        ),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "2 ids, 1 dates and 2 sessions"),
        ({"haystack_session_ids": ["b", "b"]}, "'b' a second time with other turns"),
        ({"haystack_session_ids": [], "haystack_dates": [], "haystack_sessions": []}, "found no session"),
        ({"question_type": "all"}, "that one is a group of scores"),
        ({"question_type": "unanswerable"}, "that one is a group of scores"),
        ({"question_type": "tw\no"}, "a name that can be printed"),
        ({"answer": None}, "field answer: found None"),
        ({"answer": True}, "field answer: found True"),
        ({"question": 5}, "field question: found 5; expected a valid string"),
        ({"question_id": "q0"}, "field question_id: found 'q0', as in row 0"),
    ],
)
def test_what_is_wrong_with_a_row_is_told(tmp_path: Path, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as raised:
        read(written(tmp_path, [row(question_id="q0"), row(**fields)]))
    assert "row 1" in str(raised.value)


def test_a_file_that_changed_after_it_was_validated_is_not_read_on(tmp_path: Path) -> None:
    path = written(tmp_path, [row()])
    (corpus,) = read(path).corpora
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        tuple(corpus.documents)


def test_a_file_of_the_same_size_and_time_is_not_taken_for_the_one_that_was_validated(tmp_path: Path) -> None:
    path = written(tmp_path, [row()])
    (corpus,) = read(path).corpora
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # until the clock of the file system has ticked
        path.write_bytes(path.read_bytes().replace(b"red", b"tan"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        tuple(corpus.documents)


def test_a_file_that_changes_while_a_row_is_read_again_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, [row()])
    (corpus,) = read(path).corpora

    class Changing(io.FileIO):
        """A file that is changed after all that is done before its bytes are read."""

        def read(self, size: int | None = -1) -> bytes:
            path.write_bytes(path.read_bytes() + b"\n")
            return super().read(size) or b""

    monkeypatch.setattr("smriti.datasets.longmemeval.open_file", Changing)
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        tuple(corpus.documents)


def test_a_file_that_is_not_in_the_state_that_was_hashed_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [row()])
    hashed = FileState.of(path)
    written(tmp_path, [row(), row(question_id="q2")])
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        read(path, state=hashed)


@same_file
@given(longmemeval_rows(), st.sampled_from(["session", "user-turns"]))
def test_documents_are_those_that_validated_sessions_make(
    tmp_path: Path, rows: list[dict[str, Any]], form: Form
) -> None:
    reading = read(written(tmp_path, rows), form)
    for corpus, given_row in zip(reading.corpora, rows, strict=True):
        assert list(corpus.documents) == validated(given_row, form)


def test_a_corpus_can_be_sent_to_another_process_without_its_text(tmp_path: Path) -> None:
    long = [[{"role": "user", "content": "red " * 10_000}], [{"role": "user", "content": "Hello."}]]
    (corpus,) = read(written(tmp_path, [row(haystack_sessions=long)])).corpora
    sent = pickle.dumps(corpus)
    assert len(sent) < 2000
    assert tuple(pickle.loads(sent).documents) == tuple(corpus.documents)


def test_the_real_rows_are_read() -> None:
    reading: DatasetReading = read(shared("longmemeval_slice.json"))
    first, second = reading.corpora
    assert (len(first.documents), len(first.questions[0].gold), first.questions[0].answerable) == (39, 2, True)
    assert (len(second.documents), second.questions[0].answerable) == (2, False)
    assert reading.flags == ()
    for corpus in reading.corpora:
        assert "has_answer" not in repr(tuple(corpus.documents))
        assert all(document.content.startswith("2023/") for document in corpus.documents)


def validated(given_row: dict[str, Any], form: Form) -> list[Document]:
    """The documents of a row by way of its validated shape, a session at a time."""
    instance = Instance.read(given_row, Place(Path("rows.json"), "row"))
    found = []
    for session_id in dict.fromkeys(instance.haystack_session_ids):
        places = [place for place, other in enumerate(instance.haystack_session_ids) if other == session_id]
        turns = instance.haystack_sessions[places[0]]
        if form == "session":
            lines = [instance.haystack_dates[place] for place in places]
            content = "\n".join(lines + [turn.role + ": " + turn.content for turn in turns])
        else:
            content = " ".join(turn.content for turn in turns if turn.role == "user")
        source = hashlib.sha256(f"{instance.question_id}\n{session_id}".encode()).hexdigest()[:16]
        found.append(Document(source, content))
    return found


def written(folder: Path, rows: list[Any]) -> Path:
    path = folder / "rows.json"
    path.write_text(json.dumps(rows, indent=4), encoding="utf-8")
    return path
