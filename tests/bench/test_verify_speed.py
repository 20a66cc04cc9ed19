"""How long it takes to verify 100,000 score rows, of either kind. Run by `nox -s perf`; prints the times."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from smriti.receipts.verify import verify
from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.score.bench import planned_cases
from smriti.score.retrieval import RetrievalScoring
from smriti.types import Question, QuestionEvidence, ReturnedHit, Status
from tests.strategies import evidence, manifest
from tests.suites.retrieval.fakes import corpus, plan, question

ROWS = 100_000
LIMIT_S = 10.0
"""Processor time: what it takes on a machine that does nothing else."""
ENDINGS: tuple[Status, ...] = ("passed", "passed", "passed", "failed", "failed", "agent_timeout", "forget_failed")


def test_100_000_score_rows_of_trials_are_verified_within_10_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """50 tasks × off, on, ablate:all and file × 500 trials, every figure recomputed."""
    made = manifest([f"task-{number:02}" for number in range(50)], ["off", "on", "ablate:all", "file"], 500)
    digest = manifest_digest(made)
    chance = random.Random(0)
    with without_syncing(monkeypatch), closing(ReceiptWriter.create(tmp_path / "receipt", made)) as receipt:
        transcript, diff, output = (receipt.keep(kind, b"alike") for kind in ("transcripts", "diffs", "checks"))
        for case in planned_cases(made):
            status = chance.choice(ENDINGS)
            row = evidence(
                case.task_id,
                case.condition,
                case.trial,
                order=case.order,
                status=status,
                tokens=chance.choice([None, chance.randrange(100_000)]),
                transcript_sha256=transcript,
                diff_sha256=diff,
                manifest_sha256=digest,
            )
            receipt.append([row.model_copy(update={"check_output_sha256": row.check_output_sha256 and output})])
        receipt.seal()
    assert len(planned_cases(made)) == ROWS
    assert verified(tmp_path / "receipt") <= LIMIT_S


def test_100_000_score_rows_of_questions_are_verified_within_10_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """50 systems × 2,000 questions, as many as LoCoMo has, of five types, ten hits listed of each; every figure anew.

    With fewer systems the same rows take longer, since more questions are drawn again: 2 × 50,000 some 2 s more.
    """
    names = [f"source-{number}" for number in range(50)]
    chance = random.Random(0)
    corpora = [
        corpus(
            f"c{at}", *(asked(f"c{at}/q{number}", chance.sample(names, 2)) for number in range(100)), documents=names
        )
        for at in range(20)
    ]
    questions = {question.id: question for corpus in corpora for question in corpus.questions}
    made = plan([f"system-{number}" for number in range(50)], corpora, (5, 10))
    digest = manifest_digest(made)
    with without_syncing(monkeypatch), closing(ReceiptWriter.create(tmp_path / "receipt", made)) as receipt:
        for case in RetrievalScoring(made).plan():
            ranked = chance.sample(names, len(names))
            question = questions[case.question]
            row = QuestionEvidence(
                case=case.id,
                run_id=made.run_id,
                manifest_sha256=digest,
                order=case.order,
                system=case.system,
                corpus=case.corpus,
                question=question.id,
                type=question.type,
                groups=question.groups,
                answerable=True,
                documents=len(names),
                gold=question.gold,
                group_gold={},
                hits=tuple(
                    ReturnedHit(id=f"m{at}", source_ids=(source,), score=50.0 - at, content_sha256="7" * 64)
                    for at, source in enumerate(ranked[:10])
                ),
                returned=len(ranked),
                gold_ranks={source: ranked.index(source) + 1 for source in sorted(question.gold)},
                ingest_ms=10.0,
                query_ms=chance.random(),
                fault=None,
            )
            receipt.append([row])
        receipt.seal()
    assert made.planned == ROWS
    assert verified(tmp_path / "receipt") <= LIMIT_S


def asked(name: str, gold: list[str]) -> Question:
    kind = f"type-{int(name.rpartition('q')[2]) % 5}"
    return question(name, gold, type=kind, groups=("all", kind))


@contextmanager
def without_syncing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let rows be written as fast as they are made: how they come to the disk is not what is measured."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        yield


def verified(receipt: Path) -> float:
    """Verify a receipt, and return the processor time of the thread that did it, in seconds."""
    started = time.thread_time()
    verdict = verify(receipt)
    took_s = time.thread_time() - started
    print(f"\n{ROWS} score rows of {receipt.parent.name} verified in {took_s:.1f} s")  # noqa: T201  # what the session is run for
    assert verdict.state == "verified", verdict.checks
    return took_s
