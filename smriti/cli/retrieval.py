"""`smriti longmemeval | locomo | coding-life`: does a search bring the evidence back?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from smriti import registry, runner
from smriti.cli import sources
from smriti.cli.amount import Amount
from smriti.cli.retrieval_summary import print_retrieval_summary
from smriti.cli.run import (
    EXIT_DOES_NOT_STAND,
    adapters_on_stderr,
    cores,
    folder,
    interrupt_told,
    memory_specs,
    resumable,
)
from smriti.cli.sources import Option, Source
from smriti.engine.processes import ProcessEngine
from smriti.errors import ReceiptError, UsageError
from smriti.metrics.ranking import MAX_K
from smriti.protocols import MemorySystem
from smriti.receipts.fingerprint import differences
from smriti.receipts.writer import ReceiptWriter
from smriti.score import stands
from smriti.suites.retrieval import RetrievalSuite as Suite
from smriti.suites.retrieval.attempt import Step, lost
from smriti.suites.retrieval.manifest import Chosen, retrieval_manifest, select
from smriti.types import (
    QuestionEvidence,
    QuestionRecord,
    RetrievalConfig,
    RetrievalManifest,
    RetrievalSuite,
    Summary,
)

RetrievalReceipt = ReceiptWriter[RetrievalManifest, QuestionEvidence, QuestionRecord]


_MOST_DIGITS = 9

MOST_JOBS = 256

_MEMORY = "Memory systems, a comma between; may be repeated (default: grep,bm25)."
_DATA = "Data file, instead of the pinned one of the cache; what no pin knows makes the receipt development."
_K = f"Cutoffs from 1 to {MAX_K}, a comma between; may be repeated (default: 5)."
_STRATIFY = "Only the first N questions of each type."
_LIMIT = "Only the first N questions, of those that --stratify leaves."
_JOBS = "Processes; results are the same whatever their number (default: the cores of this machine)."
_OUT = "Receipt folder (default: receipts/{suite}/<run-id>)."
_RESUME = "Take up the interrupted run in DIR, with its own configuration (and the --data that it had)."

Memory = Annotated[list[str] | None, typer.Option(metavar="LIST", help=_MEMORY)]
Data = Annotated[Path | None, typer.Option(metavar="FILE", help=_DATA)]
K = Annotated[list[str] | None, typer.Option(metavar="LIST", help=_K)]
Stratify = Annotated[int | None, typer.Option(min=1, metavar="N", help=_STRATIFY)]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help=_LIMIT)]
Jobs = Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, metavar="N", help=_JOBS)]
Out = Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_OUT)]
Resume = Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_RESUME)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def longmemeval(
    *,
    memory: Memory = None,
    data: Data = None,
    dataset: Annotated[
        str | None, typer.Option("--set", metavar="s|m|oracle", help="Which pinned set (default: s).")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            metavar="session|user-turns",
            help="What a document is: a session under its dates, or its user turns alone, as in the official script.",
        ),
    ] = None,
    k: K = None,
    stratify: Stratify = None,
    limit: Limit = None,
    jobs: Jobs = None,
    out: Out = None,
    resume: Resume = None,
    as_json: Json = False,
) -> None:
    """Run LongMemEval's retrieval: a haystack of sessions for each question, and those that hold its evidence.

    Exit 0: every attempt completed. Exit 1: some failed. Exit 2: the run could not be started. Exit 3: interrupted.
    """
    if data is not None and dataset is not None:
        raise UsageError("--data names a file and --set a pinned one; give one of them")
    flags = _Flags.of(
        memory=memory, data=data, k=k, stratify=stratify, limit=limit, options={"set": dataset, "form": form}
    )
    _run("longmemeval", flags, sources.longmemeval, jobs=jobs, out=out, resume=resume, as_json=as_json)


def locomo(
    *,
    memory: Memory = None,
    data: Data = None,
    granularity: Annotated[
        str | None, typer.Option(metavar="session|turn", help="What a document is (default: session).")
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="The categories that are asked and make up `all` (default: all are asked, and `all` is 1,2,3,4).",
        ),
    ] = None,
    captions: Annotated[bool | None, typer.Option("--captions", help="Add the captions of images.")] = None,
    dates: Annotated[bool | None, typer.Option("--dates", help="Begin each document with its session's date.")] = None,
    k: K = None,
    stratify: Stratify = None,
    limit: Limit = None,
    jobs: Jobs = None,
    out: Out = None,
    resume: Resume = None,
    as_json: Json = False,
) -> None:
    """Run LoCoMo's retrieval: ten long conversations, and the turns or sessions that hold each question's evidence.

    Exit 0: every attempt completed. Exit 1: some failed. Exit 2: the run could not be started. Exit 3: interrupted.
    """
    chosen = None if categories is None else tuple(sorted(set(_numbers("--categories", [categories]))))
    options = {"granularity": granularity, "categories": chosen, "captions": captions, "dates": dates}
    flags = _Flags.of(memory=memory, data=data, k=k, stratify=stratify, limit=limit, options=options)
    _run("locomo", flags, sources.locomo, jobs=jobs, out=out, resume=resume, as_json=as_json)


def coding_life(
    *,
    memory: Memory = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the same form, instead of the fixture's own.")
    ] = None,
    k: K = None,
    stratify: Stratify = None,
    limit: Limit = None,
    jobs: Jobs = None,
    out: Out = None,
    resume: Resume = None,
    as_json: Json = False,
) -> None:
    """Run coding-life: what a coding team said over months, and the sessions that hold each question's evidence.

    Exit 0: every attempt completed. Exit 1: some failed. Exit 2: the run could not be started. Exit 3: interrupted.
    """
    flags = _Flags.of(memory=memory, data=data, k=k, stratify=stratify, limit=limit, options={})
    _run("coding-life", flags, sources.coding_life, jobs=jobs, out=out, resume=resume, as_json=as_json)


@dataclass(frozen=True)
class _Flags:
    """The flags that say what is measured."""

    memory: tuple[str, ...] | None
    data: Path | None
    k: tuple[int, ...] | None
    stratify: int | None
    limit: int | None
    options: dict[str, Option]
    """Those of the suite, as far as they were given."""

    @classmethod
    def of(
        cls,
        *,
        memory: Sequence[str] | None,
        data: Path | None,
        k: Sequence[str] | None,
        stratify: int | None,
        limit: int | None,
        options: dict[str, Option | None],
    ) -> _Flags:
        return cls(
            memory=memory_specs(memory) if memory else None,
            data=data,
            k=tuple(sorted(set(_numbers("--k", k)))) if k else None,
            stratify=stratify,
            limit=limit,
            options={name: value for name, value in options.items() if value is not None},
        )

    def over(self, before: RetrievalConfig) -> _Flags:
        """Return these flags, with what `before` has for those that were not given."""
        return replace(
            self,
            memory=self.memory or before.memory,
            k=self.k or before.k,
            stratify=self.stratify or before.stratify,
            limit=self.limit or before.limit,
            options={**before.options, **self.options},
        )


def _run(
    suite: RetrievalSuite,
    flags: _Flags,
    read: Callable[[Path | None, Mapping[str, Option]], Source],
    *,
    jobs: int | None,
    out: Path | None,
    resume: Path | None,
    as_json: bool,
) -> None:
    if out is not None and resume is not None:
        raise UsageError("--out starts a new receipt and --resume takes up an old one; give one of them")
    before = None if resume is None else resumable(resume, RetrievalManifest)
    if before is not None:
        if before.suite != suite:
            raise UsageError(f"{resume} is a run of {before.suite}, not of {suite}")
        flags = flags.over(before.config)
        if flags.data is None and sources.needs_file(before):
            raise UsageError(
                f"{resume} was run on a data file that no cache holds, {_datasets(before)}; give that file once more: "
                f"smriti {suite} --resume {shlex.quote(str(resume))} --data FILE"
            )
    specs, jobs = flags.memory or ("grep", "bm25"), jobs or cores()
    with adapters_on_stderr():
        systems: list[MemorySystem] = [registry.load("memory", spec) for spec in specs]
    source = read(flags.data, flags.options)
    chosen = select(source.reading.corpora, flags.stratify, flags.limit)
    config = RetrievalConfig(
        memory=specs, k=flags.k or (5,), stratify=flags.stratify, limit=flags.limit, options=source.options
    )
    with adapters_on_stderr():
        artifacts = {label: sha256 for spec in specs for label, sha256 in registry.sources("memory", spec).items()}
        manifest = retrieval_manifest(
            suite,
            config,
            chosen,
            source.reading,
            systems=systems,
            datasets=source.datasets,
            whole=source.whole,
            artifacts=artifacts,
            engine=ProcessEngine.name,
            jobs=jobs,
        )
    if before is not None:
        _check_taken_up(before, manifest, resume)
    receipt = resume or out or Path("receipts") / suite / manifest.run_id
    with interrupt_told(receipt, () if flags.data is None else ("--data", str(flags.data))):
        summary = _attempt(manifest, before, chosen, jobs, receipt)
        if as_json:
            shown = {"receipt": str(receipt), "stands": stands(summary)}
            typer.echo(json.dumps({**shown, "summary": summary.model_dump(mode="json", by_alias=True)}))
        else:
            print_retrieval_summary(before or manifest, summary, receipt)
    if not stands(summary):
        raise typer.Exit(EXIT_DOES_NOT_STAND)


def _datasets(manifest: RetrievalManifest) -> str:
    return ", ".join(f"{name} (sha256 {sha256})" for name, sha256 in manifest.datasets.items())


def _check_taken_up(before: RetrievalManifest, now: RetrievalManifest, directory: Path | None) -> None:
    """Refuse another run than the interrupted one, without all that follows from its flags and its data set."""
    if before.datasets != now.datasets:
        raise ReceiptError(
            f"{directory} was run on another data set: {_datasets(before)} in the receipt, {_datasets(now)} now. "
            "Give the file that it was run on with --data, or start a new run."
        )
    follows = {"counts": {}, "notes": (), "labels": {}, "corpora": (), "selection": {}, "planned": 0}
    different = differences(before.model_copy(update=follows), now.model_copy(update=follows))
    if different:
        raise ReceiptError(
            f"{directory} was started with another configuration, and a mixed receipt supports nothing. "
            f"Different: {'; '.join(different)}. Start a new run, or restore what it was started with."
        )


def _attempt(
    manifest: RetrievalManifest, before: RetrievalManifest | None, chosen: Chosen, jobs: int, directory: Path
) -> Summary:
    """Run what is left to run."""
    own = partial(registry.is_own, "memory")
    suite = Suite(before or manifest, chosen.corpora, partial(registry.load, "memory"), own)
    engine = ProcessEngine(jobs, lost, _alone)
    open_receipt = ReceiptWriter.resume if before else ReceiptWriter.create
    with closing(open_receipt(directory, manifest)) as receipt, Amount(manifest.suite, "attempts") as amount:
        return runner.run(suite, engine, receipt, _Progress(receipt, amount).on_record)


def _alone(step: Step) -> bool:
    """Give each step of a user's adapter a process of its own; systems that come with smriti share theirs."""
    return not step.own


class _Progress:
    """Shows how many attempts there are, and the first failures of each system."""

    def __init__(self, receipt: RetrievalReceipt, amount: Amount) -> None:
        self._planned = receipt.manifest.planned
        self._done = len(receipt.records)
        self._amount = amount
        self._told: set[tuple[str, str]] = set()

    def on_record(self, record: QuestionRecord) -> None:
        self._done += 1
        self._amount(self._done, self._planned)
        if record.fault is not None and (record.system, record.fault.phase) not in self._told:
            self._told.add((record.system, record.fault.phase))
            line = f"{record.case}  failed  {record.fault.phase}: {record.fault.message}  (told once a phase)"
            self._amount.say("".join(char if char.isprintable() else " " for char in line))


def _numbers(flag: str, given: Iterable[str]) -> list[int]:
    parts = [part.strip() for text in given for part in text.split(",")]
    for part in parts:
        number = int(part) if part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS else None
        if number is None or (flag == "--k" and not 1 <= number <= MAX_K):
            expected = f"whole numbers from 1 to {MAX_K}" if flag == "--k" else "whole numbers"
            raise UsageError(f"{flag} has {part!r:.100}; expected {expected}, a comma between")
    return [int(part) for part in parts]
