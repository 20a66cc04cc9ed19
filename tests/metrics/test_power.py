"""What `plan` promises is what the comparison then finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from smriti.metrics.paired import clustered_bounds, direction, sign_flip
from smriti.metrics.power import MOST_TRIALS, Variation, plan, simulated_power, smallest_effect, variation_of
from smriti.types import TrialRecord
from tests.strategies import record

EVEN = Variation(base_rate=0.5, task_sd=1.0, effect_sd=0.0)


def found(effect: float, tasks: int, trials: int, variation: Variation) -> float:
    """Share of 1,000 comparisons that show a planted effect: drawn here, from the model as the docstring states it."""
    chance = np.random.default_rng(5)
    z, w = chance.standard_normal((2, 400_000))
    spread, more = variation.task_sd * z, variation.effect_sd * w
    base = optimize.brentq(lambda a: special.expit(a + spread).mean() - variation.base_rate, -20, 20)
    target = variation.base_rate + effect
    shift = optimize.brentq(lambda b: special.expit(base + spread + b + more).mean() - target, -20, 20)
    z, w = chance.standard_normal((2, 1000, tasks))
    baseline = special.expit(base + variation.task_sd * z)
    candidate = special.expit(base + variation.task_sd * z + shift + variation.effect_sd * w)
    sums = chance.binomial(trials, candidate) - chance.binomial(trials, baseline)
    lows, highs = clustered_bounds(sums, [trials] * tasks, "another seed")
    tests = sign_flip(sums, "another seed")
    expected = "higher" if effect > 0 else "lower"
    return sum(
        direction(value, low, high, test.p) == expected
        for value, low, high, test in zip(sums.sum(axis=1).tolist(), lows, highs, tests, strict=True)
    ) / len(sums)


@pytest.mark.parametrize(
    ("effect", "tasks", "variation"),
    [
        (0.15, 27, Variation()),
        (0.3, 12, Variation(base_rate=0.2, effect_sd=1.0)),
        (-0.2, 27, Variation(base_rate=0.7, task_sd=0.5, effect_sd=0.0)),
    ],
)
def test_a_planted_effect_is_found_at_the_planned_power(effect: float, tasks: int, variation: Variation) -> None:
    """By an independent simulation: within 0.05 of the power that was planned, three standard errors and the grid."""
    planned = plan(effect, tasks, variation, seed=0)
    assert planned.trials is not None
    promised = next(each.power for each in planned.reached if each.trials == planned.trials)
    assert promised >= 0.8
    assert found(effect, tasks, planned.trials, variation) == pytest.approx(promised, abs=0.05)
    fewer = simulated_power(effect, tasks, planned.trials - 1, variation, seed=0)
    assert fewer < 0.82, "no fewer trials would do"


def test_where_tasks_alone_are_too_few_no_number_of_trials_is_given() -> None:
    planned = plan(0.05, 12, Variation(effect_sd=1.5), seed=0)
    assert planned.trials is None
    assert planned.reached[-1].trials is None
    assert planned.reached[-1].power < 0.8
    most = next(each.power for each in planned.reached if each.trials == MOST_TRIALS)
    assert most <= planned.reached[-1].power + 0.05, "the tasks set the limit"


def test_a_plan_is_the_same_each_time_and_another_with_another_seed() -> None:
    assert plan(0.5, 12, EVEN, seed=0) == plan(0.5, 12, EVEN, seed=0)
    assert plan(0.5, 12, EVEN, seed=0).reached != plan(0.5, 12, EVEN, seed=1).reached


def test_more_power_and_smaller_effects_take_more_trials() -> None:
    trials = [
        plan(effect, 15, EVEN, power=power, seed=0).trials for effect, power in ((0.5, 0.8), (0.35, 0.8), (0.35, 0.95))
    ]
    assert None not in trials
    assert sorted(trials, key=lambda each: each or 0) == trials
    assert len(set(trials)) == 3


def test_the_search_starts_from_the_fewest_that_get_a_verdict() -> None:
    planned = plan(0.5, 20, EVEN, fewest=2, seed=0)
    assert [each.trials for each in planned.reached] == [2, None]
    assert planned.trials == 2


def test_nothing_is_found_more_often_than_chance_where_nothing_is_planted() -> None:
    """A millionth is as good as nothing; the test is two-sided, and half of its 5 % lies in the planted direction."""
    assert simulated_power(1e-6, 27, 3, Variation(effect_sd=0.0), seed=0) < 0.025


@pytest.mark.parametrize("base_rate", [0.3, 0.8])
def test_the_smallest_effect_of_a_design_has_that_power_and_a_hundredth_less_has_not(base_rate: float) -> None:
    variation = Variation(base_rate=base_rate)
    smallest = smallest_effect(27, 3, variation)
    assert smallest is not None
    sign = 1 if base_rate < 0.5 else -1
    assert simulated_power(sign * smallest, 27, 3, variation, seed=0) >= 0.77
    assert simulated_power(sign * (smallest - 0.01), 27, 3, variation, seed=0) < 0.82


def test_a_design_may_be_too_small_for_any_effect() -> None:
    assert smallest_effect(5, 3, Variation()) is None, "5 tasks: the smallest two-sided p is 1/16"


def trials_of(rates: np.ndarray, condition: str, chance: np.random.Generator, trials: int = 4) -> list[TrialRecord]:
    return [
        record(f"task{task:03}", condition, trial, status="passed" if chance.random() < rate else "failed")
        for task, rate in enumerate(rates)
        for trial in range(1, trials + 1)
    ]


def test_the_variation_of_a_receipt_is_what_its_trials_were_drawn_with() -> None:
    """400 tasks with 4 trials each, whose noise is as large: the base rate to 0.05, the spreads to 0.3 logits."""
    chance = np.random.default_rng(6)
    logits = -0.5 + 1.2 * chance.standard_normal(400)
    off = trials_of(special.expit(logits), "off", chance)
    on = trials_of(special.expit(logits + 1.5 + 0.9 * chance.standard_normal(400)), "on", chance)
    found = variation_of(off, on, Variation())
    assert found.base_rate == pytest.approx(special.expit(logits).mean(), abs=0.05)
    assert found.task_sd == pytest.approx(1.2, abs=0.3)
    assert found.effect_sd == pytest.approx(0.9, abs=0.3)
    turned = variation_of(off[::-1], on[::-1], Variation())
    assert turned == found


def test_what_a_receipt_cannot_tell_stays_the_default() -> None:
    default = Variation(task_sd=0.7, effect_sd=0.4)
    assert variation_of([], [], default) == default
    once = [record(f"task{task}", "on", 1, status="passed" if task < 2 else "failed") for task in range(8)]
    assert variation_of(once, [], default) == Variation(0.25, 0.7, 0.4), "one trial says nothing of spreads"


def test_trials_that_always_end_alike_vary_between_tasks_alone() -> None:
    alike = [
        record(f"task{task}", "on", trial, status="passed" if task < 4 else "failed")
        for task in range(8)
        for trial in (1, 2, 3)
    ]
    varied = variation_of(alike, alike, Variation())
    assert (varied.base_rate, varied.task_sd, varied.effect_sd) == (0.5, 6.0, 0.0)


def test_a_golden_power() -> None:
    """The bits that every machine must get; made by this very call on Python 3.11."""
    assert simulated_power(0.2, 12, 5, Variation(), seed=0) == GOLDEN


GOLDEN = 0.536
