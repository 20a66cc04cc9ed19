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
from typing import Any, Literal, Self, overload

import orjson

from smriti.datasets.fields import Given, Place, shown
from smriti.datasets.rows import Row, open_file, read_rows
from smriti.errors import UsageError
from smriti.types import Corpus, DatasetReading, Document, Question

Form = Literal["session", "user-turns"]
"""What a document holds: the whole session under its dates, or, as in the official script, its user turns alone."""

USER_EVIDENCE = "user-evidence"
"""The group of the answerable questions of which a user's turn is evidence: those that one official script averages."""

_RESERVED = {"all", USER_EVIDENCE, "unanswerable"}
"""Groups of scores of their own."""

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


@dataclass(frozen=True, slots=True)
class FileState:
    """What shows that a file is still the one that it was, without reading it."""

    bytes: int
    modified_ns: int
    changed_ns: int
    """When its bytes or anything about it last changed; unlike `modified_ns`, nobody can set it back."""
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the present state of `path`; UsageError where it is no file that can be read."""
        with open_file(path) as file:
            return cls.of_open(file.fileno())

    @classmethod
    def of_open(cls, descriptor: int) -> Self:
        """Return the present state of an open file."""
        found = os.fstat(descriptor)
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@dataclass(frozen=True, slots=True)
class RowDocuments(Sequence[Document]):
    """The documents of one validated row, parsed anew at each iteration; its length is known without."""

    path: Path
    state: FileState
    """Of the file when it was validated."""
    offset: int
    length: int
    documents: int
    form: Form

    def __len__(self) -> int:
        return self.documents

    def __iter__(self) -> Iterator[Document]:
        with open_file(self.path) as file:
            file.seek(self.offset)
            content = file.read(self.length)
            # Looked at after the reading, which is then known to lie wholly before any change.
            if FileState.of_open(file.fileno()) != self.state:
                raise changed(self.path)
        return _documents(orjson.loads(content), self.form)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return tuple(self)[index]


def read(path: Path, form: Form = "session", state: FileState | None = None) -> DatasetReading:
    """Validate every row of a file, and return its corpora in the order of the file.

    The documents stay in the file and are read again row by row, when they are iterated: no more than a row is held.
    UsageError, naming row and field, for anything that is not as it must be, and for a file that does not stay in
    `state`, or else in the one that it begins in, until its last row is read.
    """
    state = state or FileState.of(path)
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
        documents = RowDocuments(path, state, row.offset, row.length, len(sessions), form)
        corpora.append(Corpus(f"longmemeval-{_opaque(instance.question_id)}", documents, (question,)))
    if FileState.of(path) != state:
        raise changed(path)
    synthetic = all(question_id.startswith(SYNTHETIC_PREFIX) for question_id in rows)
    return DatasetReading(
        corpora=tuple(corpora),
        counts=dict(sorted(counts.items())),
        flags=("synthetic: made by `smriti data synth`, not LongMemEval",) if synthetic else (),
        labels={USER_EVIDENCE: "answerable, with evidence in a user's turn"},
    )


def changed(path: Path) -> UsageError:
    """Return the error to raise about a file that is no longer what was hashed or validated."""
    return UsageError(
        f"data file {str(path)!r} changed after it was first looked at; expected the same file throughout. Run again"
    )


def _instance(path: Path, row: Row) -> tuple[Instance, Place]:
    question_id = row.value.get("question_id")
    place = Place(path, f"row {row.number}" + (f" (question_id {shown(question_id)})" if question_id else ""))
    instance = Instance.read(row.value, place)
    for field in ("question_id", "question_type", "question", "question_date"):
        if not getattr(instance, field).strip():
            raise place.bad(field, shown(getattr(instance, field)), "some text")
    if not instance.question_type.isprintable():
        raise place.bad("question_type", shown(instance.question_type), "a name that can be printed")
    if instance.question_type in _RESERVED:
        raise place.bad("question_type", shown(instance.question_type), "another name: that one is a group of scores")
    ids, dates, sessions = instance.haystack_session_ids, instance.haystack_dates, instance.haystack_sessions
    if not ids:
        raise place.bad("haystack_session_ids", "no session", "at least one")
    if len({len(ids), len(dates), len(sessions)}) > 1:
        found = f"{len(ids)} ids, {len(dates)} dates and {len(sessions)} sessions"
        raise place.bad("haystack_session_ids", found, "as many of each")
    return instance, place


def _sessions(instance: Instance, place: Place) -> dict[str, list[Turn]]:
    """Return the row's sessions by their id in the file; one that is listed twice with the same turns is one."""
    sessions: dict[str, list[Turn]] = {}
    listed = zip(instance.haystack_session_ids, instance.haystack_sessions, strict=True)
    for number, (session_id, turns) in enumerate(listed):
        known = sessions.setdefault(session_id, turns)
        if known is not turns and _said(known) != _said(turns):
            found = f"{session_id!r} a second time with other turns"
            raise place.bad(f"haystack_session_ids[{number}]", found, "an id of its own, or the same turns")
    return sessions


def _question(instance: Instance, sessions: dict[str, list[Turn]], place: Place) -> Question:
    for number, session_id in enumerate(instance.answer_session_ids):
        if session_id not in sessions:
            expected = "a session of the haystack"
            raise place.bad(f"answer_session_ids[{number}]", shown(session_id), expected)
    answerable = "_abs" not in instance.question_id
    if answerable and not instance.answer_session_ids:
        raise place.bad("answer_session_ids", "no session", "at least one, as the question is answerable")
    gold = tuple(dict.fromkeys(instance.answer_session_ids)) if answerable else ()
    by_user = any(turn.has_answer and turn.role == "user" for session_id in gold for turn in sessions[session_id])
    return Question(
        id=instance.question_id,
        text=instance.question,
        type=instance.question_type,
        date=instance.question_date,
        gold=tuple(_opaque(instance.question_id, session_id) for session_id in gold),
        answerable=answerable,
        groups=("all", instance.question_type, *((USER_EVIDENCE,) if by_user else ())),
    )


def _counted(instance: Instance, sessions: dict[str, list[Turn]], question: Question) -> dict[str, int]:
    dates, given = instance.haystack_dates, instance.haystack_sessions
    turns = [turn for session in given for turn in session]
    unmarked = any(not any(turn.has_answer for turn in sessions[gold]) for gold in instance.answer_session_ids)
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


def _documents(row: dict[str, Any], form: Form) -> Iterator[Document]:
    """Yield the documents of a row as it was parsed: it has been validated, so nothing in it is looked at again."""
    dates: dict[str, list[str]] = {}
    sessions: dict[str, list[dict[str, str]]] = {}
    listed = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
    for session_id, date, turns in listed:
        dates.setdefault(session_id, []).append(date)
        sessions.setdefault(session_id, turns)
    text = _FORMS[form]
    for session_id, turns in sessions.items():
        yield Document(_opaque(row["question_id"], session_id), text(dates[session_id], turns))


def _whole(dates: list[str], turns: list[dict[str, str]]) -> str:
    return "\n".join([*dates, *[f"{turn['role']}: {turn['content']}" for turn in turns]])


def _user_turns(_dates: list[str], turns: list[dict[str, str]]) -> str:
    return " ".join([turn["content"] for turn in turns if turn["role"] == "user"])


_FORMS = {"session": _whole, "user-turns": _user_turns}


def _said(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns]


def _opaque(*names: str) -> str:
    """Name something so that the name tells nothing of it, nor which row it is of, and is the same on every run.

    In the file the id of every session that holds evidence begins with `answer`.
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
