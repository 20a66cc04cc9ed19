"""What every command that runs a suite shares: its receipt folder, taking a run up again, and being interrupted."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO, TypeVar

import typer

from smriti.cli.interrupts import EXIT_INTERRUPTED
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.verify import verify
from smriti.receipts.writer import MANIFEST, SCORES, SUMMARY, read_file, read_manifest
from smriti.types import BenchManifest, LifecycleManifest, RetrievalManifest

EXIT_DOES_NOT_STAND = 1

ManifestT = TypeVar("ManifestT", BenchManifest, RetrievalManifest, LifecycleManifest)


def folder(text: str) -> Path:
    """Read the name of a receipt folder; UsageError for an empty one."""
    if not text:
        raise UsageError("--out or --resume was given an empty name, expected the folder of a receipt")
    return Path(text)


def resumable(directory: Path, kind: type[ManifestT]) -> ManifestT:
    """Return the manifest of the interrupted run in `directory`; ReceiptError where the receipt does not hold."""
    manifest = read_manifest(directory)
    if not isinstance(manifest, kind):
        raise ReceiptError(f"{directory} is a receipt of suite {manifest.suite!r}; resume it with that command")
    verdict = verify(directory)
    if verdict.state == "verified":
        raise ReceiptError(f"{directory} is finished (it has a {SUMMARY}); there is nothing to resume.")
    if verdict.state == "refused":
        failed = "; ".join(f"{check.name}: {check.detail}" for check in verdict.checks if check.ok is False)
        raise ReceiptError(
            f"{directory} cannot be resumed, since `smriti verify` refuses what stands in it: {failed}. Nothing was "
            "changed; start a new run."
        )
    return manifest


def cores() -> int:
    """Count the cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_specs(given: Iterable[str]) -> tuple[str, ...]:
    """Split lists of memory systems at their commas."""
    specs = [part.strip() for text in given for part in text.split(",")]
    for spec in specs:
        if not spec or specs.count(spec) > 1:
            found = f"{spec!r} twice" if spec else "an empty name"
            raise UsageError(f"--memory has {found}; expected different names, such as grep,bm25")
    return tuple(specs)


@contextmanager
def adapters_on_stderr() -> Iterator[TextIO]:
    """Send what adapters print to stderr, and yield stdout, which is for what the command itself prints."""
    stdout = sys.stdout
    with redirect_stdout(sys.stderr):
        yield stdout


@contextmanager
def interrupt_told(directory: Path, again: Sequence[str] = ()) -> Iterator[None]:
    """Say at an interrupt how much stands on the disk, and how to go on; `again` are further arguments for that."""
    try:
        yield
    except KeyboardInterrupt:
        if not (directory / MANIFEST).exists():
            raise
        sys.stderr.write(f"smriti: interrupted {_how_far(directory, again)}\n")
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _how_far(directory: Path, again: Sequence[str]) -> str:
    if (directory / SUMMARY).exists():
        return f"after the last case; {directory} is finished"
    scores = directory / SCORES
    manifest = read_manifest(directory)
    done = read_file(scores).count(b"\n") if scores.exists() else 0
    return (
        f"after {done} of {manifest.planned} cases, which are kept. "
        f"Go on with: {shlex.join(['smriti', manifest.suite, '--resume', str(directory), *again])}"
    )
