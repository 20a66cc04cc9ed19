"""Pair the trials of two conditions, and group pairs by task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from smriti.types import Interval, Status


class Trial(Protocol):
    """What figures are made of: as much of a TrialRecord as any of them reads."""

    @property
    def task_id(self) -> str: ...
    @property
    def trial(self) -> int: ...
    @property
    def status(self) -> Status: ...
    @property
    def passed(self) -> bool | None: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def injected_confirmed(self) -> bool | None: ...
    @property
    def contaminated(self) -> bool | None: ...
    @property
    def echoed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what it stands on: `value` is None where nothing can be said, `excluded` is what `n` leaves out."""

    value: float | None
    n: int
    excluded: int
    interval: Interval | None = None


def pairs(treated: Sequence[Trial], control: Sequence[Trial]) -> list[tuple[Trial, Trial]]:
    """Pair attempted trials of the same task and trial number, in the order of task and trial; the rest is left out."""
    by_cell = {(record.task_id, record.trial): record for record in control if record.status != "skipped"}
    paired = [
        (record, by_cell[record.task_id, record.trial])
        for record in treated
        if record.status != "skipped" and (record.task_id, record.trial) in by_cell
    ]
    return sorted(paired, key=lambda pair: (pair[0].task_id, pair[0].trial))


PairT = TypeVar("PairT", bound=tuple[Trial, ...] | tuple[Trial, Trial, int, int])


def by_task(
    paired: Sequence[PairT], term: Callable[[PairT], tuple[float, float]]
) -> dict[str, list[tuple[float, float]]]:
    """Group `term` of each pair, a (numerator, denominator), by the task that both of its trials belong to."""
    clusters: dict[str, list[tuple[float, float]]] = {}
    for pair in paired:
        clusters.setdefault(pair[0].task_id, []).append(term(pair))
    return clusters
