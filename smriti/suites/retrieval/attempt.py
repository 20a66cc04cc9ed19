"""One corpus, remembered by each system in a store of its own, and the questions that are asked of it."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Any

from smriti.engine.processes import ToldToEnd
from smriti.metrics.ranking import distinct
from smriti.protocols import MemorySystem, Store
from smriti.receipts.redact import redact_secrets
from smriti.suites.adapter import shown, told, workspace
from smriti.suites.text import is_text
from smriti.types import (
    AskFault,
    AskPhase,
    Document,
    Hit,
    Memory,
    ReturnedHit,
)

_LONGEST_MESSAGE = 1000
_LONGEST_ID = 500
_A_HIT = "a Hit with an id, a text, a finite score and a tuple of sources of this corpus"


@dataclass(frozen=True, slots=True)
class Asked:
    """All that is told of a question where a memory system runs: neither gold evidence, type nor answer goes there."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A corpus, a system, and the questions that are still to be put to it."""

    corpus: str
    documents: Sequence[Document]
    system: str
    questions: tuple[Asked, ...]
    own: bool
    """The system comes with smriti. Any other is sent the documents, since a file that it read has more in it."""

    def __reduce__(self) -> tuple[type[Step], tuple[object, ...]]:
        documents = self.documents if self.own else tuple(self.documents)
        return Step, (self.corpus, documents, self.system, self.questions, self.own)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one question, or why nothing did."""

    question: str
    hits: tuple[ReturnedHit, ...] = ()
    """The first, as far as the largest k reaches."""
    returned: int = 0
    ranked: tuple[str, ...] = ()
    """The distinct sources of all that was returned, in rank order."""
    query_ms: float | None = None
    fault: AskFault | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What one step brought."""

    corpus: str
    system: str
    ingest_ms: float | None
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Attempts:
    """What attempts steps, pickled, in another process: no gold evidence is where a memory system runs."""

    widest: int
    """The largest k: hits are listed up to so many distinct sources."""
    load: Callable[[str], MemorySystem]

    def __call__(self, step: Step) -> Answers:
        """Attempt the questions of one step, in order."""
        attempt = _Attempt(step, self.widest)
        answers = attempt.ask(self.load)
        return Answers(step.corpus, step.system, attempt.ingest_ms, tuple(answers))


def lost(step: Step) -> Answers:
    """Return what a step brought that ended its process: a failure for each of its questions."""
    fault = AskFault(phase="process", message="the process that it ran in ended by itself, or ran out of memory")
    return Answers(step.corpus, step.system, None, tuple(Answer(asked.id, fault=fault) for asked in step.questions))


_ID, _CONTENT, _SCORE, _SOURCES = map(attrgetter, ("id", "content", "score", "source_ids"))
_HIT, _TUPLE, _STR = frozenset({Hit}), frozenset({tuple}), frozenset({str})


class _Failed(Exception):  # noqa: N818  # it never leaves this module
    """The system failed in one phase; the message is fit for a receipt."""

    def __init__(self, phase: AskPhase, message: str) -> None:
        super().__init__(message)
        text = " ".join(redact_secrets(message).split())
        self.fault = AskFault(phase=phase, message=text[:_LONGEST_MESSAGE])


class _Attempt:
    """One system on one corpus."""

    def __init__(self, step: Step, widest: int) -> None:
        self._step = step
        self._widest = widest
        self._documents = tuple(step.documents)
        self._sources = frozenset(document.source_id for document in self._documents)
        self._realm = f"project:smriti-{step.corpus}"
        self.ingest_ms: float | None = None

    def ask(self, load: Callable[[str], MemorySystem]) -> list[Answer]:
        """Return an answer for each question; a system that fails before or after them has failed all."""
        with workspace() as folder:
            try:
                with self._opened(load, folder) as store:
                    self._ingest(store)
                    return [self._answer(store, asked) for asked in self._step.questions]
            except _Failed as failed:
                return [Answer(asked.id, fault=failed.fault) for asked in self._step.questions]

    @contextlib.contextmanager
    def _opened(self, load: Callable[[str], MemorySystem], workspace: Path) -> Iterator[Store]:
        with _phase("init"):
            store = load(self._step.system).open(workspace)
        try:
            yield store
        except BaseException:
            with contextlib.suppress(_Failed), _phase("teardown"):  # what is raised already is the cause
                store.close()
            raise
        with _phase("teardown"):
            store.close()

    def _ingest(self, store: Store) -> None:
        # A session may be empty, and nothing is not something to be remembered.
        memories = [
            Memory(content=document.content, type="episode", role="convention", source_id=document.source_id)
            for document in self._documents
            if document.content.strip()
        ]
        begun = time.perf_counter()
        with _phase("ingest"):
            ids = store.remember(memories, self._realm)
            self.ingest_ms = _ms_since(begun)
            if not isinstance(ids, list) or not all(isinstance(id_, str) for id_ in ids):
                raise _Failed("ingest", f"remember gave {shown(ids)}, expected a list of ids")
            if not len(set(ids)) == len(ids) == len(memories):
                found = f"{len(ids)} ids, {len(set(ids))} of them different,"
                raise _Failed("ingest", f"remember gave {found} for {len(memories)} memories")

    def _answer(self, store: Store, asked: Asked) -> Answer:
        most = len(self._documents)
        begun = time.perf_counter()
        try:
            with _phase("query"):
                hits = store.search(asked.text, self._realm, most)
                query_ms = _ms_since(begun)
                ranked = self._ranked(hits, most)
                listed = tuple(map(_returned, _listed(hits, self._widest)))
        except _Failed as failed:
            return Answer(asked.id, fault=failed.fault)
        return Answer(asked.id, hits=listed, returned=len(hits), ranked=tuple(ranked), query_ms=query_ms)

    def _ranked(self, hits: object, most: int) -> list[str]:
        """Return the distinct sources of the hits in rank order; _Failed for anything but what `search` promises."""
        if type(hits) is not list:  # a subclass may say anything of its length
            raise _Failed("query", f"search gave {type(hits).__name__}, expected a list of hits")
        if len(hits) > most:
            raise _Failed("query", f"search gave {len(hits)} hits, expected at most {most}")
        if not self._sound(hits):
            strange = next(hit for hit in hits if not self._sound([hit]))
            raise _Failed("query", f"search gave {_shown_hit(strange)}, expected {_A_HIT}")
        return distinct(itertools.chain.from_iterable(map(_SOURCES, hits)))

    def _sound(self, hits: list[Any]) -> bool:
        """Tell whether all of `hits` are what `search` promises: all at once, since a run has millions of them."""
        try:
            return (
                _HIT.issuperset(map(type, hits))
                and _TUPLE.issuperset(map(type, map(_SOURCES, hits)))
                and _STR.issuperset(map(type, itertools.chain.from_iterable(map(_SOURCES, hits))))
                and self._sources.issuperset(itertools.chain.from_iterable(map(_SOURCES, hits)))
                and all(map(isfinite, map(_SCORE, hits)))
                and _STR.issuperset(map(type, map(_CONTENT, hits)))
                and _STR.issuperset(map(type, map(_ID, hits)))
                and is_text("".join(map(_ID, hits)))
                and max(map(len, map(_ID, hits)), default=0) <= _LONGEST_ID
            )
        except (TypeError, ValueError, OverflowError, AttributeError):
            return False  # a score that is no number or too large for one, a source or an id that is no name, or none


@contextlib.contextmanager
def _phase(phase: AskPhase) -> Iterator[None]:
    """Turn whatever comes out of a memory system into the failure of `phase`, but for being told to end."""
    try:
        yield
    except (_Failed, ToldToEnd):
        raise
    except BaseException as error:
        raise _Failed(phase, told(error)) from error


def _shown_hit(value: object) -> str:
    """Show a hit without its text, which may be anybody's, and of anything else no more than what it is."""
    return shown(value._replace(content="…")) if isinstance(value, Hit) else type(value).__name__


def _listed(hits: Sequence[Hit], widest: int) -> Iterator[Hit]:
    """Yield the first hits, until they are of `widest` distinct sources."""
    seen: set[str] = set()
    for hit in hits:
        if len(seen) >= widest:
            return
        seen.update(hit.source_ids)
        yield hit


def _returned(hit: Hit) -> ReturnedHit:
    digest = hashlib.sha256(hit.content.encode("utf-8", "surrogatepass")).hexdigest()
    return ReturnedHit(id=hit.id, source_ids=hit.source_ids, score=float(hit.score), content_sha256=digest)


def _ms_since(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
