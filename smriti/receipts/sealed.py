"""A receipt that was verified, with everything in it at hand: what comparisons, claims and reports are made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smriti.errors import ReceiptError
from smriti.receipts.rows import read_lines
from smriti.receipts.verify import Verdict, verify
from smriti.receipts.writer import SCORES, SUMMARY, read_file, read_manifest
from smriti.score import scoring_of
from smriti.types import BenchManifest, LifecycleManifest, RetrievalManifest, Summary


@dataclass(frozen=True, slots=True)
class SealedReceipt:
    """One verified receipt."""

    directory: Path
    sha256: str
    """Of summary.json, which names the digests of all other files: it stands for the whole receipt."""
    manifest: BenchManifest | RetrievalManifest
    records: Sequence[Any]
    """TrialRecord or QuestionRecord, as the manifest's suite has them, in the order of scores.ndjson."""
    summary: Summary
    verdict: Verdict


Look = Callable[[Verdict], Verdict]
"""Settles what `verify` leaves open, as far as the machine has what it takes; ReceiptError for what is not taken."""


def by_itself(verdict: Verdict) -> Verdict:
    """Look at nothing beside the receipt."""
    return verdict


def read_sealed(directory: Path, look: Look = by_itself) -> SealedReceipt:
    """Verify the receipt in `directory` and read it; ReceiptError, with what failed, unless it verifies."""
    verdict = look(verify(directory))
    if verdict.state == "interrupted":
        raise ReceiptError(f"{directory} was interrupted: it has no {SUMMARY} and supports nothing. Resume it first")
    if verdict.state == "refused":
        failed = "; ".join(f"{check.name}: {check.detail}" for check in verdict.checks if check.ok is False)
        raise ReceiptError(f"{directory} does not verify: {failed}")
    manifest = read_manifest(directory)
    if isinstance(manifest, LifecycleManifest):
        raise ReceiptError(
            f"{directory} is a receipt of the suite {manifest.suite}, which is not reported, compared or claimed from "
            f"yet; `smriti verify` checks it, and its {SUMMARY} has every figure. Expected a receipt of the bench or "
            "of a retrieval suite"
        )
    record = scoring_of(manifest).record_type
    content = read_file(directory / SUMMARY)
    return SealedReceipt(
        directory=directory,
        sha256=hashlib.sha256(content).hexdigest(),
        manifest=manifest,
        records=[record.model_validate_json(line) for line in read_lines(directory / SCORES, sealed=True)],
        summary=Summary.model_validate_json(content),
        verdict=verdict,
    )
