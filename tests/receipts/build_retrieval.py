"""Receipts of a retrieval run, made through the writer from synthetic evidence that ends in every way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from smriti.metrics.ranking import distinct
from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.score.retrieval import RetrievalScoring
from smriti.types import (
    AskFault,
    AskPhase,
    Corpus,
    Question,
    QuestionCase,
    QuestionEvidence,
    QuestionRecord,
    RetrievalManifest,
    ReturnedHit,
)
from tests.suites.retrieval.fakes import NAMES, corpus, plan, question

RetrievalReceipt = ReceiptWriter[RetrievalManifest, QuestionEvidence, QuestionRecord]

K = (1, 3)
SYSTEMS = ("one", "two")
CORPORA: tuple[Corpus, ...] = (
    corpus(
        "c1",
        question("q1", ["a"]),
        question("q2", ["a", "b"], groups=("all", "fixed", "plain"), group_gold={"fixed": ("c",)}),
        question("q3", [], answerable=False, type="none", groups=("all", "none")),
        question("q4", []),
    ),
    corpus("c2", question("q5", ["h"]), question("q6", ["b", "d"], type="hard", groups=("all", "hard"))),
)
QUESTIONS: dict[str, Question] = {question.id: question for corpus in CORPORA for question in corpus.questions}

RETURNED: dict[str, list[list[str]] | AskPhase] = {
    "one/q1": [["a"], ["b"], ["c"], ["d"]],
    "one/q2": [["b"], [], ["a", "d"], ["c"]],
    "one/q3": [["a"]],
    "one/q4": [],
    "one/q5": [[name] for name in NAMES],
    "one/q6": [["a"], ["b"]],
    "two/q1": "query",
    "two/q2": [["d"], ["a"], ["e", "c"], ["b"]],
    "two/q3": "query",
    "two/q4": [["e"], ["e"]],
    "two/q5": "init",
    "two/q6": "init",
}
"""Case → the sources of each hit that was returned, or the phase that failed."""


def a_manifest(**fields: Any) -> RetrievalManifest:
    """Make a manifest in which no field is empty that could hold something."""
    stated: dict[str, Any] = {
        "packages": {"pydantic": "2.9"},
        "artifacts": {"two.py": "4" * 64},
        "host": {"system": "Linux", "cpus": 2},
        "counts": {"questions": 6},
        "notes": ("adversarial: category 5 is in `all`",),
        "labels": {"hard": "1 hard"},
    }
    return plan(SYSTEMS, CORPORA, K, **{**stated, **fields})


def evidence_of(manifest: RetrievalManifest, case: QuestionCase, **fields: Any) -> QuestionEvidence:
    """Make the evidence of one question, as an attempt leaves it."""
    asked, returned = QUESTIONS[case.question], RETURNED[case.id]
    ingest_ms = 10.0 + SYSTEMS.index(case.system) + 2 * (case.corpus == "c2")
    found = _failed(returned, ingest_ms) if isinstance(returned, str) else _found(returned, asked, case, ingest_ms)
    stated: dict[str, Any] = {
        "case": case.id,
        "run_id": manifest.run_id,
        "manifest_sha256": manifest_digest(manifest),
        "order": case.order,
        "system": case.system,
        "corpus": case.corpus,
        "question": asked.id,
        "type": asked.type,
        "groups": asked.groups,
        "answerable": asked.answerable,
        "documents": len(NAMES),
        "gold": asked.gold,
        "group_gold": dict(asked.group_gold),
    }
    return QuestionEvidence(**{**stated, **found, **fields})


def _failed(phase: AskPhase, ingest_ms: float) -> dict[str, Any]:
    return {
        "hits": (),
        "returned": 0,
        "gold_ranks": {},
        "ingest_ms": None if phase in {"init", "ingest", "process"} else ingest_ms,
        "query_ms": None,
        "fault": AskFault(phase=phase, message="broken"),
    }


def _found(returned: list[list[str]], asked: Question, case: QuestionCase, ingest_ms: float) -> dict[str, Any]:
    ranked = distinct(source for of in returned for source in of)
    listed = next((n for n in range(len(returned)) if len({s for of in returned[:n] for s in of}) >= K[-1]), None)
    gold = {*asked.gold, *(source for of in asked.group_gold.values() for source in of)}
    return {
        "hits": tuple(
            ReturnedHit(id=f"m{n}", source_ids=tuple(of), score=4.0 - n, content_sha256="7" * 64)
            for n, of in enumerate(returned[:listed])
        ),
        "returned": len(returned),
        "gold_ranks": {source: ranked.index(source) + 1 for source in sorted(gold.intersection(ranked))},
        "ingest_ms": ingest_ms,
        "query_ms": 0.5 + case.order * 0.25,
        "fault": None,
    }


def steps(manifest: RetrievalManifest, done: Sequence[str] = ()) -> list[list[QuestionEvidence]]:
    """Make the evidence of what is left, system by system and corpus by corpus."""
    left = [case for case in RetrievalScoring(manifest).plan() if case.id not in done]
    return [
        [evidence_of(manifest, case) for case in cases]
        for _, cases in groupby(left, lambda case: (case.corpus, case.system))
    ]


def append(receipt: RetrievalReceipt, count: int | None = None) -> None:
    """Append the next `count` steps of what is not in the receipt yet; None is all of them."""
    for rows in steps(receipt.manifest, [record.case for record in receipt.records])[:count]:
        receipt.append(rows)


def write(directory: Path, made: RetrievalManifest | None = None, *, count: int | None = None) -> Path:
    """Write a receipt and seal it, or with `count` leave it interrupted after that many steps."""
    receipt = ReceiptWriter.create(directory, made or a_manifest())
    append(receipt, count)
    if count is None:
        receipt.seal()
    receipt.close()
    return directory


def resume(directory: Path, made: RetrievalManifest | None = None) -> Path:
    """Take up an interrupted receipt, and seal it."""
    receipt = ReceiptWriter.resume(directory, made or a_manifest())
    append(receipt)
    receipt.seal()
    receipt.close()
    return directory


def write_resumed(directory: Path) -> Path:
    """Write a receipt that was interrupted once and then sealed."""
    return resume(write(directory, count=1))
