"""Paired tests are right, say the same whoever is called the baseline, and err as seldom as they promise."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from smriti.metrics.intervals import bootstrap_means, clustered_bootstrap
from smriti.metrics.paired import (
    DRAWS,
    EXACT,
    clustered_bounds,
    direction,
    fixed_point,
    holm,
    mcnemar,
    sign_flip,
    smallest_difference,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

RUNS = 2000
MOST_FALSE = 0.05
"""Of 2,000 runs in which nothing differs. The runs are seeded, so that the share is the same on every machine; a test
whose true rate is 5 % would stay below 0.058 in 95 of 100 such samples, and ours must stay below 0.05 itself."""

DIFFERENCES = st.lists(st.integers(-3, 3), min_size=1, max_size=10)
MANY = st.lists(st.integers(-3, 3), min_size=30, max_size=40)


def p_of(differences: list[int]) -> float:
    return sign_flip([differences], "seed")[0].p


@given(DIFFERENCES)
def test_the_exact_test_counts_all_ways_of_giving_signs(differences: list[int]) -> None:
    ways = list(itertools.product((-1, 1), repeat=len(differences)))
    reached = sum(
        abs(sum(sign * value for sign, value in zip(way, differences, strict=True))) >= abs(sum(differences))
        for way in ways
    )
    assert p_of(differences) == float(Fraction(reached, len(ways)))


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=10))
def test_the_exact_test_equals_scipys(differences: list[int]) -> None:
    theirs = stats.permutation_test(
        (np.array(differences), np.zeros(len(differences))),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    assert p_of(differences) == pytest.approx(theirs.pvalue)


def test_twenty_rows_that_differ_are_counted_and_twenty_one_are_drawn() -> None:
    counted, drawn, padded = (
        sign_flip([[1] * moved + [0] * (30 - moved)], "seed")[0] for moved in (EXACT, EXACT + 1, 3)
    )
    assert (counted.method, counted.moved, counted.p) == ("exact sign-flip", 20, 2 / 2**20)
    assert (drawn.method, drawn.moved, drawn.p) == (f"sign-flip, {DRAWS} draws", 21, 1 / (DRAWS + 1))
    assert (padded.method, padded.moved, padded.p) == ("exact sign-flip", 3, 0.25)


def test_draws_come_near_the_count_that_they_estimate() -> None:
    """Of the sum of 30 fair signs: P(|S| ≥ 8), from the binomial distribution."""
    differences = [1] * 19 + [-1] * 11
    expected = 2 * stats.binom.sf(18, 30, 0.5)
    assert p_of(differences) == pytest.approx(expected, abs=4 * (expected * (1 - expected) / DRAWS) ** 0.5)


@given(DIFFERENCES | MANY, st.randoms())
@settings(max_examples=40, deadline=None)
def test_a_sign_flip_p_is_a_probability_that_ignores_order_and_direction(
    differences: list[int], chance: object
) -> None:
    shuffled = differences[:]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    p = p_of(differences)
    assert 0 < p <= 1
    assert p_of(shuffled) == p
    assert p_of([-value for value in differences]) == p


@given(st.lists(st.lists(st.integers(-3, 3), min_size=25, max_size=25), min_size=2, max_size=4))
@settings(max_examples=20, deadline=None)
def test_a_column_is_tested_as_if_it_were_alone(columns: list[list[int]]) -> None:
    assert sign_flip(columns, "seed") == [sign_flip([column], "seed")[0] for column in columns]


def test_nothing_that_differs_gives_p_1() -> None:
    assert [test.p for test in sign_flip([[0, 0], [1, -1]], "seed")] == [1.0, 1.0]
    assert sign_flip([[]], "seed")[0].p == 1.0
    assert sign_flip([], "seed") == []


def test_sums_that_differ_by_rounding_alone_count_as_equal() -> None:
    """1/3 + 1/3 − 2/3 is 0, and every way of giving signs reaches that; in fixed point some come out a unit short."""
    thirds = [1 / 3, 1 / 3, -2 / 3] * 7
    columns, slack = fixed_point([thirds])
    assert sign_flip(columns, "seed", slack=slack)[0].p == 1.0
    small, slack = fixed_point([[1 / 3, 1 / 3, 2 / 3, -1 / 3]])
    whole = sign_flip([[1, 1, 2, -1]], "seed")[0].p
    assert sign_flip(small, "seed", slack=slack)[0].p == whole


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_the_binomial_test_on_discordant_pairs(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)
    assert 0 < mcnemar(gained, lost) <= 1


def test_mcnemar_is_never_0() -> None:
    assert 0 < mcnemar(0, 5000) < 1e-300


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


PS = st.lists(st.floats(0.0001, 1), min_size=1, max_size=12)


@given(PS, st.randoms())
def test_holm_lies_between_the_p_itself_and_bonferronis_and_ignores_order(ps: list[float], chance: object) -> None:
    adjusted = holm(ps)
    order = list(range(len(ps)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    assert holm([ps[index] for index in order]) == [adjusted[index] for index in order]
    assert all(p <= corrected <= min(1.0, len(ps) * p) for p, corrected in zip(ps, adjusted, strict=True))
    assert min(adjusted) == min(1.0, len(ps) * min(ps))
    assert [corrected for _, corrected in sorted(zip(ps, adjusted, strict=True))] == sorted(adjusted)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=12, max_size=12), min_size=1, max_size=3))
@settings(max_examples=5, deadline=None)
def test_bounds_all_at_once_are_those_of_the_clustered_bootstrap(sums: list[list[int]]) -> None:
    pairs = [3, 2, 3, 1, 3, 3, 3, 3, 3, 2, 3, 3]
    lows, highs = clustered_bounds(np.array(sums), pairs, "seed")
    for row, low, high in zip(sums, lows, highs, strict=True):
        clusters = {
            f"{task:02}": [(float(total), 1.0), *[(0.0, 1.0)] * (count - 1)]
            for task, (total, count) in enumerate(zip(row, pairs, strict=True))
        }
        interval = clustered_bootstrap(clusters, "seed")
        assert interval is not None
        assert (interval.low, interval.high) == (low, high)


def test_a_direction_is_shown_only_where_test_and_interval_agree() -> None:
    assert direction(0.2, 0.1, 0.3, 0.05) == "higher"
    assert direction(-0.2, -0.3, -0.1, 0.01) == "lower"
    assert direction(0.2, 0.1, 0.3, 0.0501) is None
    assert direction(0.2, 0.0, 0.3, 0.01) is None
    assert direction(0.2, 0.1, 0.3, 0.03, alpha=0.01) is None
    assert direction(None, 0.1, 0.3, 0.01) is None


# A/A: nothing differs


def verdicts(sums: NDArray[np.int64], pairs: list[int]) -> list[str | None]:
    """What the comparison of the bench says of each row of task sums."""
    lows, highs = clustered_bounds(sums, pairs, "seed")
    tests = sign_flip(sums, "seed")
    return [
        direction(value, low, high, test.p)
        for value, low, high, test in zip(sums.sum(axis=1).tolist(), lows, highs, tests, strict=True)
    ]


@pytest.mark.parametrize(("trials", "uneven"), [(3, 0.0), (3, 0.2), (20, 0.2)])
def test_the_bench_seldom_finds_a_difference_where_there_is_none(trials: int, uneven: float) -> None:
    """27 tasks of unlike difficulty, also where memory helps some as much as it harms others."""
    chance = np.random.default_rng(1)
    rate = chance.beta(1, 1, (RUNS, 27)) * 0.6 + 0.2
    shift = chance.uniform(-uneven, uneven, (RUNS, 27))
    sums = chance.binomial(trials, rate + shift) - chance.binomial(trials, rate)
    false = sum(found is not None for found in verdicts(sums, [trials] * 27)) / RUNS
    assert 0.01 < false <= MOST_FALSE


@pytest.mark.parametrize("whole", [True, False])
def test_retrieval_seldom_finds_a_difference_where_there_is_none(whole: bool) -> None:
    """100 questions, whose evidence is found wholly or not at all, or in thirds."""
    chance = np.random.default_rng(2)
    rate = chance.beta(1, 1, (RUNS, 100))
    parts = 1 if whole else 3
    columns = ((chance.binomial(parts, rate) - chance.binomial(parts, rate)) / parts).tolist()
    fixed, slack = fixed_point(columns)
    tests = sign_flip(fixed, "seed", slack=slack)
    false = 0
    for column, interval, test in zip(columns, bootstrap_means(columns, "seed"), tests, strict=True):
        assert interval is not None
        false += direction(sum(column), interval.low, interval.high, test.p) is not None
    assert 0.01 < false / RUNS <= MOST_FALSE


# Power


@pytest.mark.parametrize(("questions", "fickle"), [(60, 12), (400, 40), (400, 200), (100, 0)])
def test_the_smallest_difference_is_found_in_8_of_10_runs(questions: int, fickle: int) -> None:
    """Read off from samples in which nothing differs, then planted: found in 75 to 87 % of 1,000 runs.

    The first `fickle` questions are found or not by chance, on either side; the others are lost by both, but for those
    that the candidate gains.
    """
    chance = np.random.default_rng(3)

    def sample(effect: float) -> NDArray[np.int64]:
        noise = chance.binomial(1, 0.5, (1000, fickle)) - chance.binomial(1, 0.5, (1000, fickle))
        rest = questions - fickle
        return np.hstack([noise, chance.random((1000, rest)) < effect * questions / rest]).astype(np.int64)

    smallest = np.mean([smallest_difference(row) or 0.0 for row in sample(0.0)[:100].tolist()])
    shown = verdicts(sample(float(smallest)), [1] * questions).count("higher") / 1000
    assert 0.75 <= shown <= 0.87


def test_the_smallest_difference_by_hand() -> None:
    """Of like answers and of unlike ones d solves its own equation, with Student's quantiles by scipy."""
    for column in ([0.0] * 100, [1.0, -1.0] * 50):
        d = smallest_difference(column)
        assert d is not None
        c = stats.t.ppf(0.975, 99) + stats.t.ppf(0.8, 99)
        assert d == pytest.approx(0.005 + c * ((np.var(column, ddof=1) + d * (1 - d)) / 100) ** 0.5, rel=1e-4)
    assert smallest_difference([1.0]) is None
    assert smallest_difference([1.0, -1.0]) == 1.0


# Golden values


def test_golden_values() -> None:
    """The bits that every machine must get; made by these very calls on Python 3.11."""
    differences = [(7 * number) % 11 - 4 for number in range(40)]
    test = sign_flip([differences], "golden")[0]
    assert (test.p, test.moved) == GOLDEN_P
    lows, highs = clustered_bounds(np.array([differences]), [3] * 40, "golden")
    assert (lows, highs) == GOLDEN_BOUNDS


GOLDEN_P = (0.055747212639368035, 37)
GOLDEN_BOUNDS = ([0.016666666666666666], [0.675])
