"""Receipts that a claim can be made from, unless a test takes something away: synthetic, through the writer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from smriti.datasets.lock import pin_of
from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.score.bench import planned_cases
from smriti.score.retrieval import RetrievalScoring
from smriti.types import (
    BenchConfig,
    BenchManifest,
    CodeIdentity,
    Corpus,
    CorpusPlan,
    Document,
    Question,
    QuestionCase,
    QuestionEvidence,
    RetrievalConfig,
    RetrievalManifest,
    ReturnedHit,
    Status,
    SystemIdentity,
    TrialCase,
)
from tests.strategies import evidence, manifest

CLEAN = CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64)
BASELINES = ("off", "on", "placebo", "file")

Ending = Callable[[TrialCase], Status]


def with_memory_alone(case: TrialCase) -> Status:
    """Under on the agent passes, and else it fails."""
    return "passed" if case.condition == "on" else "failed"


def bench_manifest(
    tasks: int = 12, trials: int = 3, conditions: Sequence[str] = ("off", "on"), **fields: Any
) -> BenchManifest:
    """Describe a measured run of `tasks` tasks."""
    config = BenchConfig(
        memory="mine", agent="coder", conditions=tuple(conditions), trials=trials, timeout_s=60, seed=0
    )
    stated: dict[str, Any] = {
        "evidence_class": "measured",
        "code": CLEAN,
        "config": config,
        "systems": (SystemIdentity(name="mine", version="1"),),
        "agents": (SystemIdentity(name="coder", version="2"),),
        "sandbox": "bubblewrap",
        "selection": {"ids": [], "split": "all", "selected": tasks, "of": tasks},
    }
    return manifest([f"t{number:02}" for number in range(tasks)], list(conditions), trials, **{**stated, **fields})


def bench(
    directory: Path,
    made: BenchManifest | None = None,
    ending: Ending = with_memory_alone,
    *,
    sealed: bool = True,
    injected: Callable[[TrialCase], tuple[str, ...] | None] = lambda _: None,
) -> Path:
    """Write a receipt of the bench in which each trial ends as `ending` says."""
    receipt: Any = ReceiptWriter.create(directory, made or bench_manifest())
    rows = []
    with closing(receipt):
        for case in planned_cases(receipt.manifest):
            row = evidence(
                case.task_id,
                case.condition,
                case.trial,
                run_id=receipt.manifest.run_id,
                order=case.order,
                status=ending(case),
                injected=injected(case),
                manifest_sha256=manifest_digest(receipt.manifest),
            )
            kept = {
                f"{name}_sha256": receipt.keep(kind, kind.encode())
                for name, kind in (("transcript", "transcripts"), ("diff", "diffs"), ("check_output", "checks"))
                if getattr(row, f"{name}_sha256")
            }
            rows.append(row.model_copy(update=kept))
        receipt.append(rows)  # all at once: it is the disk that takes time
        if sealed:
            receipt.seal()
    return directory


def corpora() -> tuple[Corpus, ...]:
    """Two corpora of four documents, with three questions each, one of which has no answer."""
    return tuple(
        Corpus(
            name,
            tuple(Document(f"{name}{number}", f"text {number}") for number in range(4)),
            (
                Question(f"{name}-q1", "?", "fact", None, (f"{name}0",), True, ("all", "fact")),
                Question(f"{name}-q2", "?", "hard", None, (f"{name}1", f"{name}2"), True, ("all", "hard")),
                Question(f"{name}-q3", "?", "trick", None, (), False, ("all",)),
            ),
        )
        for name in ("a", "b")
    )


def retrieval_manifest(memory: Sequence[str] = ("first", "second"), **fields: Any) -> RetrievalManifest:
    """Describe a component run over `corpora()`."""
    plans = tuple(
        CorpusPlan(id=corpus.id, documents=4, questions=tuple(question.id for question in corpus.questions))
        for corpus in corpora()
    )
    stated: dict[str, Any] = {
        "suite": "locomo",
        "evidence_class": "component",
        "run_id": "retrieval-run",
        "config": RetrievalConfig(memory=tuple(memory), k=(1, 2), options={}),
        "code": CLEAN,
        "packages": {},
        "systems": tuple(SystemIdentity(name=name, version="1") for name in memory),
        "artifacts": {},
        "engine": "processes",
        "datasets": {"locomo10": pin_of("locomo10").sha256},
        "selection": {"stratify": None, "limit": None, "selected": 6, "of": 6},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": len(memory) * 6,
        "started": "2026-01-01T00:00:00+00:00",
        "counts": {},
        "notes": (),
        "labels": {"fact": "plain facts"},
        "corpora": plans,
    }
    return RetrievalManifest(**{**stated, **fields})


def question_evidence(made: RetrievalManifest, case: QuestionCase, **fields: Any) -> QuestionEvidence:
    """Make the evidence of a system that brings back the first gold source and nothing else."""
    corpus = next(corpus for corpus in corpora() if corpus.id == case.corpus)
    question = next(question for question in corpus.questions if question.id == case.question)
    hits = tuple(
        ReturnedHit(id=f"m-{source}", source_ids=(source,), score=1.0, content_sha256="6" * 64)
        for source in question.gold[:1]
    )
    stated: dict[str, Any] = {
        "case": case.id,
        "run_id": made.run_id,
        "manifest_sha256": manifest_digest(made),
        "order": case.order,
        "system": case.system,
        "corpus": case.corpus,
        "question": case.question,
        "type": question.type,
        "groups": question.groups,
        "answerable": question.answerable,
        "documents": 4,
        "gold": question.gold,
        "group_gold": {},
        "hits": hits,
        "returned": len(hits),
        "gold_ranks": dict.fromkeys(question.gold[:1], 1),
        "ingest_ms": 1.0,
        "query_ms": 1.0,
        "fault": None,
    }
    return QuestionEvidence(**{**stated, **fields})


def retrieval(directory: Path, made: RetrievalManifest | None = None) -> Path:
    """Write a receipt of a retrieval suite."""
    made = made or retrieval_manifest()
    receipt: Any = ReceiptWriter.create(directory, made)
    with closing(receipt):
        receipt.append([question_evidence(made, case) for case in RetrievalScoring(made).plan()])
        receipt.seal()
    return directory
