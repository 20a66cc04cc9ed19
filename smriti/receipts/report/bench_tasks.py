"""What a bench report says task by task: off against on."""

from __future__ import annotations

from smriti.receipts.report.bench_run import BenchRun
from smriti.receipts.report.view import Bars, Chart, Dots, Point, Prose, Section, Table
from smriti.receipts.report.words import (
    count,
    figure,
    left,
    listed,
    point,
    right,
    told,
    value,
)
from smriti.types import Score


def success_by_task(run: BenchRun) -> Section:
    """Lay off and on of each task side by side."""
    if not run.paired:
        return Section("tasks", "By task", ())
    rows = tuple(
        (
            left(task.id),
            left(task.family),
            *(right(value(run.of("sr", condition, task.id))) for condition in run.conditions),
            right(value(run.of("delta_sr", "on", task.id), "+.3f")),
            count(score.n if (score := run.of("delta_sr", "on", task.id)) else None),
        )
        for task in run.tasks
    )
    columns = ("task", "family", *(f"sr {condition}" for condition in run.conditions), "delta_sr", "n")
    # An interval over the trials of one task would say nothing of other tasks: none is drawn.
    dots = Dots(
        "success rate (sr)",
        ("off", "on"),
        tuple(
            (task.id, (_bare(0, run.of("sr", "off", task.id)), _bare(1, run.of("sr", "on", task.id))))
            for task in run.tasks
        ),
        connected=True,
        unit=True,
    )
    scores = [run.of("delta_sr", "on", task.id) for task in run.tasks]
    changes = [score.value for score in scores if score is not None and score.value is not None]
    up, down = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
    said = (
        f"Success rate of each task under off and on. On is higher in {up} of {len(scores)} tasks, lower in {down}, "
        f"the same in {len(changes) - up - down}; of {len(scores) - len(changes)} nothing can be said."
    )
    table = Table("Success by task", columns, rows, folded=True)
    worse = [task.id for task in run.tasks if run.change(task.id) < 0]
    note = f"Lower under on: {listed(worse)}." if worse else "No task is lower under on."
    return Section("tasks", "By task, off → on", (Prose(note), Chart("tasks", "Off → on", said, dots, table)))


def tokens_by_task(run: BenchRun) -> Section:
    """Lay the token ratio of each task beside that of all."""
    if not run.paired or run.of("token_ratio", "on") is None:
        return Section("tokens", "Tokens", ())
    groups = ["all", *(task.id for task in run.tasks)]
    rows = tuple(
        (
            left(group),
            right(value(run.of("tokens", "off", group), ".0f")),
            right(value(run.of("tokens", "on", group), ".0f")),
            *figure(run.of("token_ratio", "on", group)),
            count(score.n if (score := run.of("token_ratio", "on", group)) else None),
            count(score.excluded if score else None),
        )
        for group in groups
    )
    columns = ("tasks", "tokens off", "tokens on", "token_ratio", "interval", "n", "excluded")
    dots = Dots(
        "tokens, on / off (token_ratio)",
        (),
        tuple((group, (point(0, run.of("token_ratio", "on", group)),)) for group in groups),
        reference=1.0,
    )
    said = f"Tokens on / off: {told(run.of('token_ratio', 'on'))} over all tasks; one point for each task."
    how = "Below 1 the agent used fewer tokens with memory. Pairs with unknown tokens are excluded and counted."
    table = Table("Tokens by task", columns, rows, folded=True)
    return Section("tokens", "Tokens", (Prose(how), Chart("tokens", "Token ratio", said, dots, table)))


def credit_by_task(run: BenchRun) -> Section:
    """Lay credit and harm of each task side by side: harm goes to the left."""
    if not run.paired:
        return Section("credits", "Credit and harm", ())
    metrics = ("sr_lift", "cost_saving", "sr_harm", "cost_harm")
    groups = ["all", *(task.id for task in run.tasks)]
    rows = tuple(
        (
            left(group),
            right(value(run.of("mui", "on", group))),
            right(value(run.of("mhi", "on", group))),
            *(right(value(run.of(metric, "on", group))) for metric in metrics),
            count(score.n if (score := run.of("mui", "on", group)) else None),
        )
        for group in groups
    )
    bars = Bars(
        "share of on-trials; harm to the left",
        metrics,
        tuple((group, tuple(_signed(run, metric, group) for metric in metrics)) for group in groups),
    )
    harmed = [task.id for task in run.tasks if (score := run.of("mhi", "on", task.id)) and score.value]
    said = (
        f"Over all tasks mui is {told(run.of('mui', 'on'))} and mhi {told(run.of('mhi', 'on'))}. "
        f"Tasks with harm: {listed(harmed) or 'none'}."
    )
    how = "A trial earns credit, or counts as harm, only where memory is confirmed to have reached the agent."
    table = Table("Credit and harm by task", ("tasks", "mui", "mhi", *metrics, "n"), rows, folded=True)
    return Section("credits", "Credit and harm", (Prose(how), Chart("credits", "Credit and harm", said, bars, table)))


def _bare(series: int, score: Score | None) -> Point:
    return Point(series, None if score is None else score.value)


def _signed(run: BenchRun, metric: str, group: str) -> float | None:
    score = run.of(metric, "on", group)
    if score is None or score.value is None:
        return None
    return -score.value if metric.endswith("_harm") else score.value
