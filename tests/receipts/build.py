"""Receipts made through the writer from synthetic evidence: no agent, no memory system, every kind of ending."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import smriti
from smriti.receipts.writer import ReceiptWriter, manifest_digest, read_manifest
from smriti.score.bench import planned_cases
from smriti.types import (
    VERDICTS,
    BenchManifest,
    CodeIdentity,
    Status,
    TaskIdentity,
    TrialCase,
    TrialEvidence,
    TrialRecord,
)
from tests.strategies import evidence, manifest

BenchReceipt = ReceiptWriter[BenchManifest, TrialEvidence, TrialRecord]

FAMILIES: dict[str, Literal["convention", "exploration", "misleading"]] = {
    "alpha": "convention",
    "beta": "misleading",
    "gamma": "convention",
}
SKIPPED = "gamma"
ENDINGS: dict[str, Status] = {
    "alpha/off/t1": "failed",
    "alpha/off/t2": "agent_timeout",
    "beta/off/t1": "passed",
    "beta/on/t1": "failed",
    "beta/on/t2": "plant_failed",
}
"""What is not named here passed, and all of `SKIPPED` was skipped."""
CONTAMINATED = "alpha/on/t2"


def bench_manifest(directory: Path) -> BenchManifest:
    """Read the manifest of a receipt of the bench."""
    manifest = read_manifest(directory)
    assert isinstance(manifest, BenchManifest)
    return manifest


def a_manifest(**fields: Any) -> BenchManifest:
    """Make a manifest in which no field is empty that could hold something."""
    stated: dict[str, Any] = {
        "code": CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64),
        "packages": {"pydantic": "2.9"},
        "artifacts": {"embedded.whl": "4" * 64},
        "datasets": {"notes": "5" * 64},
        "selection": {"ids": [], "split": "all", "selected": 3, "of": 3},
        "host": {"system": "Linux", "cpus": 2},
        "tasks": tuple(
            TaskIdentity(id=task, version=1, family=family, split="visible", sha256="0" * 64)
            for task, family in FAMILIES.items()
        ),
    }
    made = manifest(list(FAMILIES), ["off", "on"], 2, evidence_class=fields.get("evidence_class", "rehearsal"))
    config = made.config.model_copy(update={"max_tokens": 1000})
    return made.model_copy(update={"config": config, **stated, **fields})


def evidence_of(receipt: BenchReceipt, case: TrialCase, **fields: Any) -> TrialEvidence:
    """Make the evidence of one trial, and keep what it names."""
    made = evidence(
        case.task_id,
        case.condition,
        case.trial,
        run_id=receipt.manifest.run_id,
        order=case.order,
        status="skipped" if case.task_id == SKIPPED else ENDINGS.get(case.id, "passed"),
        tokens=100 + 10 * case.order,
        injected=("somebody else's",) if case.id == CONTAMINATED else None,
        family=FAMILIES[case.task_id],
        manifest_sha256=manifest_digest(receipt.manifest),
    )
    kept: dict[str, Any] = {}
    if made.transcript_sha256:
        kept["transcript_sha256"] = receipt.keep("transcripts", f"{case.id} of {receipt.manifest.run_id}".encode())
        kept["diff_sha256"] = receipt.keep("diffs", f"diff of {case.task_id}".encode())
    if made.fault is None or made.fault.status in VERDICTS:
        kept["check_output_sha256"] = receipt.keep("checks", b"checked")
    return made.model_copy(update={**kept, **fields})


def append(receipt: BenchReceipt, rows: int | None = None) -> None:
    """Append the next `rows` trials that are not in the receipt yet; None is all of them."""
    done = {record.case for record in receipt.records}
    cases = [case for case in planned_cases(receipt.manifest) if case.id not in done]
    for case in cases[:rows]:
        receipt.append([evidence_of(receipt, case)])


def write(directory: Path, made: BenchManifest | None = None, *, rows: int | None = None) -> Path:
    """Write a receipt and seal it, or with `rows` leave it interrupted after that many trials."""
    receipt = ReceiptWriter.create(directory, made or a_manifest())
    append(receipt, rows)
    if rows is None:
        receipt.seal()
    receipt.close()
    return directory


def write_resumed(directory: Path, made: BenchManifest | None = None) -> Path:
    """Write a receipt that was interrupted twice and then sealed."""
    made = made or a_manifest()
    write(directory, made, rows=3)
    for rows in (2, None):
        receipt = ReceiptWriter.resume(directory, made)
        append(receipt, rows)
        if rows is None:
            receipt.seal()
        receipt.close()
    return directory


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in another Python that imports the smriti and the tests of this one."""
    root = Path(smriti.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
