"""How many trials a comparison needs: the power of its very test, by seeded simulation."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from smriti.metrics.paired import POWER, Direction, clustered_bounds, direction, sign_flip
from smriti.metrics.pairing import Trial, pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RUNS = 2000
"""Simulated comparisons behind one figure of power: its standard error is 0.009 at 0.8."""
_ROUGH_RUNS = 500
"""Likewise, where an effect is looked for to the hundredth."""
MOST_TRIALS = 256
"""Of a task under a condition; a design that needs more is answered with what it can reach at all."""
MOST_TASKS = 1000
_POINTS = [NormalDist().inv_cdf((i + 0.5) / 64) for i in range(64)]
"""A standard normal variable in 64 equally likely values."""
_GRAIN = float(1 << 24)
"""Probabilities are rounded to this grain, so that another machine's exp gives the same draws."""
_EDGE = 0.02
"""Estimated rates keep this far from 0 and 1, where logits end."""
_STEPS = 48
_COARSE = 12
"""Halvings of a range of 6 that leave less than the two decimals that are kept."""


@dataclass(frozen=True, slots=True)
class Variation:
    """How tasks differ: the logit of a task's success rate is normal, and so is that of what memory does to it.

    logit p(baseline) = a + task_sd·z and logit p(candidate) = logit p(baseline) + b + effect_sd·w for each task, with
    independent standard normal z and w. Trials of a task are independent, given its two rates. a and b are such that
    the mean rate over tasks is `base_rate`, and the mean difference the effect.
    """

    base_rate: float = 0.5
    """Mean success rate of the baseline, in (0, 1)."""
    task_sd: float = 1.5
    """Between tasks, in logits: 1.5 at a base rate of 0.5 puts two thirds of the tasks between 0.18 and 0.82."""
    effect_sd: float = 0.5
    """Between tasks, in logits: how differently memory does on one task and another."""


@dataclass(frozen=True, slots=True)
class PowerAt:
    """What a number of trials reaches."""

    trials: int | None
    """Of each task under each condition; None for without end, where only the tasks vary."""
    power: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What it takes to find an effect."""

    effect: float
    tasks: int
    power: float
    """Wanted."""
    variation: Variation
    seed: int
    trials: int | None
    """Fewest of each task under each condition that reach `power`; None where no number does."""
    reached: tuple[PowerAt, ...]
    """What was simulated, by number of trials; the last is the limit that the tasks alone set."""


def plan(effect: float, tasks: int, variation: Variation, *, power: float = POWER, fewest: int = 1, seed: int) -> Plan:
    """Find the fewest trials, from `fewest` on, with which a comparison shows `effect` with probability `power`."""
    design = _Design(tasks, _rates(effect, variation), f"plan/{seed}/{effect!r}/{tasks}/{variation}")
    tried: dict[int, float] = {}

    def enough(trials: int) -> bool:
        if trials not in tried:
            tried[trials] = design.power(trials)
        return tried[trials] >= power

    limit = design.power(None)
    found = _fewest(enough, min(fewest, MOST_TRIALS), MOST_TRIALS)
    reached = [PowerAt(trials, tried[trials]) for trials in sorted(tried)]
    return Plan(effect, tasks, power, variation, seed, found, (*reached, PowerAt(None, limit)))


def simulated_power(
    effect: float, tasks: int, trials: int, variation: Variation, *, seed: int, runs: int = RUNS
) -> float:
    """Return the share of simulated comparisons that show `effect`, and in its own direction."""
    return _Design(tasks, _rates(effect, variation), f"power/{seed}", runs).power(trials)


def smallest_effect(tasks: int, trials: int, variation: Variation, *, power: float = POWER) -> float | None:
    """Find the smallest effect, to the hundredth, that a design shows with probability `power`; None where none does.

    Looked for in the direction in which the base rate leaves more room.
    """
    sign = 1 if variation.base_rate <= 0.5 else -1
    room = int(100 * (1 - _EDGE - variation.base_rate if sign == 1 else variation.base_rate - _EDGE))

    def enough(hundredths: int) -> bool:
        return simulated_power(sign * hundredths / 100, tasks, trials, variation, seed=0, runs=_ROUGH_RUNS) >= power

    found = _fewest(enough, 1, room)
    return None if found is None else found / 100


def variation_of(baseline: Sequence[Trial], treated: Sequence[Trial], default: Variation) -> Variation:
    """Estimate how tasks vary from the attempts of two conditions, by moments; `default` where they cannot tell.

    What varies between tasks is what is left of the variance of their rates, or differences, when that of their trials
    is taken away. Two conditions of one receipt say how differently memory does, and off to on more than two memory
    systems do: the estimate errs on the careful side.
    """
    attempts = _by_task(baseline)
    if not attempts:
        return default
    rates = [sum(passed) / len(passed) for passed in attempts.values()]
    mean = math.fsum(rates) / len(rates)
    made = replace(default, base_rate=min(1 - _EDGE, max(_EDGE, mean)))
    noise = _trial_noise(attempts)
    if noise is not None and len(rates) > 1:
        left = max(0.0, _variance(rates) - noise)
        made = replace(made, task_sd=_solve(lambda sd: _spread(replace(made, task_sd=sd)) - left, 0.0, 6.0, _COARSE))
    other = _by_task(treated)
    shared = sorted(attempts.keys() & other.keys())
    noises = (
        _trial_noise({task: attempts[task] for task in shared}),
        _trial_noise({task: other[task] for task in shared}),
    )
    if len(shared) > 1 and noises[0] is not None and noises[1] is not None:
        differences = [sum(other[t]) / len(other[t]) - sum(attempts[t]) / len(attempts[t]) for t in shared]
        left = max(0.0, _variance(differences) - noises[0] - noises[1])
        effect = math.fsum(differences) / len(differences)
        highest = min(1 - _EDGE - made.base_rate, max(_EDGE - made.base_rate, effect))
        made = replace(
            made,
            effect_sd=_solve(
                lambda sd: _uneven(_rates(highest, replace(made, effect_sd=sd))) - left, 0.0, 6.0, _COARSE
            ),
        )
    return Variation(made.base_rate, round(made.task_sd, 2), round(made.effect_sd, 2))


@dataclass(frozen=True, slots=True)
class _Rates:
    """Equally likely pairs of success rates of a task."""

    baseline: list[float]
    candidate: list[float]


class _Design:
    """Tasks to be compared, and the chance that they are drawn by."""

    def __init__(self, tasks: int, rates: _Rates, seed: str, runs: int = RUNS) -> None:
        self._tasks = tasks
        self._runs = runs
        self._rates = rates
        self._seed = seed
        gain = math.fsum(rates.candidate) - math.fsum(rates.baseline)
        self._expected: Direction = "higher" if gain > 0 else "lower"

    def power(self, trials: int | None) -> float:
        """Simulate comparisons with so many trials, or with rates that are known, and count those that show it."""
        sums = self._drawn(trials)
        # Without trials a sum is a difference of rates, in a unit that is fine enough to be one.
        each = 1 if trials is None else trials
        tests = sign_flip(sums, self._seed)
        lows, highs = clustered_bounds(sums, [each] * self._tasks, self._seed)
        shown = [
            direction(value, low, high, test.p)
            for value, low, high, test in zip(sums.sum(axis=1).tolist(), lows, highs, tests, strict=True)
        ]
        return shown.count(self._expected) / self._runs

    def _drawn(self, trials: int | None) -> NDArray[np.int64]:
        import numpy as np  # noqa: PLC0415  # as for the tests

        chance = np.random.RandomState(np.frombuffer(hashlib.sha256(self._seed.encode()).digest(), dtype="<u4"))
        drawn = chance.randint(0, len(self._rates.baseline), size=(self._runs, self._tasks))
        baseline, candidate = np.array(self._rates.baseline)[drawn], np.array(self._rates.candidate)[drawn]
        if trials is None:
            differences: NDArray[np.int64] = np.rint((candidate - baseline) * _GRAIN).astype(np.int64)
            return differences
        passed: NDArray[np.int64] = (chance.binomial(trials, candidate) - chance.binomial(trials, baseline)).astype(
            np.int64
        )
        return passed


def _fewest(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Search by doubling and halving for the first number from `start` to `most` that is enough."""
    low, high = start - 1, start
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _rates(effect: float, variation: Variation) -> _Rates:
    import numpy as np  # noqa: PLC0415  # as for the tests

    centre = _centre(variation)
    points = np.array(_POINTS)
    logits = np.repeat(centre + variation.task_sd * points, len(points))
    changed = logits + np.tile(variation.effect_sd * points, len(points))
    baseline: list[float] = _logistic(logits).tolist()
    target = math.fsum(baseline) / len(baseline) + effect

    def missing(shift: float) -> float:
        return math.fsum(_logistic(changed + shift).tolist()) / len(baseline) - target

    candidate: list[float] = _logistic(changed + _solve(missing, -40.0, 40.0)).tolist()
    return _Rates([_grained(rate) for rate in baseline], [_grained(rate) for rate in candidate])


def _centre(variation: Variation) -> float:
    def missing(centre: float) -> float:
        return math.fsum(_rate(centre + variation.task_sd * z) for z in _POINTS) / len(_POINTS) - variation.base_rate

    return _solve(missing, -40.0, 40.0)


def _spread(variation: Variation) -> float:
    """Return the variance between tasks of the baseline's rates."""
    centre = _centre(variation)
    return _variance([_rate(centre + variation.task_sd * z) for z in _POINTS])


def _uneven(rates: _Rates) -> float:
    """Return the variance between tasks of the difference of rates."""
    return _variance([two - one for one, two in zip(rates.baseline, rates.candidate, strict=True)])


def _solve(rising: Callable[[float], float], low: float, high: float, steps: int = _STEPS) -> float:
    """Find by bisection where a rising function is 0; the nearer end where it is not within."""
    if rising(low) >= 0:
        return low
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) >= 0 else (middle, high)
    return high


def _rate(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def _logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415

    rates: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return rates


def _grained(rate: float) -> float:
    return round(rate * _GRAIN) / _GRAIN


def _by_task(attempts: Sequence[Trial]) -> dict[str, list[bool]]:
    """Sort attempted trials by task: did it pass?"""
    found: dict[str, list[bool]] = {}
    for record, _ in pairs(attempts, attempts):
        found.setdefault(record.task_id, []).append(record.passed is True)
    return found


def _trial_noise(attempts: dict[str, list[bool]]) -> float | None:
    """Estimate the variance that trials put into a task's rate; None where a task was tried only once."""
    if not attempts or any(len(passed) < 2 for passed in attempts.values()):
        return None
    each = [sum(passed) / len(passed) for passed in attempts.values()]
    counts = [len(passed) for passed in attempts.values()]
    return math.fsum(rate * (1 - rate) / (n - 1) for rate, n in zip(each, counts, strict=True)) / len(each)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
