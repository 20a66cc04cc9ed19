"""`smriti bench`: does memory make the agent better? Builds the run from its flags, runs it, prints the summary."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Self

import typer

from smriti import registry, runner
from smriti.agents.hooks import run_hook
from smriti.cli.plan import print_plan
from smriti.cli.progress import Progress
from smriti.cli.run import EXIT_DOES_NOT_STAND, adapters_on_stderr, cores, folder, interrupt_told, resumable
from smriti.cli.summary import print_summary
from smriti.corpus import load_corpus, select
from smriti.engine.local import LocalEngine
from smriti.errors import UsageError
from smriti.protocols import Agent, MemorySystem
from smriti.receipts.rows import MOST_CASES
from smriti.receipts.writer import ReceiptWriter
from smriti.score import stands
from smriti.suites.bench import BenchSuite
from smriti.suites.bench.delivery import probe_delivery
from smriti.suites.bench.manifest import bench_manifest, resolve_conditions
from smriti.types import BenchConfig, BenchManifest, Summary, TaskFolder, TrialEvidence, TrialRecord

RECEIPTS = Path("receipts/bench")

BenchReceipt = ReceiptWriter[BenchManifest, TrialEvidence, TrialRecord]

_TRIALS = "Trials of each task and condition. No default: one is a coin flip."
_MEMORY = "Memory system under test (default: embedded)."
_AGENT = "Agent under test, such as rehearsal or command:FILE (default: rehearsal)."
_CONDITIONS = (
    "Comma list of off, on, handed, placebo, file, ablate:<lane>, ablate:all "
    "(default: off, on and, for a system with lanes, ablate:all)."
)
_TASK = "Only this task; may be repeated (default: every task)."
_SPLIT = "Only this split (default: all)."
_JOBS = "Trials side by side."
_TIMEOUT = "Wall-clock limit of one agent run (default: 600)."
_MAX_TOKENS = "Token limit of one agent run; more is a fault (default: none)."
_SEED = "Seed of the order, the placebo and the intervals (default: 0)."
_FLAKE = "Chance that the rehearsal agent slips, for trying out statistics (default: 0)."
_OUT = "Receipt folder (default: receipts/bench/<run-id>)."
_RESUME = "Take up the interrupted run in DIR, with its own configuration."
_DRY_RUN = "Print what each trial would run, and do nothing."


def bench(
    *,
    trials: Annotated[int | None, typer.Option(min=1, help=_TRIALS)] = None,
    memory: Annotated[str | None, typer.Option(metavar="NAME", help=_MEMORY)] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help=_AGENT)] = None,
    conditions: Annotated[str | None, typer.Option(metavar="LIST", help=_CONDITIONS)] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help=_TASK)] = None,
    split: Annotated[str | None, typer.Option(metavar="visible|holdout|all", help=_SPLIT)] = None,
    jobs: Annotated[int, typer.Option(min=1, help=_JOBS)] = 2,
    timeout_s: Annotated[float | None, typer.Option(min=0.1, help=_TIMEOUT)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help=_MAX_TOKENS)] = None,
    seed: Annotated[int | None, typer.Option(help=_SEED)] = None,
    flake: Annotated[float | None, typer.Option(min=0, max=1, help=_FLAKE)] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_OUT)] = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", parser=folder, help=_RESUME)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Run SMRITI-Bench: plant memories, let the agent work, grade with hidden checks, write a receipt.

    Exit 0: every trial got a verdict and the injection, contamination and ablation checks hold. Exit 1: one of these
    does not. Exit 2: the run could not be started or go on. Exit 3: it was interrupted.
    """
    if out is not None and resume is not None:
        raise UsageError("--out starts a new receipt and --resume takes up an old one; give one of them")
    before = None if resume is None else resumable(resume, BenchManifest)
    given = _Flags(
        trials=trials,
        memory=memory,
        agent=agent,
        conditions=conditions,
        task=task or None,
        split=split,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
        seed=seed,
        flake=flake,
    )
    with adapters_on_stderr() as stdout:
        chosen = _choose(given.over(_Flags.of(before) if before else _DEFAULTS), jobs)
        manifest = chosen.manifest("not probed") if dry_run else None

        def show(receipt: BenchReceipt, summary: Summary) -> None:
            with redirect_stdout(stdout):
                if as_json:
                    shown = {"receipt": str(receipt.directory), "stands": stands(summary)}
                    typer.echo(json.dumps({**shown, "summary": summary.model_dump(mode="json", by_alias=True)}))
                else:
                    print_summary(receipt.manifest, summary, receipt.directory)

        if manifest is None:
            if not stands(_attempt(chosen, before, resume or out, show)):
                raise typer.Exit(EXIT_DOES_NOT_STAND)
            return
    run_id = before.run_id if before else manifest.run_id
    print_plan(manifest.model_copy(update={"run_id": run_id}), chosen.tasks, as_json=as_json)


@dataclass(frozen=True)
class _Flags:
    """The flags that say what is measured; None where one was not given."""

    trials: int | None = None
    memory: str | None = None
    agent: str | None = None
    conditions: str | None = None
    task: list[str] | None = None
    split: str | None = None
    timeout_s: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    flake: float | None = None

    @classmethod
    def of(cls, manifest: BenchManifest) -> Self:
        """Return the flags that would give the configuration of `manifest`."""
        config, selection = manifest.config, manifest.selection
        return cls(
            trials=config.trials,
            memory=config.memory,
            agent=config.agent,
            conditions=",".join(config.conditions),
            task=selection.get("ids"),
            split=selection.get("split"),
            timeout_s=config.timeout_s,
            max_tokens=config.max_tokens,
            seed=config.seed,
            flake=config.flake,
        )

    def over(self, base: _Flags) -> _Flags:
        """Return these flags, with those of `base` for what was not given."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(base, **{name: value for name, value in given.items() if value is not None})


_DEFAULTS = _Flags(
    memory="embedded", agent="rehearsal", task=[], split="all", timeout_s=600.0, max_tokens=None, seed=0, flake=0.0
)
"""Neither trials, which have none, nor conditions, which depend on the memory system."""


@dataclass(frozen=True)
class _Chosen:
    """What is to be run: the configuration, and the objects that the names in it stand for."""

    config: BenchConfig
    tasks: list[TaskFolder]
    selection: dict[str, object]
    memory: MemorySystem
    file_memory: MemorySystem
    agent: Agent
    sources: dict[str, str]
    jobs: int

    def manifest(self, delivery: str) -> BenchManifest:
        """Describe the run as it would start now, memory being delivered by `delivery`."""
        manifest = bench_manifest(
            self.config,
            self.tasks,
            memory=self.memory,
            file_memory=self.file_memory,
            agent=self.agent,
            selection=self.selection,
            engine=LocalEngine.name,
            sandbox="none",
            jobs=self.jobs,
            delivery=delivery,
        )
        return manifest.model_copy(update={"artifacts": {**manifest.artifacts, **self.sources}})


def _choose(flags: _Flags, jobs: int) -> _Chosen:
    if flags.trials is None:
        raise UsageError(
            "--trials is missing, and has no default: one trial is a coin flip. 3 is a start, 5 is better."
        )
    if flags.timeout_s is None or not math.isfinite(flags.timeout_s):
        raise UsageError(f"--timeout-s is {flags.timeout_s}, expected a number of seconds")
    agent_spec = _with_flake(flags.agent or "", flags.flake or 0.0)
    agent: Agent = registry.load("agents", agent_spec)
    memory: MemorySystem = registry.load("memory", flags.memory or "")
    file_memory: MemorySystem = registry.load("memory", "file")
    config = BenchConfig(
        memory=flags.memory or "",
        agent=flags.agent or "",
        conditions=resolve_conditions(flags.conditions, memory),
        trials=flags.trials,
        timeout_s=flags.timeout_s,
        max_tokens=flags.max_tokens,
        flake=flags.flake or 0.0,
        seed=flags.seed or 0,
    )
    corpus = load_corpus()
    tasks = select(corpus, flags.task or (), flags.split or "all")
    planned = len(tasks) * len(config.conditions) * config.trials
    if planned > MOST_CASES:
        raise UsageError(
            f"--trials {config.trials} makes {planned} trials of {len(tasks)} tasks and {len(config.conditions)} "
            f"conditions, expected at most {MOST_CASES} in all"
        )
    return _Chosen(
        config=config,
        tasks=tasks,
        selection={"ids": flags.task, "split": flags.split, "selected": len(tasks), "of": len(corpus)},
        memory=memory,
        file_memory=file_memory,
        agent=agent,
        sources={**registry.sources("memory", config.memory), **registry.sources("agents", agent_spec)},
        jobs=jobs,
    )


def _with_flake(agent: str, flake: float) -> str:
    if not flake:
        return agent
    if agent != "rehearsal":
        raise UsageError(f"--flake makes the rehearsal agent unreliable; agent {agent!r} brings its own luck")
    return f"rehearsal:flake={flake}"


def _attempt(
    chosen: _Chosen,
    before: BenchManifest | None,
    directory: Path | None,
    show: Callable[[BenchReceipt, Summary], None],
) -> Summary:
    """Run what is left to run, and show how it went.

    The memory system is opened once before there is a receipt, so that none is left empty.
    """
    _warn_of_crowding(chosen.jobs)
    with tempfile.TemporaryDirectory(prefix="smriti-bench-", ignore_cleanup_errors=True) as scratch:
        manifest = chosen.manifest(probe_delivery(chosen.memory, chosen.agent, Path(scratch) / "probe"))
        directory = directory or RECEIPTS / manifest.run_id
        suite = BenchSuite(
            before or manifest,
            chosen.tasks,
            memory=chosen.memory,
            file_memory=chosen.file_memory,
            agent=chosen.agent,
            run_hook=run_hook,
            scratch=Path(scratch),
        )
        open_receipt = ReceiptWriter.resume if before else ReceiptWriter.create
        with _closed_in_the_end(suite), interrupt_told(directory):
            with (
                closing(open_receipt(directory, manifest)) as receipt,
                Progress(receipt.manifest, receipt.records) as progress,
            ):
                summary = runner.run(suite, LocalEngine(chosen.jobs), receipt, progress.on_record)
            show(receipt, summary)
            return summary


def _warn_of_crowding(jobs: int) -> None:
    available = cores()
    if jobs > available:
        sys.stderr.write(
            f"smriti: warning: --jobs {jobs} on {available} cores: trials slow each other down, and checks and agents "
            "with a time limit are judged unfairly\n"
        )


@contextmanager
def _closed_in_the_end(suite: BenchSuite) -> Iterator[None]:
    """Close the suite; that a store cannot be closed is a warning, since it changes nothing of what was measured."""
    try:
        yield
    finally:
        try:
            suite.close()
        except Exception as error:  # noqa: BLE001  # a store may be anybody's
            said = " ".join(str(error).split())
            sys.stderr.write(
                f"smriti: warning: the memory system could not be closed: {type(error).__name__}: {said}\n"
            )
