"""What a bench report says of trials: how they ended, how long they took, and where each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from smriti.metrics.intervals import quantile
from smriti.receipts.report.bench_run import BenchRun
from smriti.receipts.report.view import Block, Chart, Dots, Point, Prose, Section, Span, Table
from smriti.receipts.report.words import (
    DASH,
    count,
    left,
    right,
    verdict,
)
from smriti.types import VERDICTS, Coverage, PhaseSeconds, TrialRecord

_MOST_MESSAGES = 50


def coverage(run: BenchRun, cover: Coverage) -> Section:
    """Count how trials ended, and say in which phase the faulty ones broke."""
    how = (
        f"{cover.planned} planned = {cover.completed} completed + {cover.failed} failed + {cover.skipped} skipped. "
        "Nothing leaves the denominator of sr but what was skipped."
    )
    statuses: Counter[tuple[str, str]] = Counter((record.condition, record.status) for record in run.records)
    names = sorted(
        {status for _, status in statuses} | {"passed", "failed"}, key=lambda name: (name not in VERDICTS, name)
    )
    table = Table(
        "How trials ended",
        ("condition", *names),
        tuple((left(condition), *(count(statuses[condition, name]) for name in names)) for condition in run.conditions),
    )
    blocks: list[Block] = [Prose(how), table]
    faults = [record for record in run.records if record.fault is not None]
    if faults:
        blocks += [_phases(faults), _messages(run, faults)]
    else:
        blocks.append(Prose("No phase of any trial failed."))
    return Section("coverage", "Coverage and failures", tuple(blocks))


def latency(run: BenchRun) -> Section:
    """Give the quantiles of wall time by phase and condition, and plot those of the agent."""
    phases = list(PhaseSeconds.model_fields)
    rows = []
    points = []
    for condition in run.conditions:
        for phase in phases:
            known = _seconds(run, condition, phase)
            cuts = [quantile(known, at) if known else None for at in (0.05, 0.5, 0.95)]
            cells = [right(DASH if cut is None else format(cut, ".3f")) for cut in cuts]
            rows.append((left(f"{condition}, {phase}"), cells[1], cells[0], cells[2], count(len(known))))
            if phase == "agent":
                points.append((condition, (Point(0, cuts[1], cuts[0], cuts[2]),)))
    table = Table(
        "Wall time by phase, seconds",
        ("condition, phase", "median", "5\u00a0%", "95\u00a0%", "n"),
        tuple(rows),
        folded=True,
    )
    said = "Median seconds of the agent, with the 5th and 95th percentile, by condition."
    chart = Chart(
        "latency",
        "Seconds of the agent",
        said,
        Dots("seconds: median, 5\u00a0% to 95\u00a0%", (), tuple(points)),
        table,
    )
    how = "Diagnostic: of this machine and its load. The plot is of the agent's phase; the table has all of them."
    return Section("latency", "Latency", (Prose(how), chart))


def trials(run: BenchRun) -> Section:
    """Link to the page of each trial."""
    cells: dict[tuple[str, str], list[Span]] = {}
    for record in sorted(run.records, key=lambda record: record.trial):
        word, tone = verdict(record.status)
        span = Span(word, run.links.get(record.case), tone)
        cells.setdefault((record.task_id, record.condition), []).append(span)
    rows = tuple(
        (left(task.id), *(left(*cells.get((task.id, condition), [])) for condition in run.conditions))
        for task in sorted(run.tasks, key=lambda task: task.id)
    )
    how = "Each leads to its transcript, diff, check output, and the memories planted and injected."
    return Section("trials", "Trials", (Prose(how), Table("Trials, in order", ("task", *run.conditions), rows)))


def _seconds(run: BenchRun, condition: str, phase: str) -> list[float]:
    found = (getattr(record.seconds, phase) for record in run.records if record.condition == condition)
    return sorted(seconds for seconds in found if seconds is not None)


def _phases(faults: Sequence[TrialRecord]) -> Table:
    found = Counter((record.fault.phase, record.fault.status) for record in faults if record.fault is not None)
    rows = tuple(
        (left(phase), left(status.replace("_", " ")), count(number))
        for (phase, status), number in sorted(found.items())
    )
    return Table("Failures by phase", ("phase", "ended as", "trials"), rows)


def _messages(run: BenchRun, faults: Sequence[TrialRecord]) -> Table:
    rows = tuple(
        (
            left(Span(record.case, run.links.get(record.case))),
            left(record.fault.phase),
            left(record.fault.message),
        )
        for record in faults[:_MOST_MESSAGES]
        if record.fault is not None
    )
    more = len(faults) - len(rows)
    caption = "What was found there" + (
        f" (the first {len(rows)}; {more} more are in the trials' pages)" if more else ""
    )
    return Table(caption, ("trial", "phase", "message"), rows, folded=True)
