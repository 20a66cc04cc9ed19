"""A synthetic LongMemEval of any size: the shape of the real file, its traps included, and none of its text.

Shape: counts by type and gold, turns, lengths, dates and marks are in the proportions that were measured on
longmemeval-s. The text is made of invented words with the frequencies of a language, so that retrieval is possible and
not trivial; what a system scores on it says nothing of what it would score on the real set.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from smriti.datasets.lock import Progress, namesake
from smriti.datasets.longmemeval import SYNTHETIC_PREFIX
from smriti.errors import UsageError

REAL_ROWS = 500


@dataclass(frozen=True, slots=True)
class Kind:
    """Rows of one question type and one number of gold sessions, and how many of the real 500 are such."""

    type: str
    gold: int
    rows: int
    answerable: bool = True


KINDS = (
    Kind("single-session-user", 1, 64),
    Kind("single-session-user", 1, 6, answerable=False),
    Kind("multi-session", 2, 75),
    Kind("multi-session", 3, 24),
    Kind("multi-session", 4, 16),
    Kind("multi-session", 5, 6),
    Kind("multi-session", 2, 9, answerable=False),
    Kind("multi-session", 3, 2, answerable=False),
    Kind("multi-session", 4, 1, answerable=False),
    Kind("single-session-preference", 1, 30),
    Kind("temporal-reasoning", 1, 20),
    Kind("temporal-reasoning", 2, 82),
    Kind("temporal-reasoning", 3, 15),
    Kind("temporal-reasoning", 4, 2),
    Kind("temporal-reasoning", 5, 5),
    Kind("temporal-reasoning", 6, 3),
    Kind("temporal-reasoning", 2, 6, answerable=False),
    Kind("knowledge-update", 2, 72),
    Kind("knowledge-update", 2, 6, answerable=False),
    Kind("single-session-assistant", 1, 56),
)
"""In the order of the real file, as far as it has one."""

TRAPS = {"listed twice": 13, "unsorted dates": 211, "dated after": 25, "empty or odd turns": 7, "number as answer": 32}
"""Trap → how many of the real 500 rows have it (of those with a session dated after the question: a guess)."""

UNMARKED = 32
"""How many of the real 470 answerable rows list a gold session in which no turn is marked."""


def write(path: Path, rows: int, seed: int = 0, progress: Progress | None = None) -> None:
    """Write a set of `rows` rows as the real file is written; the same bytes for the same rows and seed.

    UsageError where `rows` is not positive, and where `path` is there already, cannot be written, or bears the name of
    a pinned set.
    """
    if rows < 1:
        raise UsageError(f"{rows} rows cannot be made; expected at least 1")
    if (pin := namesake(path)) is not None:
        raise UsageError(f"file {str(path)!r} bears the name of {pin.name}, and a synthetic one must not; name another")
    try:
        with path.open("x", encoding="ascii", newline="\n") as file:
            try:
                _write(file, rows, seed, progress)
            except BaseException:  # an interrupt too: what is there is whole
                path.unlink()
                raise
    except FileExistsError as error:
        raise UsageError(f"file {str(path)!r} is there already; name another, or remove it") from error
    except OSError as error:
        raise UsageError(f"file {str(path)!r} cannot be written: {error.strerror}; name another with --out") from error


def _write(file: TextIO, rows: int, seed: int, progress: Progress | None) -> None:
    for number, row in enumerate(make_rows(rows, seed)):
        # The row stands alone in a list, whose brackets and line breaks are cut off again.
        file.write(("," if number else "[") + json.dumps([row], indent=4)[1:-2])
        if progress is not None:
            progress(number + 1, rows)
    file.write("\n]")


def make_rows(rows: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield `rows` rows in the names of the real file."""
    kinds = _apportioned(rows)
    places = {trap: _drawn(range(rows), real, REAL_ROWS, f"{seed}/{trap}") for trap, real in TRAPS.items()}
    marked = [number for number, kind in enumerate(kinds) if kind.answerable and kind.gold > 1]
    several = sum(kind.rows for kind in KINDS if kind.answerable and kind.gold > 1)
    places["unmarked gold"] = _drawn(marked, UNMARKED, several, f"{seed}/gold")
    for number, kind in enumerate(kinds):
        traps = frozenset(trap for trap, chosen in places.items() if number in chosen)
        yield _RowMaker(number, seed, kind, traps).row()


def _apportioned(rows: int) -> list[Kind]:
    """Give each kind its share of the rows, the largest remainders rounded up; no kind of question is left for last."""
    shares = [kind.rows * rows / REAL_ROWS for kind in KINDS]
    given = [int(share) for share in shares]
    by_remainder = sorted(range(len(KINDS)), key=lambda i: (given[i] - shares[i], i))
    for i in by_remainder[: rows - sum(given)]:
        given[i] += 1
    return [kind for kind, count in zip(KINDS, given, strict=True) for _ in range(count)]


def _drawn(among: Sequence[int], real: int, of: int, seed: str) -> frozenset[int]:
    """Choose the same share of `among` as the real file has, and at least one where there is any."""
    wanted = min(len(among), -(-real * len(among) // of))
    return frozenset(_chance(seed).sample(among, wanted))


def _chance(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311  # text, not secrets


# Text


@dataclass(frozen=True, slots=True)
class _Language:
    """Invented words, those of each topic, and ready-made sentences, by topic and of none."""

    rare: list[str]
    topics: list[list[str]]
    sentences: list[list[str]]
    general: list[str]


@lru_cache(maxsize=1)
def _language(seed: int) -> _Language:
    chance = _chance(f"{seed}/language")
    syllables = [
        first + vowel + last for first in "bdfgklmnprstvz" for vowel in "aeiou" for last in ("", "n", "r", "s")
    ]
    # The frequent words are short, as in any language.
    lengths = [1] * 1200 + [2] * 14_000 + [3] * 16_000
    words = list(dict.fromkeys("".join(chance.choices(syllables, k=length)) for length in lengths))
    common, rare = words[:12_000], words[12_000:]
    weights = list(itertools.accumulate(1 / (rank + 2.7) ** 0.95 for rank in range(len(common))))
    topics = [chance.sample(rare, 40) for _ in range(80)]

    def sentence(topic: Sequence[str]) -> str:
        chosen = chance.choices(common, cum_weights=weights, k=chance.randint(6, 18))
        for place in range(2, len(chosen), 4):
            chosen[place] = chance.choice(topic) if topic else chosen[place]
        return " ".join(chosen).capitalize() + chance.choice("...?!")

    sentences = [[sentence(topic) for _ in range(120)] for topic in topics]
    return _Language(rare, topics, sentences, [sentence(()) for _ in range(3000)])


class _RowMaker:
    """Makes one row, from its number, the seed and what is to be wrong with it."""

    def __init__(self, number: int, seed: int, kind: Kind, traps: frozenset[str]) -> None:
        self._number = number
        self._seed = seed
        self._kind = kind
        self._traps = traps
        self._chance = _chance(f"{seed}/{number}")
        self._language = _language(seed)
        self._topic = self._chance.randrange(len(self._language.topics))
        self._facts = self._chance.sample(self._language.rare, 2 + kind.gold)
        """Two words that the question is about, and one more for each gold session."""

    def row(self) -> dict[str, Any]:
        asked = datetime(2023, 5, 30, 23, 59, tzinfo=UTC) - timedelta(minutes=self._chance.randrange(90 * 1440))
        gold = [(self._gold_id(i), self._evidence(i)) for i in range(self._kind.gold)]
        others = [self._distractor() for _ in range(self._session_count() - len(gold))]
        if "empty or odd turns" in self._traps:
            others[0][1][:] = [] if self._number % 2 else [{"role": "user", "content": ""}, *others[0][1]]
        if "listed twice" in self._traps:
            others[-1] = others[1]
        sessions = gold + others
        self._chance.shuffle(sessions)
        return {
            "question_id": self._question_id(),
            "question_type": self._kind.type,
            "question": self._question(),
            "answer": self._chance.randrange(2, 60) if "number as answer" in self._traps else self._facts[2],
            "question_date": _written(asked),
            "haystack_dates": self._dates(asked, len(sessions)),
            "haystack_session_ids": [session_id for session_id, _ in sessions],
            "haystack_sessions": [turns for _, turns in sessions],
            "answer_session_ids": [session_id for session_id, _ in gold],
        }

    def _question_id(self) -> str:
        return f"{SYNTHETIC_PREFIX}{self._seed}_{self._number:05}{'' if self._kind.answerable else '_abs'}"

    def _gold_id(self, i: int) -> str:
        absent = "" if self._kind.answerable else "_abs"
        return f"answer_{self._seed:x}{self._number:07x}{absent}" + (f"_{i + 1}" if self._kind.gold > 1 else "")

    def _session_count(self) -> int:
        return min(62, max(38, round(self._chance.gauss(47.7, 3.5))))

    def _dates(self, asked: datetime, count: int) -> list[str]:
        before = sorted(asked - timedelta(minutes=self._chance.randrange(1, 120 * 1440)) for _ in range(count))
        if "unsorted dates" in self._traps:
            i = self._chance.randrange(count - 2)
            before[i], before[i + 1] = before[i + 1], before[i] - timedelta(days=1)
        if "dated after" in self._traps:
            before[-1] = asked + timedelta(minutes=self._chance.randrange(1, 3 * 1440))
        return [_written(date) for date in before]

    def _question(self) -> str:
        # Not every question has the words of its evidence: some can be told by their topic alone.
        about = [fact for fact in self._facts[:2] if self._chance.random() < 0.75]
        about += self._chance.choices(self._language.topics[self._topic], k=3)
        self._chance.shuffle(about)
        return f"What did I say about {' '.join(about)}?"

    def _evidence(self, i: int) -> list[dict[str, Any]]:
        turns = self._session(self._topic, self._chance.choice((10, 12, 12, 12)), pastes=False)
        marked = self._kind.answerable and not (i > 0 and "unmarked gold" in self._traps)
        by_user = self._kind.type != "single-session-assistant"
        places = range(0 if by_user else 1, len(turns), 2)
        place = self._chance.choice(places)
        # An abstention's sessions are near misses: the topic is there, what is asked for is not.
        fact = [self._facts[i % 2], self._facts[2 + i]] if self._kind.answerable else [self._facts[2 + i]]
        turns[place]["content"] += f" {' '.join(fact).capitalize()} {self._chance.choice(self._language.general)}"
        return [{**turn, "has_answer": marked and i == place} for i, turn in enumerate(turns)]

    def _distractor(self) -> tuple[str, list[dict[str, Any]]]:
        near = self._chance.random() < 0.1
        topic = self._topic if near else self._chance.randrange(len(self._language.topics))
        session_id, turns = self._chat(topic)
        if near and self._chance.random() < 0.3:
            said = self._chance.choice(turns)
            said["content"] += f" {self._facts[self._chance.randrange(2)].capitalize()}?"
        return session_id, turns

    def _chat(self, topic: int) -> tuple[str, list[dict[str, Any]]]:
        """Make a session of one of the three sources: generated chats, and two public sets with ways of their own."""
        name = f"{self._chance.getrandbits(32):08x}"
        draw = self._chance.random()
        if draw < 0.5:
            turns = self._session(topic, self._chance.choice((8, 10, 12, 12, 12, 12, 14)), pastes=False)
            return f"{name}_{self._chance.randint(1, 6)}", turns
        if draw < 0.75:
            turns = self._session(topic, self._chance.choice((2, 4, 6, 10, 12, 14)), pastes=False)
            return f"ultrachat_{self._chance.randrange(600_000)}{name[:2]}", turns
        turns = self._session(topic, self._chance.randint(2, 17), pastes=True)
        return f"sharegpt_{name}_{self._chance.randrange(140)}", turns[self._chance.random() < 0.25 : 16]

    def _session(self, topic: int, turns: int, *, pastes: bool) -> list[dict[str, Any]]:
        return [
            {"role": "assistant", "content": self._text(topic, self._assistant_length())}
            if number % 2
            else {"role": "user", "content": self._text(topic, self._user_length(pastes=pastes))}
            for number in range(turns)
        ]

    def _assistant_length(self) -> int:
        if self._chance.random() < 0.14:
            return self._chance.randrange(80, 900)
        return max(80, round(self._chance.gauss(2055, 700)))

    def _user_length(self, *, pastes: bool) -> int:
        if pastes and self._chance.random() < 0.03:
            return round(min(50_000, 3000 * self._chance.paretovariate(1.2)))
        return max(20, round(self._chance.lognormvariate(5.27, 0.45)))

    def _text(self, topic: int, length: int) -> str:
        count = length // 55 + 2
        own = self._language.sentences[topic]
        sentences = self._chance.choices(own, k=count - count // 3) + self._chance.choices(
            self._language.general, k=count // 3
        )
        self._chance.shuffle(sentences)
        return " ".join(sentences)[:length].rstrip()


def _written(date: datetime) -> str:
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[date.weekday()]
    return f"{date:%Y/%m/%d} ({day}) {date:%H:%M}"
