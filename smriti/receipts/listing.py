"""Say what receipts there are below a folder, broken ones included."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from smriti.errors import ReceiptError
from smriti.receipts.check import is_time
from smriti.receipts.verify import State, verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SUMMARY, read_file, read_manifest
from smriti.types import BenchManifest

_PARTS = {MANIFEST, EVIDENCE, SCORES, SUMMARY}


@dataclass(frozen=True, slots=True)
class Listed:
    """One receipt as it stands on the disk; None is what a broken one does not say."""

    directory: Path
    state: State
    suite: str | None = None
    systems: tuple[str, ...] = ()
    agent: str | None = None
    rows: int = 0
    """Attempts that have a score line."""
    planned: int | None = None
    evidence_class: str | None = None
    started: datetime | None = None


def list_receipts(root: Path) -> list[Listed]:
    """Verify every receipt at or below `root` and list them, the newest first, those that name no time last."""
    listed = [_listed(directory) for directory in receipt_folders(root)]
    never = datetime.min.replace(tzinfo=UTC)
    return sorted(listed, key=lambda receipt: (receipt.started or never, receipt.directory), reverse=True)


def receipt_folders(root: Path) -> Iterator[Path]:
    """Yield each folder at or below `root` that holds a part of a receipt, by name; none lies inside another."""
    for where, folders, files in os.walk(root):
        if _PARTS & set(files):
            folders.clear()
            yield Path(where)
        folders.sort()


def age(started: datetime | None, now: datetime) -> str:
    """Write how long ago a run began, in its largest whole unit; a dash where that is unknown or lies ahead."""
    if started is None or started > now:
        return "–"
    passed = now - started
    for unit, name in ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min")):
        if passed >= unit:
            return f"{passed // unit} {name}"
    return f"{passed.seconds} s"


def _listed(directory: Path) -> Listed:
    verdict = verify(directory)
    try:
        manifest = read_manifest(directory)
    except ReceiptError:
        return Listed(directory, verdict.state)
    return Listed(
        directory=directory,
        state=verdict.state,
        suite=manifest.suite,
        systems=(manifest.config.memory,) if isinstance(manifest, BenchManifest) else manifest.config.memory,
        agent=manifest.config.agent if isinstance(manifest, BenchManifest) else None,
        rows=_rows(directory / SCORES),
        planned=manifest.planned,
        evidence_class=verdict.evidence_class,
        started=datetime.fromisoformat(manifest.started) if is_time(manifest.started) else None,
    )


def _rows(path: Path) -> int:
    try:
        return read_file(path).count(b"\n")
    except (OSError, ReceiptError):
        return 0
