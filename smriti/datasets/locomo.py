"""LoCoMo: a corpus a conversation, a document a session or a turn, its evidence as it is given and as it was meant.

Source: Maharana et al., Evaluating very long-term conversational memory of LLM agents, ACL 2024.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from smriti.datasets.errata import Errata
from smriti.datasets.fields import Given, Place, shown
from smriti.datasets.rows import read_rows
from smriti.errors import UsageError
from smriti.types import Corpus, DatasetReading, Document, Question

Granularity = Literal["session", "turn"]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""The official names. Many projects swap some of them, so that a name is never printed without its number."""

DEFAULT_CATEGORIES = (1, 2, 3, 4)
"""What group `all` covers unless it is said otherwise: what is evidence in category 5 is the trap, not an answer."""

REPAIRED = "all-repaired"
"""The group of the questions of `all`, scored against the repaired evidence."""

ERRATA = "all-errata"
"""The group of the questions of `all`, scored against the evidence that an errata overlay corrects."""


class Turn(Given):
    """One turn, of which an image has only the caption that a model made."""

    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None
    img_url: Any = None


class Asked(Given):
    """One question as the file has it."""

    question: str
    category: int
    evidence: list[str]
    answer: str | int | None = None


class Sample(Given):
    """One conversation with its questions; sessions stand in it by name, `session_1` and `session_1_date_time`."""

    sample_id: str
    conversation: dict[str, Any]
    qa: list[Any]


def read(
    path: Path,
    granularity: Granularity = "session",
    categories: Collection[int] | None = None,
    *,
    captions: bool = False,
    dates: bool = False,
    errata: Errata | None = None,
) -> DatasetReading:
    """Validate a whole file, and return a corpus for each conversation.

    A document is `speaker: text` of a turn, or of all turns of a session, one a line; `captions` adds what an image
    shows, `dates` a first line with the session's date. With `categories` only their questions are read, and `all`
    covers them; without, all are read, and `all` covers 1 to 4. Every category is a group of its own besides.
    With `errata` the questions of `all` are scored once more, as `all-errata`: against the evidence of their entry,
    which may be none, or else against the strict one. An overlay for another file than this one, or with an entry
    that does not fit the question it names, is refused.
    UsageError, naming conversation and field, for anything that is not as it must be. Irregular evidence is no such
    thing, since the real file has some: it is counted, a question that cites any has no strict gold, and it has
    repaired gold where all that it cites can be told.
    """
    chosen = _chosen(categories)
    if errata is not None:
        errata.check_data(path)
    counts: Counter[str] = Counter(dict.fromkeys((f"category_{number}" for number in CATEGORIES), 0))
    corpora: list[Corpus] = []
    first: dict[str, int] = {}
    asked_ids: set[str] = set()
    for row in read_rows(path):
        place = Place(path, f"row {row.number}")
        sample = Sample.read(row.value, place)
        if sample.sample_id in first:
            found = f"{sample.sample_id!r}, as in row {first[sample.sample_id]}"
            raise place.bad("sample_id", found, "an id of its own")
        first[sample.sample_id] = row.number
        sessions = _sessions(sample, place, counts)
        known = frozenset(turn.dia_id for session in sessions for turn in session.turns)
        asked = [_asked(value, number, place) for number, value in enumerate(sample.qa)]
        counts.update(_counted(asked, known))
        identified = {f"{sample.sample_id}/q{number}": question for number, question in enumerate(asked)}
        asked_ids.update(identified)
        corrected = None if errata is None else _corrected(errata, identified, known)
        questions = [
            _question(question_id, question, known, granularity, chosen, corrected=corrected)
            for question_id, question in identified.items()
            if categories is None or question.category in chosen
        ]
        documents = [document for session in sessions for document in _documents(session, granularity, captions, dates)]
        corpora.append(Corpus(sample.sample_id, tuple(documents), tuple(questions)))
    if errata is not None:
        errata.check_questions(asked_ids)
        counts.update(_errata_counted(errata, corpora))
    counts["conversations"] = len(corpora)
    counts["documents"] = sum(len(corpus.documents) for corpus in corpora)
    return DatasetReading(
        corpora=tuple(corpora),
        counts=dict(sorted(counts.items())),
        flags=("adversarial: category 5 is in `all`, and its evidence is the trap, not an answer",)
        if 5 in chosen
        else (),
        labels=_labels(errata),
    )


@dataclass(frozen=True, slots=True)
class _Session:
    number: int
    date: str
    turns: tuple[Turn, ...]


def strict_evidence(evidence: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the turn ids that are cited, each once; nothing where any of them is not the id of a turn as it stands."""
    return tuple(dict.fromkeys(evidence)) if all(cited in known for cited in evidence) else ()


def repaired_evidence(evidence: Sequence[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the turn ids that were meant: lists in one string split, `D:11:26` read as D11:26 and `D30:05` as D30:5.

    Nothing where any of them is still not the id of a turn: part of the evidence is not the evidence.
    """
    cited = [_mended(part) for text in evidence for part in re.split(r"[;,\s]+", text) if part]
    return strict_evidence(cited, known)


def _mended(cited: str) -> str:
    parts = re.fullmatch(r"D:?([0-9]{1,6}):([0-9]{1,6})", cited)
    return f"D{int(parts[1])}:{int(parts[2])}" if parts else cited


def _chosen(categories: Collection[int] | None) -> tuple[int, ...]:
    if categories is None:
        return DEFAULT_CATEGORIES
    unknown = [number for number in categories if number not in CATEGORIES]
    if unknown or not categories:
        known = ", ".join(f"{number} {name}" for number, name in CATEGORIES.items())
        found = ", ".join(map(str, unknown)) or "none"
        raise UsageError(f"LoCoMo categories: found {found}; expected some of {known}")
    return tuple(sorted(set(categories)))


def _labels(errata: Errata | None) -> dict[str, str]:
    labels = {_group(number): f"{number} {name}" for number, name in CATEGORIES.items()}
    return labels if errata is None else labels | {ERRATA: f"{ERRATA} ({errata.path.name})"}


def _sessions(sample: Sample, place: Place, counts: Counter[str]) -> list[_Session]:
    sessions: list[_Session] = []
    seen: set[str] = set()
    for key, value in sample.conversation.items():
        named = re.fullmatch(r"session_([0-9]+)(_date_time)?", key)
        if named is None:
            continue
        if not re.fullmatch("[1-9][0-9]{0,5}", named[1]):
            raise place.bad("conversation", shown(key), "session_<number>, from 1 and without leading zeros")
        if named[2]:
            counts["session_dates_without_a_session"] += f"session_{named[1]}" not in sample.conversation
            continue
        number, field = int(named[1]), f"conversation.{key}"
        if not isinstance(value, list) or not value:
            raise place.bad(field, shown(value), "a list of turns")
        date = sample.conversation.get(f"{key}_date_time")
        if not isinstance(date, str):
            raise place.bad(f"{field}_date_time", shown(date), "a date as text")
        turns = tuple(Turn.read(turn, place.within(f"{field}[{i}]")) for i, turn in enumerate(value))
        for i, turn in enumerate(turns):
            if not re.fullmatch(rf"D{number}:[1-9][0-9]*", turn.dia_id) or turn.dia_id in seen:
                raise place.bad(f"{field}[{i}].dia_id", shown(turn.dia_id), f"D{number}:<number>, each once")
            seen.add(turn.dia_id)
        counts["turns"] += len(turns)
        counts["captions_without_an_image"] += sum(bool(t.blip_caption) and not t.img_url for t in turns)
        sessions.append(_Session(number, date, turns))
    if not sessions:
        raise place.bad("conversation", "no session", "session_1 and so on")
    counts["sessions"] += len(sessions)
    return sorted(sessions, key=lambda session: session.number)


def _asked(value: object, number: int, place: Place) -> Asked:
    asked = Asked.read(value, place.within(f"qa[{number}]"))
    if asked.category not in CATEGORIES:
        raise place.bad(f"qa[{number}].category", shown(asked.category), "a whole number from 1 to 5")
    if not asked.question.strip():
        raise place.bad(f"qa[{number}].question", shown(asked.question), "some text")
    if asked.answer is None and asked.category != 5:
        raise place.bad(f"qa[{number}].answer", "nothing", "an answer, as the category is not 5")
    return asked


def _corrected(errata: Errata, asked: Mapping[str, Asked], known: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    found = {question_id: errata.corrected(question_id, each.evidence, known) for question_id, each in asked.items()}
    return {question_id: turn_ids for question_id, turn_ids in found.items() if turn_ids is not None}


def _question(
    question_id: str,
    asked: Asked,
    known: Collection[str],
    granularity: Granularity,
    chosen: Collection[int],
    *,
    corrected: Mapping[str, tuple[str, ...]] | None,
) -> Question:
    own = _group(asked.category)
    strict = strict_evidence(asked.evidence, known)
    other = {REPAIRED: repaired_evidence(asked.evidence, known)} if asked.category in chosen else {}
    if asked.category in chosen and corrected is not None:
        other[ERRATA] = corrected.get(question_id, strict)
    return Question(
        id=question_id,
        text=asked.question,
        type=own,
        date=None,
        gold=_sources(strict, granularity),
        # Category 5 cites evidence too: its questions are scored like any other, and kept apart.
        answerable=True,
        groups=("all", *other, own) if other else (own,),
        group_gold={group: _sources(turn_ids, granularity) for group, turn_ids in other.items()},
    )


def _documents(session: _Session, granularity: Granularity, captions: bool, dates: bool) -> list[Document]:
    head = f"{session.date}\n" if dates else ""
    lines = {turn.dia_id: _line(turn, captions) for turn in session.turns}
    if granularity == "turn":
        return [Document(dia_id, head + line) for dia_id, line in lines.items()]
    return [Document(f"D{session.number}", head + "\n".join(lines.values()))]


def _line(turn: Turn, captions: bool) -> str:
    image = f" [image: {turn.blip_caption}]" if captions and turn.blip_caption else ""
    return f"{turn.speaker}: {turn.text}{image}"


def _sources(turn_ids: Sequence[str], granularity: Granularity) -> tuple[str, ...]:
    if granularity == "turn":
        return tuple(turn_ids)
    return tuple(dict.fromkeys(turn_id.partition(":")[0] for turn_id in turn_ids))


def _counted(asked: Sequence[Asked], known: Collection[str]) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    cited_before = {cited for question in asked if question.category != 5 for cited in [tuple(question.evidence)]}
    for question in asked:
        official = "_in_1_to_4" if question.category in DEFAULT_CATEGORIES else "_in_5"
        strict, repaired = strict_evidence(question.evidence, known), repaired_evidence(question.evidence, known)
        counts["questions"] += 1
        counts[f"category_{question.category}"] += 1
        counts[f"strict_evidence{official}"] += bool(strict)
        counts[f"repaired_evidence{official}"] += bool(repaired)
        counts["evidence_empty"] += not question.evidence
        counts["evidence_irregular"] += bool(question.evidence) and not strict
        counts["evidence_unresolvable"] += bool(question.evidence) and not repaired
        counts["evidence_with_a_duplicate"] += len(set(question.evidence)) < len(question.evidence)
        counts["adversarial_with_the_evidence_of_another"] += (
            question.category == 5 and tuple(question.evidence) in cited_before
        )
    texts = Counter(question.question for question in asked)
    counts["repeated_question_texts"] = sum(count - 1 for count in texts.values())
    return counts


def _errata_counted(errata: Errata, corpora: Sequence[Corpus]) -> Mapping[str, int]:
    """Count the entries, and of these the ones whose question is in `all-errata`."""
    scored = [question.id for corpus in corpora for question in corpus.questions if ERRATA in question.groups]
    return {
        "errata_entries": len(errata.entries),
        "errata_applied": sum(question_id in errata.entries for question_id in scored),
    }


def _group(category: int) -> str:
    return f"category-{category}"
