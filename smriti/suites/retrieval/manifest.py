"""State what a run of a retrieval suite is about to do, before it does anything."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from smriti.errors import UsageError
from smriti.protocols import MemorySystem
from smriti.receipts.fingerprint import code_identity, host, installed_packages
from smriti.suites.identity import identity_of
from smriti.types import (
    CodeIdentity,
    Corpus,
    CorpusPlan,
    DatasetReading,
    EvidenceClass,
    Question,
    RetrievalConfig,
    RetrievalManifest,
    RetrievalSuite,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The corpora of a run with the questions to be asked of each, and of how many questions they are."""

    corpora: tuple[Corpus, ...]
    selected: int
    of: int


def select(corpora: Sequence[Corpus], stratify: int | None, limit: int | None) -> Chosen:
    """Take the first `stratify` questions of each type, types in sorted order, and the first `limit` of those.

    None takes all. Corpora come in the order in which their first question is taken.
    """
    questions = [(corpus, question) for corpus in corpora for question in corpus.questions]
    taken = questions if stratify is None else _stratified(questions, stratify)
    taken = taken[:limit]
    by_corpus: dict[str, tuple[Corpus, list[Question]]] = {}
    for corpus, question in taken:
        by_corpus.setdefault(corpus.id, (corpus, []))[1].append(question)
    chosen = tuple(Corpus(corpus.id, corpus.documents, tuple(asked)) for corpus, asked in by_corpus.values())
    return Chosen(chosen, len(taken), len(questions))


def _stratified(questions: Sequence[tuple[Corpus, Question]], each: int) -> list[tuple[Corpus, Question]]:
    by_type: dict[str, list[tuple[Corpus, Question]]] = {}
    for corpus, question in questions:
        by_type.setdefault(question.type, []).append((corpus, question))
    return [pair for _, pairs in sorted(by_type.items()) for pair in pairs[:each]]


def retrieval_manifest(
    suite: RetrievalSuite,
    config: RetrievalConfig,
    chosen: Chosen,
    reading: DatasetReading,
    *,
    systems: Sequence[MemorySystem],
    datasets: Mapping[str, str],
    whole: bool,
    artifacts: Mapping[str, str],
    engine: str,
    jobs: int,
) -> RetrievalManifest:
    """Describe the run as it would start now; UsageError where there is no question to ask.

    `whole` says that the data set is a pinned one, and that the options leave nothing of it out.
    """
    if not chosen.selected:
        raise UsageError("no question is selected; give a larger --limit or other categories")
    now = datetime.now(UTC)
    code = code_identity()
    of = max(chosen.of, reading.counts.get("questions", 0))  # what the options left unread is of the set, too
    return RetrievalManifest(
        suite=suite,
        evidence_class=_evidence_class(code, config, whole=whole and chosen.selected == of),
        run_id=f"{now:%Y%m%dt%H%M%S}-{secrets.token_hex(3)}",
        config=config,
        code=code,
        packages=installed_packages(),
        systems=tuple(map(identity_of, systems)),
        artifacts=dict(artifacts),
        engine=engine,
        datasets=dict(datasets),
        selection={
            "stratify": config.stratify,
            "limit": config.limit,
            "selected": chosen.selected,
            "of": of,
        },
        seed=0,
        sandbox="none",
        jobs=jobs,
        host=host(),
        planned=len(config.memory) * chosen.selected,
        started=now.isoformat(timespec="seconds"),
        counts=dict(reading.counts),
        notes=reading.flags,
        labels=dict(reading.labels),
        corpora=tuple(
            CorpusPlan(
                id=corpus.id,
                documents=len(corpus.documents),
                questions=tuple(question.id for question in corpus.questions),
            )
            for corpus in chosen.corpora
        ),
    )


def _evidence_class(code: CodeIdentity, config: RetrievalConfig, *, whole: bool) -> EvidenceClass:
    # A selection that happens to take in all of the set is one all the same, and may order it otherwise.
    complete = whole and config.stratify is config.limit is None
    return "component" if complete and code.commit and code.dirty is False else "development"
