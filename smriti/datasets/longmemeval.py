"""LongMemEval (S, oracle, M and files of their shape): a corpus a row, a document a session.

Source: Wu et al., LongMemEval: benchmarking chat assistants on long-term interactive memory, ICLR 2025.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import orjson

from smriti.datasets.fields import Given, Place, shown
from smriti.datasets.rows import Row, open_file, read_rows
from smriti.errors import UsageError
from smriti.types import Corpus, DatasetReading, Document, Question

Form = Literal["session", "user-turns"]
"""What a document holds: the whole session under its dates, or, as in the official script, its user turns alone."""

USER_EVIDENCE = "user-evidence"
"""The group of the answerable questions of which a user's turn is evidence: those that one official script averages."""

_RESERVED = {"all", USER_EVIDENCE}

SYNTHETIC_PREFIX = "synthetic_"
"""How every question id of a synthetic set begins."""


class Turn(Given):
    """One turn of a session; `has_answer`, where it is given, gives the evidence away and goes no further."""

    role: str
    content: str
    has_answer: Any = None


class Instance(Given):
    """One row: a question with its haystack, in the names of the file."""

    question_id: str
    question_type: str
    question: str
    answer: str | int
    question_date: str
    haystack_session_ids: list[str]
    haystack_dates: list[str]
    haystack_sessions: list[list[Turn]]
    answer_session_ids: list[str]


def read(path: Path, form: Form = "session") -> DatasetReading:
    """Validate every row of a file, and return its corpora in the order of the file.

    The documents stay in the file and are read again row by row, when they are iterated: no more than a row is held.
    UsageError, naming row and field, for anything that is not as it must be.
    """
    with open_file(path) as file:
        state = _state(os.fstat(file.fileno()))
    counts: Counter[str] = Counter()
    rows: dict[str, int] = {}
    corpora: list[Corpus] = []
    for row in read_rows(path):
        instance, place = _instance(path, row)
        if instance.question_id in rows:
            first = rows[instance.question_id]
            raise place.bad("question_id", f"{instance.question_id!r}, as in row {first}", "an id of its own")
        rows[instance.question_id] = row.number
        sessions = _sessions(instance, place)
        question = _question(instance, sessions, place)
        counts.update(_counted(instance, sessions, question))
        documents = _Documents(path, state, row.offset, row.length, len(sessions), form)
        corpora.append(Corpus(f"longmemeval-{_opaque(instance.question_id)}", documents, (question,)))
    synthetic = all(question_id.startswith(SYNTHETIC_PREFIX) for question_id in rows)
    return DatasetReading(
        corpora=tuple(corpora),
        counts=dict(sorted(counts.items())),
        flags=("synthetic: made by `smriti data synth`, not LongMemEval",) if synthetic else (),
        labels={USER_EVIDENCE: "answerable, with evidence in a user's turn"},
    )


_State = tuple[int, int]


@dataclass(slots=True)
class _Session:
    """A session of one row, with every date that it is listed under."""

    source_id: str
    dates: list[str]
    turns: list[Turn]


@dataclass(frozen=True, slots=True, eq=False)
class _Documents(Sequence[Document]):
    """The documents of one row, parsed anew at each iteration; its length is known without."""

    path: Path
    state: _State
    """Of the file when it was validated."""
    offset: int
    length: int
    documents: int
    form: Form

    def __len__(self) -> int:
        return self.documents

    def __iter__(self) -> Iterator[Document]:
        with open_file(self.path) as file:
            if _state(os.fstat(file.fileno())) != self.state:
                raise UsageError(f"data file {str(self.path)!r} changed after it was validated. Run again")
            file.seek(self.offset)
            value = orjson.loads(file.read(self.length))
        place = Place(self.path, f"row at byte {self.offset}")
        text = _FORMS[self.form]
        for session in _sessions(Instance.read(value, place), place).values():
            yield Document(session.source_id, text(session))

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return tuple(self)[index]


def _state(found: os.stat_result) -> _State:
    return found.st_size, found.st_mtime_ns


def _instance(path: Path, row: Row) -> tuple[Instance, Place]:
    question_id = row.value.get("question_id")
    place = Place(path, f"row {row.number}" + (f" (question_id {shown(question_id)})" if question_id else ""))
    instance = Instance.read(row.value, place)
    for field in ("question_id", "question_type", "question", "question_date"):
        if not getattr(instance, field).strip():
            raise place.bad(field, shown(getattr(instance, field)), "some text")
    if instance.question_type in _RESERVED:
        raise place.bad("question_type", shown(instance.question_type), "another name: that one is a group of scores")
    ids, dates, sessions = instance.haystack_session_ids, instance.haystack_dates, instance.haystack_sessions
    if not ids:
        raise place.bad("haystack_session_ids", "no session", "at least one")
    if len({len(ids), len(dates), len(sessions)}) > 1:
        found = f"{len(ids)} ids, {len(dates)} dates and {len(sessions)} sessions"
        raise place.bad("haystack_session_ids", found, "as many of each")
    return instance, place


def _sessions(instance: Instance, place: Place) -> dict[str, _Session]:
    """Return the row's sessions by their id in the file; one that is listed twice with the same turns is one."""
    sessions: dict[str, _Session] = {}
    listed = zip(instance.haystack_session_ids, instance.haystack_dates, instance.haystack_sessions, strict=True)
    for number, (session_id, date, turns) in enumerate(listed):
        known = sessions.get(session_id)
        if known is None:
            sessions[session_id] = _Session(_opaque(instance.question_id, session_id), [date], turns)
        elif _said(known.turns) == _said(turns):
            known.dates.append(date)
        else:
            found = f"{session_id!r} a second time with other turns"
            raise place.bad(f"haystack_session_ids[{number}]", found, "an id of its own, or the same turns")
    return sessions


def _question(instance: Instance, sessions: dict[str, _Session], place: Place) -> Question:
    for number, session_id in enumerate(instance.answer_session_ids):
        if session_id not in sessions:
            expected = "a session of the haystack"
            raise place.bad(f"answer_session_ids[{number}]", shown(session_id), expected)
    answerable = "_abs" not in instance.question_id
    if answerable and not instance.answer_session_ids:
        raise place.bad("answer_session_ids", "no session", "at least one, as the question is answerable")
    gold = [sessions[session_id] for session_id in dict.fromkeys(instance.answer_session_ids)] if answerable else []
    by_user = any(turn.has_answer and turn.role == "user" for session in gold for turn in session.turns)
    return Question(
        id=instance.question_id,
        text=instance.question,
        type=instance.question_type,
        date=instance.question_date,
        gold=tuple(session.source_id for session in gold),
        answerable=answerable,
        groups=("all", instance.question_type, *((USER_EVIDENCE,) if by_user else ())),
    )


def _counted(instance: Instance, sessions: dict[str, _Session], question: Question) -> dict[str, int]:
    dates, given = instance.haystack_dates, instance.haystack_sessions
    turns = [turn for session in given for turn in session]
    gold = [sessions[session_id] for session_id in dict.fromkeys(instance.answer_session_ids)]
    unmarked = any(not any(turn.has_answer for turn in session.turns) for session in gold)
    # Dates are written year first, so that their order is that of their letters.
    return {
        "rows": 1,
        "sessions": len(given),
        "documents": len(sessions),
        "answerable": int(question.answerable),
        "unanswerable": int(not question.answerable),
        f"type_{question.type}": 1,
        "rows_with_a_session_listed_twice": int(len(sessions) < len(given)),
        "rows_with_unsorted_dates": int(dates != sorted(dates)),
        "rows_with_a_session_after_the_question": int(max(dates) > instance.question_date),
        "rows_with_empty_sessions": int(not all(given)),
        "rows_with_empty_turns": int(not all(turn.content.strip() for turn in turns)),
        "rows_with_other_roles": int(any(turn.role not in {"user", "assistant"} for turn in turns)),
        "answerable_rows_with_unmarked_gold": int(question.answerable and unmarked),
        "answerable_rows_with_user_evidence": int(USER_EVIDENCE in question.groups),
        "sessions_begun_by_an_assistant": sum(session[0].role == "assistant" for session in given if session),
    }


def _whole(session: _Session) -> str:
    return "\n".join([*session.dates, *(f"{turn.role}: {turn.content}" for turn in session.turns)])


def _user_turns(session: _Session) -> str:
    return " ".join(turn.content for turn in session.turns if turn.role == "user")


_FORMS = {"session": _whole, "user-turns": _user_turns}


def _said(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns]


def _opaque(*names: str) -> str:
    """Name something so that the name tells nothing of it, nor which row it is of, and is the same on every run.

    In the file the id of every session that holds evidence begins with `answer`.
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
