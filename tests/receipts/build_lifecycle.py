"""Receipts of a lifecycle run, made through the writer from what fakes bring that end in every way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from smriti.receipts.writer import ReceiptWriter, manifest_digest
from smriti.suites.lifecycle.checks import Checks
from smriti.types import LifecycleEvidence, LifecycleManifest, LifecycleRecord, Observation
from tests.suites.lifecycle.breaks import LiesAboutForgetting
from tests.suites.lifecycle.fakes import EVERYTHING, Able, System, attempt, own_checks, plan

LifecycleReceipt = ReceiptWriter[LifecycleManifest, LifecycleEvidence, LifecycleRecord]

CHOSEN = ("supersede-remember", "expand", "forget", "capture", "action", "ids")


class Lame(LiesAboutForgetting):
    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        raise OSError(f"disk full at {observations[0].source_id} of {realm}")


SYSTEMS = (System(Able, "one"), System(Lame, "two", EVERYTHING - {"expand", "layers"}))
CHECKS = Checks(
    tuple(check for check in own_checks().checks if check.id in CHOSEN),
    {check: own_checks().texts[check] for check in CHOSEN},
    own_checks().sha256,
)


def a_manifest(**fields: Any) -> LifecycleManifest:
    """Make a manifest in which no field is empty that could hold something."""
    return plan(*SYSTEMS, checks=CHECKS, **fields)


@cache
def _found() -> dict[str, LifecycleEvidence]:
    return {row.case: row for system in SYSTEMS for row in attempt(system, only=CHOSEN)}


def rows(manifest: LifecycleManifest, done: Sequence[str] = ()) -> list[LifecycleEvidence]:
    """Make the evidence of what is left, in the order of the plan."""
    digest = manifest_digest(manifest)
    cases = [f"{system}/{check.id}" for system in manifest.config.memory for check in manifest.checks]
    return [
        _found()[case].model_copy(update={"order": order, "run_id": manifest.run_id, "manifest_sha256": digest})
        for order, case in enumerate(cases)
        if case not in done
    ]


def append(receipt: LifecycleReceipt, count: int | None = None) -> None:
    """Append the next `count` cases of what is not in the receipt yet; None is all of them."""
    for row in rows(receipt.manifest, [record.case for record in receipt.records])[:count]:
        receipt.append([row])


def write(directory: Path, made: LifecycleManifest | None = None, *, count: int | None = None) -> Path:
    """Write a receipt and seal it, or with `count` leave it interrupted after that many cases."""
    receipt = ReceiptWriter.create(directory, made or a_manifest())
    append(receipt, count)
    if count is None:
        receipt.seal()
    receipt.close()
    return directory


def write_resumed(directory: Path) -> Path:
    """Write a receipt that was interrupted once and then sealed."""
    write(directory, count=3)
    receipt = ReceiptWriter.resume(directory, a_manifest())
    append(receipt)
    receipt.seal()
    receipt.close()
    return directory
