"""Intervals hold what they stand for, and come out the same everywhere."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from smriti.metrics import intervals
from smriti.metrics.intervals import bootstrap_means, clustered_bootstrap, quantile, wilson

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_wilson_equals_scipys(counts: tuple[int, int]) -> None:
    successes, n = counts
    ours = wilson(successes, n)
    theirs = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(COUNTS)
def test_wilson_contains_the_rate_and_stays_in_bounds(counts: tuple[int, int]) -> None:
    successes, n = counts
    interval = wilson(successes, n)
    assert interval is not None
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


@given(COUNTS, st.integers(2, 20))
def test_wilson_narrows_as_attempts_grow(counts: tuple[int, int], factor: int) -> None:
    successes, n = counts
    few, many = wilson(successes, n), wilson(successes * factor, n * factor)
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


def test_wilson_says_nothing_of_no_attempts() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes in"):
        wilson(successes, n)


CLUSTERS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.tuples(st.floats(-1, 1), st.just(1.0)), min_size=1, max_size=4),
    min_size=2,
    max_size=6,
)


@given(CLUSTERS)
def test_bootstrap_is_bounded_by_the_extreme_clusters(clusters: dict[str, list[tuple[float, float]]]) -> None:
    interval = clustered_bootstrap(clusters, "seed")
    means = [sum(n for n, _ in pairs) / len(pairs) for pairs in clusters.values()]
    assert interval is not None
    assert min(means) - 1e-9 <= interval.low <= interval.high <= max(means) + 1e-9


@given(CLUSTERS, st.randoms())
def test_bootstrap_does_not_depend_on_the_order_of_clusters_or_pairs(
    clusters: dict[str, list[tuple[float, float]]], chance: object
) -> None:
    del chance
    turned = {name: pairs[::-1] for name, pairs in reversed(clusters.items())}
    assert clustered_bootstrap(clusters, "seed") == clustered_bootstrap(turned, "seed")


def test_bootstrap_covers_the_true_mean_about_as_often_as_it_says() -> None:
    """Over 200 seeded samples of 20 clusters, the 95 % interval holds the true mean in 88 to 99 %."""
    chance = random.Random(7)
    covered = 0
    for sample in range(200):
        clusters = {str(c): [(float(chance.random() < 0.4), 1.0) for _ in range(3)] for c in range(20)}
        interval = clustered_bootstrap(clusters, str(sample))
        assert interval is not None
        covered += interval.low <= 0.4 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_bootstrap_says_nothing_from_one_cluster_or_without_a_denominator() -> None:
    assert clustered_bootstrap({"a": [(1.0, 1.0)]}, "seed") is None
    assert clustered_bootstrap({"a": [(1.0, 0.0)], "b": [(1.0, 0.0)]}, "seed") is None


def test_bootstrap_golden_value() -> None:
    """The bits that every machine must get; made by this very call on Python 3.11."""
    clusters = {name: [(0.1 * number, 1.0), (0.7, 1.0)] for number, name in enumerate("abcdefg")}
    interval = clustered_bootstrap(clusters, "0/golden")
    assert interval is not None
    assert (interval.low, interval.high) == (0.4285714285714285, 0.5714285714285714)


# Means over questions


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    """Columns of the same rows, of values as metrics have them."""
    rows = draw(st.integers(2, 12))
    values = st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.1]) | st.floats(0, 1)
    return draw(st.lists(st.lists(values, min_size=rows, max_size=rows), min_size=1, max_size=4))


def draws(rows: int, seed: str) -> list[list[int]]:
    """Draw the same rows as `bootstrap_means`, one number after the other."""
    key = hashlib.sha256(seed.encode()).digest()
    state = [int.from_bytes(key[at : at + 4], "little") for at in range(0, 32, 4)]
    chance = np.random.RandomState(state)
    return [[int(chance.random_sample() * rows) for _ in range(rows)] for _ in range(intervals.RESAMPLES)]


@settings(max_examples=40)
@given(tables(), st.text(max_size=5))
def test_means_are_drawn_as_a_plain_bootstrap_draws_them(columns: list[list[float]], seed: str) -> None:
    rows = len(columns[0])
    drawn = draws(rows, seed)
    for column, interval in zip(columns, bootstrap_means(columns, seed), strict=True):
        means = sorted(math.fsum(column[row] for row in again) / rows for again in drawn)
        assert interval is not None
        expected = (quantile(means, 0.025), quantile(means, 0.975))
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)
        assert (interval.level, interval.method) == (0.95, "bootstrap over questions")


@given(tables())
def test_an_interval_of_means_lies_between_the_extreme_values(columns: list[list[float]]) -> None:
    for column, interval in zip(columns, bootstrap_means(columns, "seed"), strict=True):
        assert interval is not None
        assert min(column) - 1e-9 <= interval.low <= interval.high <= max(column) + 1e-9


@given(st.integers(30, 200), st.integers(0, 10**6))
@settings(max_examples=30)
def test_an_interval_of_means_contains_the_mean(rows: int, seed: int) -> None:
    chance = random.Random(seed)
    columns = [
        [chance.random() for _ in range(rows)],
        [float(chance.random() < 0.5) for _ in range(rows)],
        [0.1] * rows,
    ]
    for column, interval in zip(columns, bootstrap_means(columns, str(seed)), strict=True):
        assert interval is not None
        assert interval.low - 1e-9 <= math.fsum(column) / rows <= interval.high + 1e-9


@given(tables(), st.data())
def test_a_column_has_the_same_bits_whichever_stand_beside_it(columns: list[list[float]], data: st.DataObject) -> None:
    together = bootstrap_means(columns, "seed")
    order = data.draw(st.permutations(range(len(columns))))
    assert bootstrap_means([columns[place] for place in order], "seed") == [together[place] for place in order]
    assert [bootstrap_means([column], "seed")[0] for column in columns] == together


@pytest.mark.parametrize(("columns", "count"), [([], 0), ([[], []], 2), ([[1.0], [0.5], [0.0]], 3)])
def test_of_fewer_than_two_questions_no_interval_is_drawn(columns: Sequence[Sequence[float]], count: int) -> None:
    assert bootstrap_means(columns, "seed") == [None] * count


def test_more_rows_than_sums_are_exact_for_are_refused() -> None:
    class Endless(Sequence[float]):
        def __len__(self) -> int:
            return 1 << 22

        def __getitem__(self, index: object) -> float:  # type: ignore[override]
            raise AssertionError(index)

    with pytest.raises(ValueError, match="4194304 rows, and sums are exact for at most 4194303"):
        bootstrap_means([Endless()], "seed")


def test_the_seed_is_all_that_the_draws_depend_on() -> None:
    column = [number / 40 for number in range(40)]
    (one,), (again,), (other,) = (bootstrap_means([column], seed) for seed in ("a/40", "a/40", "b/40"))
    assert one == again != other


def test_an_interval_of_means_covers_the_true_mean_about_as_often_as_it_says() -> None:
    """Over 200 seeded samples of 60 questions, the 95 % interval holds the true mean in 90 to 98 %."""
    chance = random.Random(11)
    covered = 0
    for sample in range(200):
        column = [chance.choice((0.0, 0.0, 0.25, 0.5, 1.0)) for _ in range(60)]
        (interval,) = bootstrap_means([column], str(sample))
        assert interval is not None
        covered += interval.low <= 0.35 <= interval.high
    assert 0.90 <= covered / 200 <= 0.98


def test_means_golden_values() -> None:
    """The bits that every machine must get; made by this very call with NumPy 2.4."""
    columns = [[number / 10 for number in range(11)], [float(number % 3 == 0) for number in range(11)], [1.0] * 11]
    made = [(of.low, of.high) for of in bootstrap_means(columns, "all/11") if of is not None]
    assert made == [
        (0.31818181818181884, 0.6999999999999996),
        (0.09090909090909091, 0.6363636363636364),
        (1.0, 1.0),
    ]
