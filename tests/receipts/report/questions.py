"""Receipts of a retrieval suite, made through the writer from synthetic evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.types import (
    AskFault,
    CodeIdentity,
    CorpusPlan,
    QuestionEvidence,
    QuestionRecord,
    RetrievalConfig,
    RetrievalManifest,
    ReturnedHit,
    SystemIdentity,
)

QUESTIONS: dict[str, tuple[str, ...]] = {
    "q1": ("d1",),
    "q2": ("d2", "d3"),
    "q3": ("d4",),
    "q4": ("d5",),
    "q5": (),
}
"""Question → gold; q5 has no answer."""
TYPES = {"q1": "fact", "q2": "several", "q3": "fact", "q4": "several", "q5": "none"}
DOCUMENTS = [f"d{number}" for number in range(10)]
RANKED: dict[str, Sequence[str]] = {
    "grep/q1": ["d1", "d2", "d3"],
    "grep/q2": ["d2", "d9", "d3"],
    "grep/q3": ["d9", "d8", "d7"],
    "bm25/q1": ["d9", "d1", "d2"],
    "bm25/q2": ["d3", "d2", "d1"],
    "bm25/q3": ["d4", "d5", "d6"],
}
"""What is not named here returned nothing."""
FAILED = "grep/q4"


def retrieval_manifest(**fields: Any) -> RetrievalManifest:
    """Make the manifest of a run of two systems over three cutoffs."""
    systems = fields.pop("memory", ("grep", "bm25"))
    cutoffs = fields.pop("k", (1, 2, 3))
    stated: dict[str, Any] = {
        "suite": "coding-life",
        "evidence_class": "development",
        "run_id": "20250101t000000-abc123",
        "config": RetrievalConfig(memory=systems, k=cutoffs, options={}),
        "code": CodeIdentity(version="0", commit="c" * 40, dirty=True, sha256="0" * 64),
        "packages": {"pydantic": "2.9"},
        "systems": tuple(SystemIdentity(name=name, version="1") for name in systems),
        "artifacts": {},
        "engine": "processes",
        "datasets": {"notes": "5" * 64},
        "selection": {"selected": 5, "of": 5},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {"system": "Linux"},
        "planned": len(QUESTIONS) * len(systems),
        "started": "2025-01-01T00:00:00+00:00",
        "counts": {"questions": len(QUESTIONS)},
        "notes": (),
        "labels": {"several": "several sources"},
        "corpora": (CorpusPlan(id="life", documents=len(DOCUMENTS), questions=tuple(QUESTIONS)),),
    }
    return RetrievalManifest(**{**stated, **fields})


def evidence_of(manifest: RetrievalManifest, system: str, question: str, order: int) -> QuestionEvidence:
    """Make the evidence of one question."""
    case = f"{system}/{question}"
    gold = QUESTIONS[question]
    ranked = RANKED.get(case, [])
    fault = AskFault(phase="query", message="its index | is\n<b>gone</b>") if case == FAILED else None
    return QuestionEvidence(
        case=case,
        run_id=manifest.run_id,
        manifest_sha256=manifest_digest(manifest),
        order=order,
        system=system,
        corpus="life",
        question=question,
        type=TYPES[question],
        groups=("all", TYPES[question]),
        answerable=bool(gold),
        documents=len(DOCUMENTS),
        gold=gold,
        group_gold={},
        hits=tuple(
            ReturnedHit(id=f"{system}-{name}", source_ids=(name,), score=1.0, content_sha256="6" * 64)
            for name in ranked
        ),
        returned=len(ranked),
        gold_ranks={name: rank for rank, name in enumerate(ranked, 1) if name in gold},
        ingest_ms=2.0,
        query_ms=None if fault else 1.0 + order,
        fault=fault,
    )


def write(directory: Path, made: RetrievalManifest | None = None) -> Path:
    """Write a receipt and seal it."""
    made = made or retrieval_manifest()
    receipt: ReceiptWriter[RetrievalManifest, QuestionEvidence, QuestionRecord] = ReceiptWriter.create(directory, made)
    cells = [(system, question) for system in made.config.memory for question in QUESTIONS]
    for order, (system, question) in enumerate(cells):
        receipt.append([evidence_of(made, system, question, order)])
    receipt.seal()
    receipt.close()
    return directory
