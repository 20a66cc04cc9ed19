"""coding-life: our own fixture of a coding team's months, one corpus, a document a session."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Literal

from smriti.datasets.fields import Given, Place, shown
from smriti.datasets.lock import Identity, identify
from smriti.datasets.rows import read_json
from smriti.errors import UsageError
from smriti.resources import resource
from smriti.types import Corpus, DatasetReading, Document, Question

NAME = "coding-life"
FILES = ("sessions.json", "questions.json")
UNANSWERABLE = "unanswerable"
"""The type of the questions whose answer is nowhere in the sessions; they cite none."""


class Turn(Given):
    """One turn of a session."""

    speaker: str
    text: str


class Session(Given):
    """One session of the team, in a project."""

    id: str
    date: str
    project: str
    turns: list[Turn]


class Asked(Given):
    """One question, with the ids of the sessions that hold its evidence."""

    id: str
    type: str
    text: str
    date: str
    gold: list[str]
    answer: str | None


class Sessions(Given):
    """sessions.json."""

    version: Literal[1]
    sessions: list[Session]


class Questions(Given):
    """questions.json."""

    version: Literal[1]
    questions: list[Asked]


def folder() -> Path:
    """Return the folder of the fixture that came with smriti: inside the package, or beside it in a checkout."""
    return resource("eval", "coding_life")


def identity(path: Path) -> Identity:
    """Name the fixture in folder `path` by a digest of both of its files."""
    files = [identify(path / name) for name in FILES]
    lines = "".join(f"{file.sha256}  {name}\n" for name, file in zip(FILES, files, strict=True))
    return Identity(NAME, hashlib.sha256(lines.encode()).hexdigest(), sum(file.bytes for file in files))


def read(path: Path) -> DatasetReading:
    """Validate the fixture in folder `path`, and return its one corpus.

    A document is a session: its date, its project, and `speaker: text` of each turn, a line each. UsageError, naming
    row and field, for anything that is not as it must be.
    """
    if not path.is_dir():
        raise UsageError(f"coding-life data {str(path)!r} is no folder; expected one with {' and '.join(FILES)}")
    sessions_path, questions_path = (path / name for name in FILES)
    sessions = Sessions.read(read_json(sessions_path), Place(sessions_path, "")).sessions
    asked = Questions.read(read_json(questions_path), Place(questions_path, "")).questions
    _check_sessions(sessions, sessions_path)
    _check_questions(asked, {session.id for session in sessions}, questions_path)
    documents = tuple(Document(session.id, _text(session)) for session in sessions)
    questions = tuple(_question(question) for question in asked)
    counts = Counter(f"type_{question.type}" for question in questions)
    counts.update(
        sessions=len(sessions),
        projects=len({session.project for session in sessions}),
        questions=len(questions),
        unanswerable=sum(not question.answerable for question in questions),
    )
    return DatasetReading((Corpus(NAME, documents, questions),), dict(sorted(counts.items())))


def _check_sessions(sessions: list[Session], path: Path) -> None:
    seen: dict[str, int] = {}
    if not sessions:
        raise Place(path, "").bad("sessions", "none", "at least one")
    for number, session in enumerate(sessions):
        place = Place(path, f"row {number} (id {shown(session.id)})")
        _check_id(session.id, number, seen, place)
        _check_text(place, date=session.date, project=session.project)
        if not session.turns:
            raise place.bad("turns", "none", "at least one")
        for i, turn in enumerate(session.turns):
            _check_text(place.within(f"turns[{i}]"), speaker=turn.speaker, text=turn.text)


def _check_questions(asked: list[Asked], sessions: set[str], path: Path) -> None:
    seen: dict[str, int] = {}
    if not asked:
        raise Place(path, "").bad("questions", "none", "at least one")
    for number, question in enumerate(asked):
        place = Place(path, f"row {number} (id {shown(question.id)})")
        _check_id(question.id, number, seen, place)
        _check_text(place, type=question.type, text=question.text, date=question.date)
        if not question.type.isprintable():
            raise place.bad("type", shown(question.type), "a name that can be printed")
        if question.type == "all":
            raise place.bad("type", "'all'", "another name: that one is the group of all questions")
        if (question.type == UNANSWERABLE) != (not question.gold):
            expected = "none, as the question is unanswerable" if question.gold else "at least one session"
            raise place.bad("gold", shown(question.gold), expected)
        for i, session_id in enumerate(question.gold):
            if session_id not in sessions or session_id in question.gold[:i]:
                raise place.bad(f"gold[{i}]", shown(session_id), "the id of a session, each once")


def _check_id(name: str, number: int, seen: dict[str, int], place: Place) -> None:
    _check_text(place, id=name)
    if name in seen:
        raise place.bad("id", f"{name!r}, as in row {seen[name]}", "an id of its own")
    seen[name] = number


def _check_text(place: Place, **fields: str) -> None:
    for field, text in fields.items():
        if not text.strip():
            raise place.bad(field, shown(text), "some text")


def _question(asked: Asked) -> Question:
    return Question(
        id=asked.id,
        text=asked.text,
        type=asked.type,
        date=asked.date,
        gold=tuple(asked.gold),
        answerable=asked.type != UNANSWERABLE,
        groups=("all", asked.type),
    )


def _text(session: Session) -> str:
    return "\n".join([session.date, f"project: {session.project}", *(f"{t.speaker}: {t.text}" for t in session.turns)])
