"""One corpus, remembered by each system in a store of its own, and the questions that are asked of it."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Any

from smriti.errors import MemorySystemError, UsageError
from smriti.metrics.ranking import distinct
from smriti.protocols import MemorySystem, Store
from smriti.receipts.redact import redact_secrets
from smriti.suites.text import is_text
from smriti.types import (
    AskFault,
    AskPhase,
    Corpus,
    Hit,
    Memory,
    Question,
    QuestionCase,
    QuestionEvidence,
    ReturnedHit,
)

_LONGEST_MESSAGE = 1000
_LONGEST_SHOWN = 300
_LONGEST_ID = 500
_A_HIT = "a Hit with an id, a text, a finite score and a tuple of sources of this corpus"


@dataclass(frozen=True, slots=True)
class Step:
    """A corpus, a system, and the cases of theirs that are still to be attempted."""

    corpus: Corpus
    system: str
    cases: tuple[QuestionCase, ...]


@dataclass(frozen=True)
class Attempts:
    """What attempts steps, in this process or, pickled, in another: nothing but what it holds is shared."""

    run_id: str
    manifest_sha256: str
    widest: int
    """The largest k: the evidence lists hits up to so many distinct sources."""
    load: Callable[[str], MemorySystem]

    def __call__(self, step: Step) -> list[QuestionEvidence]:
        """Attempt the cases of one step, in order; UsageError where its documents cannot be read any more."""
        attempt = _Attempt(self, step.corpus)
        answers = attempt.ask(self.load(step.system), [case.question for case in step.cases])
        return [attempt.evidence(case, answers[case.question]) for case in step.cases]


@dataclass(slots=True)
class _Answer:
    """What came back for one question, or why nothing did."""

    hits: tuple[ReturnedHit, ...] = ()
    returned: int = 0
    gold_ranks: dict[str, int] = field(default_factory=dict)
    query_ms: float | None = None
    fault: AskFault | None = None


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

    def __init__(self, setting: Attempts, corpus: Corpus) -> None:
        self._setting = setting
        self._corpus = corpus
        self._documents = tuple(corpus.documents)
        self._sources = frozenset(document.source_id for document in self._documents)
        self._questions = {question.id: question for question in corpus.questions}
        self._realm = f"project:smriti-{corpus.id}"
        self._ingest_ms: float | None = None

    def ask(self, system: MemorySystem, questions: Sequence[str]) -> dict[str, _Answer]:
        """Return an answer for each question; a system that fails before or after them has failed all."""
        answers: dict[str, _Answer] = {}
        with tempfile.TemporaryDirectory(prefix="smriti-store-", ignore_cleanup_errors=True) as workspace:
            try:
                with self._opened(system, Path(workspace)) as store:
                    self._ingest(store)
                    for question in questions:
                        answers[question] = self._answer(store, self._questions[question])
            except _Failed as failed:
                answers = {question: _Answer(fault=failed.fault) for question in questions}
        return answers

    def evidence(self, case: QuestionCase, answer: _Answer) -> QuestionEvidence:
        """Return what there is to say of one case."""
        question = self._questions[case.question]
        return QuestionEvidence(
            case=case.id,
            run_id=self._setting.run_id,
            manifest_sha256=self._setting.manifest_sha256,
            order=case.order,
            system=case.system,
            corpus=self._corpus.id,
            question=question.id,
            type=question.type,
            groups=question.groups,
            answerable=question.answerable,
            documents=len(self._documents),
            gold=question.gold,
            group_gold=dict(question.group_gold),
            hits=answer.hits,
            returned=answer.returned,
            gold_ranks=answer.gold_ranks,
            ingest_ms=self._ingest_ms,
            query_ms=answer.query_ms,
            fault=answer.fault,
        )

    @contextlib.contextmanager
    def _opened(self, system: MemorySystem, workspace: Path) -> Iterator[Store]:
        with _phase("init"):
            store = system.open(workspace)
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
            self._ingest_ms = _ms_since(begun)
            if not isinstance(ids, list) or not all(isinstance(id_, str) for id_ in ids):
                raise _Failed("ingest", f"remember gave {_shown(ids)}, expected a list of ids")
            if not len(set(ids)) == len(ids) == len(memories):
                found = f"{len(ids)} ids, {len(set(ids))} of them different,"
                raise _Failed("ingest", f"remember gave {found} for {len(memories)} memories")

    def _answer(self, store: Store, question: Question) -> _Answer:
        most = len(self._documents)
        begun = time.perf_counter()
        try:
            with _phase("query"):
                hits = store.search(question.text, self._realm, most)
                query_ms = _ms_since(begun)
                ranked = self._ranked(hits, most)
                listed = tuple(map(_returned, _listed(hits, self._setting.widest)))
        except _Failed as failed:
            return _Answer(fault=failed.fault)
        gold = set(question.gold).union(*question.group_gold.values())
        return _Answer(
            hits=listed,
            returned=len(hits),
            gold_ranks={source_id: ranked.index(source_id) + 1 for source_id in sorted(gold.intersection(ranked))},
            query_ms=query_ms,
        )

    def _ranked(self, hits: object, most: int) -> list[str]:
        """Return the distinct sources of the hits in rank order; _Failed for anything but what `search` promises."""
        if not isinstance(hits, list):
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
                and self._sources.issuperset(itertools.chain.from_iterable(map(_SOURCES, hits)))
                and all(map(isfinite, map(_SCORE, hits)))
                and _STR.issuperset(map(type, map(_CONTENT, hits)))
                and is_text("".join(map(_ID, hits)))
                and max(map(len, map(_ID, hits)), default=0) <= _LONGEST_ID
            )
        except (TypeError, ValueError, OverflowError, AttributeError):
            return False  # a score that is no number or too large for one, a source or an id that is no name, or none


@contextlib.contextmanager
def _phase(phase: AskPhase) -> Iterator[None]:
    """Turn whatever comes out of a memory system into the failure of `phase`; an interrupt is the user's."""
    try:
        yield
    except (_Failed, KeyboardInterrupt):
        raise
    except BaseException as error:
        said = "(its text cannot be had)"
        with contextlib.suppress(Exception):
            said = str(error)
        if not isinstance(error, MemorySystemError | UsageError) or not said:
            said = f"{type(error).__name__}: {said}"
        raise _Failed(phase, said) from error


def _shown(value: object) -> str:
    """Return the beginning of what stands for `value`; half a secret would be one that nothing can redact."""
    return redact_secrets(repr(value))[:_LONGEST_SHOWN]


def _shown_hit(value: object) -> str:
    """Show a hit without its text, which may be anybody's, and of anything else no more than what it is."""
    return _shown(value._replace(content="…")) if isinstance(value, Hit) else type(value).__name__


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
