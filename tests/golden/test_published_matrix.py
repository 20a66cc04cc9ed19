"""The published matrix, rebuilt: its figures come out of the records exactly."""

from __future__ import annotations

from smriti.score.bench import bench_scores
from smriti.types import TrialRecord
from tests.strategies import manifest, record

TASKS = [f"task-{number}" for number in range(9)]


def published_records() -> list[TrialRecord]:
    """9 tasks × off/on × 3: off passes 0 of 3 on one task and 2 of 3 on another, on passes all; 13 offs were dear."""
    records: list[TrialRecord] = []
    dear_left = 13
    for task in TASKS:
        for trial in (1, 2, 3):
            off_fails = task == "task-0" or (task == "task-1" and trial == 1)
            tokens = 100
            if not off_fails and dear_left:
                tokens, dear_left = 150, dear_left - 1
            off = record(task, "off", trial, status="failed" if off_fails else "passed", tokens=tokens, confirmed=False)
            records += [off, record(task, "on", trial, tokens=100)]
    return records


def test_the_published_figures_are_reproduced() -> None:
    figures = {
        (score.metric, score.condition): score
        for score in bench_scores(manifest(TASKS, ["off", "on"], 3), published_records())
        if score.group == "all"
    }

    def value(metric: str, condition: str = "on") -> float | None:
        return figures[metric, condition].value

    assert (value("sr", "off"), figures["sr", "off"].n) == (23 / 27, 27)
    assert (value("sr"), figures["sr", "on"].n) == (1.0, 27)
    assert value("delta_sr") == 4 / 27
    assert (value("mui"), value("sr_lift"), value("cost_saving")) == (17 / 27, 4 / 27, 13 / 27)
    assert (value("mhi"), value("echo_rate"), value("injection_confirmation_rate")) == (0, 0, 1)
