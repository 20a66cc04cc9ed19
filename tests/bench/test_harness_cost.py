"""What the harness itself costs a trial, over the check's own run time. Run by `nox -s perf`; prints a ratio."""

from __future__ import annotations

import itertools
import statistics
import time
from pathlib import Path

from smriti import registry, runner
from smriti.agents.hooks import run_hook
from smriti.corpus import load_corpus
from smriti.engine.local import LocalEngine
from smriti.receipts.writer import ReceiptWriter
from smriti.suites.bench import BenchSuite
from smriti.suites.bench.manifest import bench_manifest
from smriti.types import BenchConfig, TrialRecord

MEDIAN_LIMIT_S = 0.025


def test_a_nop_trial_costs_at_most_25_ms_over_its_check(tmp_path: Path) -> None:
    """Median over the whole corpus under off, on and ablate:all, one job, receipt lines included."""
    tasks = load_corpus()
    memory, file_memory, agent = (
        registry.load("memory", "embedded"),
        registry.load("memory", "file"),
        registry.load("agents", "nop"),
    )
    conditions = ("off", "on", "ablate:all")
    config = BenchConfig(memory="embedded", agent="nop", conditions=conditions, trials=2, timeout_s=60, seed=0)
    manifest = bench_manifest(
        config,
        tasks,
        memory=memory,
        file_memory=file_memory,
        agent=agent,
        selection={"ids": [], "split": "all", "selected": len(tasks), "of": len(tasks)},
        engine="local",
        sandbox="none",
        jobs=1,
        delivery="hooks",
    )
    receipt = ReceiptWriter.create(tmp_path / "receipt", manifest)
    suite = BenchSuite(
        manifest,
        tasks,
        memory=memory,
        file_memory=file_memory,
        agent=agent,
        run_hook=run_hook,
        scratch=tmp_path / "scratch",
    )
    ended: list[float] = [time.monotonic()]
    records: list[TrialRecord] = []

    def on_record(record: TrialRecord) -> None:
        ended.append(time.monotonic())
        records.append(record)

    try:
        runner.run(suite, LocalEngine(1), receipt, on_record)
    finally:
        suite.close()
        receipt.close()

    walls = [after - before for before, after in itertools.pairwise(ended)]
    checks = [record.seconds.check or 0.0 for record in records]
    over = [wall - check for wall, check in zip(walls, checks, strict=True)]
    assert all(checks), "every trial was checked"
    assert all(record.status == "failed" for record in records), "doing nothing passes no task"
    ratio = statistics.median(walls) / statistics.median(checks)
    print(  # noqa: T201  # the figure is what this is for
        f"\nharness: {len(over)} nop trials, median {1000 * statistics.median(over):.1f} ms over the check "
        f"(limit {1000 * MEDIAN_LIMIT_S:.0f}), trial / check = {ratio:.2f}"
    )
    assert statistics.median(over) <= MEDIAN_LIMIT_S
