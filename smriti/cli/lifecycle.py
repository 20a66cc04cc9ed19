"""`smriti lifecycle`: what becomes of a memory that is corrected, forgotten, kept apart, written twice or restarted?"""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from smriti import registry, runner
from smriti.cli.amount import Amount
from smriti.cli.lifecycle_summary import print_lifecycle_summary
from smriti.cli.run import EXIT_DOES_NOT_STAND, cores, folder, interrupt_told, memory_specs, resumable
from smriti.engine.processes import ProcessEngine
from smriti.errors import UsageError
from smriti.protocols import MemorySystem
from smriti.receipts.writer import ReceiptWriter
from smriti.score import stands
from smriti.suites.lifecycle import LifecycleSuite
from smriti.suites.lifecycle.attempt import Step, lost
from smriti.suites.lifecycle.checks import Checks, checks_path, read_checks
from smriti.suites.lifecycle.manifest import lifecycle_manifest
from smriti.types import LifecycleConfig, LifecycleEvidence, LifecycleManifest, LifecycleRecord, Summary

TIMEOUT_S = 300.0
"""For one case: some systems take ten seconds to start, and a case may restart or write a hundred memories."""

MOST_JOBS = 256

_MEMORY = "Memory systems, a comma between; may be repeated."
_JOBS = "Cases at a time, each in a process and a store of its own (default: the cores of this machine)."
_OUT = "Receipt folder (default: receipts/lifecycle/<run-id>)."
_RESUME = "Take up the interrupted run in DIR, with its own configuration."

LifecycleReceipt = ReceiptWriter[LifecycleManifest, LifecycleEvidence, LifecycleRecord]


def lifecycle(
    *,
    memory: Annotated[list[str] | None, typer.Option(metavar="LIST", help=_MEMORY)] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, metavar="N", help=_JOBS)] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_OUT)] = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_RESUME)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Run the lifecycle checks: correct, update, forget, restart, keep apart, capture, read, write much and at once.

    Exit 0: every check that a system can be asked passed. Exit 1: some failed. Exit 2: the run could not be started.
    Exit 3: interrupted.
    """
    if out is not None and resume is not None:
        raise UsageError("--out starts a new receipt and --resume takes up an old one; give one of them")
    before = None if resume is None else resumable(resume, LifecycleManifest)
    specs = memory_specs(memory or ()) or (before.config.memory if before else ())
    if not specs:
        raise UsageError("--memory is missing; expected the memory systems to be checked, such as --memory embedded")
    jobs = jobs or cores()
    systems: list[MemorySystem] = [registry.load("memory", spec) for spec in specs]
    checks = read_checks(checks_path())
    manifest = lifecycle_manifest(
        LifecycleConfig(memory=specs, timeout_s=TIMEOUT_S),
        checks,
        systems=systems,
        own=True,
        artifacts={label: sha256 for spec in specs for label, sha256 in registry.sources("memory", spec).items()},
        engine=ProcessEngine.name,
        jobs=jobs,
    )
    receipt = resume or out or Path("receipts") / manifest.suite / manifest.run_id
    with interrupt_told(receipt):
        summary = _attempt(manifest, before, checks, jobs, receipt)
        if as_json:
            shown = {"receipt": str(receipt), "stands": stands(summary), "passed": _all_passed(summary)}
            typer.echo(json.dumps({**shown, "summary": summary.model_dump(mode="json", by_alias=True)}))
        else:
            print_lifecycle_summary(before or manifest, summary, receipt)
    if not _all_passed(summary):
        raise typer.Exit(EXIT_DOES_NOT_STAND)


def _attempt(
    manifest: LifecycleManifest, before: LifecycleManifest | None, checks: Checks, jobs: int, directory: Path
) -> Summary:
    """Run what is left to run."""
    suite = LifecycleSuite(before or manifest, checks.texts, partial(registry.load, "memory"))
    engine = ProcessEngine(jobs, lost, _alone)
    open_receipt = ReceiptWriter.resume if before else ReceiptWriter.create
    with closing(open_receipt(directory, manifest)) as receipt, Amount(manifest.suite, "cases") as amount:
        return runner.run(suite, engine, receipt, _Progress(receipt, amount).on_record)


def _alone(step: Step) -> bool:
    """Give each case of a user's adapter a process of its own; systems that come with smriti share theirs."""
    return not registry.is_own("memory", step.system)


def _all_passed(summary: Summary) -> bool:
    """Tell whether nothing failed that a system could be asked; what it does not offer is no failure."""
    return stands(summary) and not any(score.metric == "failed" and score.value for score in summary.scores)


class _Progress:
    """Shows how many cases there are, and each that failed."""

    def __init__(self, receipt: LifecycleReceipt, amount: Amount) -> None:
        self._planned = receipt.manifest.planned
        self._done = len(receipt.records)
        self._amount = amount

    def on_record(self, record: LifecycleRecord) -> None:
        self._done += 1
        self._amount(self._done, self._planned)
        if record.status == "failed":
            where = f"{record.broken_part}: {record.broken}"
            if record.fault is not None:
                where = f"{record.fault.phase}: {record.fault.message}"
            line = f"{record.case}  failed  {where}"
            self._amount.say("".join(char if char.isprintable() else " " for char in line))
