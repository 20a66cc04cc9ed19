"""Success, lift, credits and harm of a memory system, from trial records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from smriti.metrics.intervals import clustered_bootstrap, wilson
from smriti.metrics.pairing import Estimate, Trial, by_task, pairs
from smriti.types import AGENT_FAULTS, VERDICTS

_Judge = Callable[[Trial, Sequence[Trial]], str | None]

COST_RATIO = 1.5
"""A trial that used at least this many times the tokens of its partner was the dearer one."""


def sr(records: Sequence[Trial]) -> Estimate:
    """Success over attempts: passes / attempted trials. Faults count as failures; skipped trials are excluded."""
    attempted = [record for record in records if record.status != "skipped"]
    return _rate(sum(record.passed is True for record in attempted), len(attempted), len(records))


def sr_completed(records: Sequence[Trial]) -> Estimate:
    """Passes / trials with a verdict; faults are excluded too. Stands beside `sr`, never instead of it."""
    completed = [record for record in records if record.status in VERDICTS]
    return _rate(sum(record.passed is True for record in completed), len(completed), len(records))


def delta_sr(treated: Sequence[Trial], control: Sequence[Trial], seed: str) -> Estimate:
    """sr(treated) − sr(control) over trials paired by task and number, with a task-clustered interval."""
    paired = pairs(treated, control)
    excluded = len(treated) - len(paired)
    if not paired:
        return Estimate(None, 0, excluded)
    value = sum(_gain(on, off) for on, off in paired) / len(paired)
    clusters = by_task(paired, lambda pair: (float(_gain(pair[0], pair[1])), 1.0))
    return Estimate(value, len(paired), excluded, clustered_bootstrap(clusters, seed))


def injection_confirmation_rate(records: Sequence[Trial]) -> Estimate:
    """Share of attempted trials in which a planted memory reached the agent; those that cannot tell are excluded."""
    known = [r.injected_confirmed for r in records if r.status != "skipped" and r.injected_confirmed is not None]
    return _rate(sum(known), len(known), len(records))


def contamination_rate(records: Sequence[Trial]) -> Estimate:
    """Share of attempted trials in which a memory reached the agent that was not planted for it."""
    known = [r.contaminated for r in records if r.status != "skipped" and r.contaminated is not None]
    return _rate(sum(known), len(known), len(records))


def echo_rate(records: Sequence[Trial]) -> Estimate:
    """Share of attempted trials whose agent itself said the whole text of a planted memory. For reference only."""
    attempted = [record for record in records if record.status != "skipped"]
    return _rate(sum(record.echoed for record in attempted), len(attempted), len(records))


@dataclass(frozen=True, slots=True)
class Credits:
    """An index and the two credits that it is the sum of; all three are shares of all attempted on-trials."""

    index: Estimate
    sr: Estimate
    cost: Estimate


def mui(on: Sequence[Trial], off: Sequence[Trial], seed: str) -> Credits:
    """Memory utilisation: confirmed on-trials that passed where off failed, or where off passed at ≥ 1.5 × the tokens.

    The partner is the off-trial of the same task and number, or all off-trials of the task where that one is missing;
    of several, one failure earns the success credit, and the cost credit needs every one to be dearer. A partner that
    ended in a fault of the harness or the memory system earns nothing, and unknown tokens earn nothing.
    """
    return _credits(on, off, seed, _utilisation)


def mhi(on: Sequence[Trial], off: Sequence[Trial], seed: str) -> Credits:
    """Memory harm, the mirror of `mui`: confirmed on-trials that failed where off passed, or at ≥ 1.5 × its tokens."""
    return _credits(on, off, seed, _harm)


def _utilisation(on: Trial, partners: Sequence[Trial]) -> str | None:
    if on.passed is not True:
        return None
    if any(_failed(off) for off in partners):
        return "sr"
    return "cost" if all(off.passed is True and _dearer(off, on) for off in partners) else None


def _harm(on: Trial, partners: Sequence[Trial]) -> str | None:
    passed_without = all(off.passed is True for off in partners)
    if not passed_without:
        return None
    if _failed(on):
        return "sr"
    return "cost" if on.passed is True and all(_dearer(on, off) for off in partners) else None


def _credits(on: Sequence[Trial], off: Sequence[Trial], seed: str, judge: _Judge) -> Credits:
    attempted = [record for record in on if record.status != "skipped"]
    by_cell = {(record.task_id, record.trial): record for record in off if record.status != "skipped"}
    earned: list[tuple[Trial, str | None]] = []
    for record in attempted:
        same = by_cell.get((record.task_id, record.trial))
        partners = [same] if same else [other for (task, _), other in by_cell.items() if task == record.task_id]
        credited = judge(record, partners) if partners and record.injected_confirmed is True else None
        earned.append((record, credited))
    excluded = len(on) - len(attempted)
    return Credits(
        _share(earned, {"sr", "cost"}, excluded, seed),
        _share(earned, {"sr"}, excluded, seed),
        _share(earned, {"cost"}, excluded, seed),
    )


def _share(earned: Sequence[tuple[Trial, str | None]], kinds: set[str], excluded: int, seed: str) -> Estimate:
    if not earned:
        return Estimate(None, 0, excluded)
    clusters: dict[str, list[tuple[float, float]]] = {}
    for record, credited in earned:
        clusters.setdefault(record.task_id, []).append((float(credited in kinds), 1.0))
    value = sum(credited in kinds for _, credited in earned) / len(earned)
    return Estimate(value, len(earned), excluded, clustered_bootstrap(clusters, seed))


def _failed(record: Trial) -> bool:
    """Tell whether the agent itself failed: by the check's verdict, or by a fault of its own."""
    return record.passed is False or record.status in AGENT_FAULTS


def _dearer(record: Trial, other: Trial) -> bool:
    mine, others = record.tokens, other.tokens
    # Two runs of no tokens at all are equally cheap.
    return mine is not None and others is not None and mine > 0 and mine >= COST_RATIO * others


def _gain(on: Trial, off: Trial) -> int:
    return int(on.passed is True) - int(off.passed is True)


def _rate(successes: int, n: int, planned: int) -> Estimate:
    return Estimate(successes / n if n else None, n, planned - n, wilson(successes, n))
