"""Sealed receipts to be compared: of the bench from a table of outcomes, of a retrieval suite from ranks."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.score.bench import planned_cases
from smriti.types import (
    AskFault,
    BenchManifest,
    CodeIdentity,
    CorpusPlan,
    QuestionEvidence,
    RetrievalConfig,
    RetrievalManifest,
    ReturnedHit,
    Status,
    SystemIdentity,
    TrialEvidence,
)
from smriti.types.retrieval import QuestionCase
from tests.strategies import evidence, manifest

CODE = CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64)
_runs = itertools.count(1)

Ends = Callable[[int, str, int], Status]
"""Number of the task from 0, condition, trial from 1 → how it ends."""


def passes(shares: Mapping[str, float], tasks: int = 12) -> Ends:
    """Let the first tasks pass in all trials, of each condition the given share, and the others fail."""
    return lambda task, condition, _: "passed" if task < shares[condition] * tasks else "failed"


def bench_manifest(tasks: int = 12, trials: int = 3, **fields: Any) -> BenchManifest:
    """A manifest of a real agent's run over `tasks` tasks, under off and on unless `conditions` are given."""
    conditions = fields.pop("conditions", ["off", "on"])
    config = fields.pop("config", {})
    stated: dict[str, Any] = {
        "evidence_class": "measured",
        "run_id": f"run{next(_runs)}",
        "code": CODE,
        "selection": {"ids": [], "split": "all", "selected": tasks, "of": tasks},
        **fields,
    }
    made = manifest([f"task{number:02}" for number in range(tasks)], conditions, trials, **stated)
    return made.model_copy(update={"config": made.config.model_copy(update=config)})


def bench(
    directory: Path,
    ends: Ends,
    made: BenchManifest | None = None,
    tokens: Callable[[str], int | None] = lambda _: 100,
) -> SealedReceipt:
    """Write, seal and read a receipt of the bench in which each trial ended as `ends` says."""
    made = made or bench_manifest()
    numbers = {task.id: number for number, task in enumerate(made.tasks)}
    digests = {task.id: task.sha256 for task in made.tasks}
    rows: list[TrialEvidence] = []
    with closing(ReceiptWriter.create(directory, made)) as receipt:
        for case in planned_cases(made):
            status = ends(numbers[case.task_id], case.condition, case.trial)
            row = evidence(
                case.task_id,
                case.condition,
                case.trial,
                run_id=made.run_id,
                order=case.order,
                status=status,
                tokens=tokens(case.condition),
                manifest_sha256=manifest_digest(made),
                task_sha256=digests[case.task_id],
            )
            kept: dict[str, str] = {}
            if row.transcript_sha256:
                kept["transcript_sha256"] = receipt.keep("transcripts", b"said")
                kept["diff_sha256"] = receipt.keep("diffs", b"changed")
            if row.check_output_sha256:
                kept["check_output_sha256"] = receipt.keep("checks", b"checked")
            rows.append(row.model_copy(update=kept))
        receipt.append(rows)
        receipt.seal()
    return read_sealed(directory)


def retrieval_manifest(questions: int = 40, memory: Sequence[str] = ("grep",), **fields: Any) -> RetrievalManifest:
    """A manifest of a run of coding-life over one corpus with `questions` questions."""
    config = fields.pop("config", {})
    stated: dict[str, Any] = {
        "suite": "coding-life",
        "evidence_class": "component",
        "run_id": f"run{next(_runs)}",
        "config": RetrievalConfig(memory=tuple(memory), k=(5,), options={}).model_copy(update=config),
        "code": CODE,
        "packages": {},
        "systems": tuple(SystemIdentity(name=name, version="1") for name in memory),
        "artifacts": {},
        "engine": "processes",
        "datasets": {"coding-life": "7" * 64},
        "selection": {"stratify": None, "limit": None, "selected": questions, "of": questions},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": len(memory) * questions,
        "started": "2026-01-01T00:00:00+00:00",
        "counts": {},
        "notes": (),
        "labels": {},
        "corpora": (CorpusPlan(id="c", documents=20, questions=tuple(f"q{n:04}" for n in range(questions))),),
        **fields,
    }
    return RetrievalManifest(**stated)


Ranked = Callable[[str, int], int | None]
"""System, number of the question from 0 → rank of its one gold source from 1; None fails the attempt."""


def retrieval(directory: Path, ranked: Ranked, made: RetrievalManifest | None = None) -> SealedReceipt:
    """Write, seal and read a receipt in which each question found its evidence where `ranked` says; two types."""
    made = made or retrieval_manifest()
    with closing(ReceiptWriter.create(directory, made)) as receipt:
        cases = [
            (system, number, question)
            for corpus in made.corpora
            for system in made.config.memory
            for number, question in enumerate(corpus.questions)
        ]
        receipt.append(
            [
                _asked(made, QuestionCase(system, "c", question, order), number, ranked(system, number))
                for order, (system, number, question) in enumerate(cases)
            ]
        )
        receipt.seal()
    return read_sealed(directory)


def _asked(made: RetrievalManifest, case: QuestionCase, number: int, rank: int | None) -> QuestionEvidence:
    sources = [f"s{place}" for place in range(1, 21)]
    if rank is not None:
        sources.insert(rank - 1, "gold")
    kind = "even" if number % 2 == 0 else "odd"
    listed = sources[: min(20, max(made.config.k))]
    hits = () if rank is None else tuple(map(_hit, listed))
    return QuestionEvidence(
        case=case.id,
        run_id=made.run_id,
        manifest_sha256=manifest_digest(made),
        order=case.order,
        system=case.system,
        corpus=case.corpus,
        question=case.question,
        type=kind,
        groups=("all", kind, *(["all-repaired"] if made.labels else [])),
        answerable=True,
        documents=20,
        gold=("gold",),
        group_gold={},
        hits=hits,
        returned=0 if rank is None else 20,
        gold_ranks={"gold": rank} if rank is not None and rank <= 20 else {},
        ingest_ms=1.0,
        query_ms=None if rank is None else 1.0,
        fault=AskFault(phase="query", message="planted") if rank is None else None,
    )


def _hit(source: str) -> ReturnedHit:
    content_sha256 = hashlib.sha256(source.encode()).hexdigest()
    return ReturnedHit(id=source, source_ids=(source,), score=1.0, content_sha256=content_sha256)
