"""`smriti bench`: does memory make the agent better? Builds the run from its flags, runs it, prints the summary."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from smriti import registry, runner
from smriti.agents.hooks import run_hook
from smriti.cli.progress import Progress
from smriti.cli.summary import print_summary
from smriti.corpus import load_corpus, select
from smriti.engine.local import LocalEngine
from smriti.errors import UsageError
from smriti.protocols import Agent, MemorySystem
from smriti.receipts.writer import ReceiptWriter, read_manifest
from smriti.score import planned_cases, stands
from smriti.suites.bench import BenchSuite
from smriti.suites.bench.manifest import bench_manifest, resolve_conditions
from smriti.types import BenchConfig, Manifest, TaskFolder, trial_realm

DEFAULT_TIMEOUT_S = 600.0


def bench(
    *,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trials of each task and condition. No default: one is a coin flip.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="NAME", help="Memory system under test.  [default: embedded]")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Agent under test, such as rehearsal or command:FILE.  [default: rehearsal]"),
    ] = None,
    conditions: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Comma list of off, on, handed, placebo, file, ablate:<lane>, ablate:all.  [default: off,on,ablate:all]",
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; may be repeated.")] = None,
    split: Annotated[
        str | None, typer.Option(metavar="visible|holdout|all", help="Only this split.  [default: all]")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trials side by side.")] = 2,
    timeout_s: Annotated[
        float | None, typer.Option(min=0.1, help="Wall-clock limit of one agent run.  [default: 600]")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Token limit of one agent run; more is a fault.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the order, the placebo and the intervals.  [default: 0]")
    ] = None,
    flake: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Chance that the rehearsal agent slips, for trying out statistics."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Receipt folder.  [default: receipts/bench/<run-id>]")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Take up the interrupted run in DIR, with its own configuration.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what each trial would run, and do nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Run SMRITI-Bench: plant memories, let the agent work, grade with hidden checks, write a receipt.

    Exit 0: every trial got a verdict and the injection, contamination and ablation checks hold. Exit 1: one of these does not.
    """
    if out is not None and resume is not None:
        raise UsageError("--out starts a new receipt and --resume takes up an old one; give one of them")
    before = read_manifest(resume) if resume else None
    if trials is None and before is None:
        raise UsageError(
            "--trials is missing, and has no default: one trial is a coin flip. 3 is a start, 5 is better."
        )
    old = before.config if before else None
    agent_name = agent or (old.agent if old else "rehearsal")
    flake_chance = flake if flake is not None else (old.flake if old else 0.0)
    agent_under_test: Agent = registry.load("agents", _with_flake(agent_name, flake_chance))
    memory_name = memory or (old.memory if old else "embedded")
    memory_under_test: MemorySystem = registry.load("memory", memory_name)
    file_memory: MemorySystem = registry.load("memory", "file")
    config = BenchConfig(
        memory=memory_name,
        agent=agent_name,
        conditions=old.conditions if old and conditions is None else resolve_conditions(conditions, memory_under_test),
        trials=trials or (old.trials if old else 1),
        timeout_s=timeout_s or (old.timeout_s if old else DEFAULT_TIMEOUT_S),
        max_tokens=max_tokens or (old.max_tokens if old else None),
        flake=flake_chance,
        seed=seed if seed is not None else (old.seed if old else 0),
    )
    corpus = load_corpus()
    ids = task or (before.selection["ids"] if before else [])
    chosen_split = split or (before.selection["split"] if before else "all")
    tasks = select(corpus, ids, chosen_split)
    manifest = bench_manifest(
        config,
        tasks,
        memory=memory_under_test,
        file_memory=file_memory,
        agent=agent_under_test,
        selection={"ids": ids, "split": chosen_split, "selected": len(tasks), "of": len(corpus)},
        engine=LocalEngine.name,
        sandbox="none",
        jobs=jobs,
    )
    if dry_run:
        _print_plan(manifest, tasks, as_json=as_json)
        return
    receipt = (
        ReceiptWriter.resume(resume, manifest)
        if resume
        else ReceiptWriter.create(out or Path("receipts/bench") / manifest.run_id, manifest)
    )
    try:
        with tempfile.TemporaryDirectory(prefix="smriti-bench-", ignore_cleanup_errors=True) as scratch:
            suite = BenchSuite(
                receipt.manifest,
                tasks,
                memory=memory_under_test,
                file_memory=file_memory,
                agent=agent_under_test,
                run_hook=run_hook,
                scratch=Path(scratch),
            )
            suite.open_once()
            try:
                with Progress(receipt.manifest, receipt.records) as progress:
                    summary = runner.run(suite, LocalEngine(jobs), receipt, progress.on_record)
            finally:
                suite.close()
    except KeyboardInterrupt:
        sys.stderr.write(
            f"smriti: interrupted after {len(receipt.records)} of {receipt.manifest.planned} trials; nothing is lost. "
            f"Go on with: smriti bench --resume {receipt.directory}\n"
        )
        raise typer.Exit(3) from None
    finally:
        receipt.close()
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "receipt": str(receipt.directory),
                    "stands": stands(summary),
                    "summary": summary.model_dump(mode="json", by_alias=True),
                }
            )
        )
    else:
        print_summary(receipt.manifest, summary, receipt.directory)
    if not stands(summary):
        raise typer.Exit(1)


def _with_flake(agent: str, flake: float) -> str:
    if not flake:
        return agent
    if agent != "rehearsal":
        raise UsageError(f"--flake makes the rehearsal agent unreliable; agent {agent!r} brings its own luck")
    return f"rehearsal:flake={flake}"


def _print_plan(manifest: Manifest, tasks: list[TaskFolder], *, as_json: bool) -> None:
    by_id = {folder.task.id: folder.task for folder in tasks}
    rows = [
        {
            "order": case.order,
            "case": case.id,
            "realm": trial_realm(manifest.run_id, case),
            "plants": len(by_id[case.task_id].planted_memories)
            if case.condition.startswith(("on", "file", "ablate"))
            else 0,
            "agent": manifest.config.agent,
            "check": list(by_id[case.task_id].check_cmd),
        }
        for case in planned_cases(manifest)
    ]
    if as_json:
        typer.echo(json.dumps({"planned": len(rows), "trials": rows}))
        return
    for row in rows:
        typer.echo(
            f"{row['order']:>4}  {row['case']}  plants {row['plants']} in {row['realm']}  then {row['agent']}, then {' '.join(row['check'])}"
        )
    typer.echo(f"{len(rows)} trials planned; nothing was run")
