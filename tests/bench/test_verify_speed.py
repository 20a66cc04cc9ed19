"""How long it takes to verify 100,000 score rows. Run by `nox -s perf`; prints the time."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from smriti.receipts.verify import verify
from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.score.bench import planned_cases
from smriti.types import Status
from tests.strategies import evidence, manifest

ROWS = 100_000
LIMIT_S = 10.0
ENDINGS: tuple[Status, ...] = ("passed", "passed", "passed", "failed", "failed", "agent_timeout", "forget_failed")


def test_100_000_score_rows_are_verified_within_10_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processor time of one core: 50 tasks × off, on, ablate:all and file × 500 trials, every figure recomputed."""
    made = manifest([f"task-{number:02}" for number in range(50)], ["off", "on", "ablate:all", "file"], 500)
    digest = manifest_digest(made)
    chance = random.Random(0)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        receipt = ReceiptWriter.create(tmp_path / "receipt", made)
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
        receipt.close()
    started = time.process_time()
    verdict = verify(tmp_path / "receipt")
    took_s = time.process_time() - started
    print(f"\n{ROWS} score rows verified in {took_s:.1f} s")  # noqa: T201  # what the session is run for
    assert verdict.state == "verified", verdict.checks
    assert len(planned_cases(made)) == ROWS
    assert took_s <= LIMIT_S
