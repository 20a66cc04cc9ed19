"""Uncertainty intervals, from IEEE arithmetic and Python's own seeded generator: any machine gets the same bits."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence

from smriti.types import Interval

Z_95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

RESAMPLES = 2000
_AT_ONCE = 10
"""Resamples that are drawn together: more of them would not fit the caches of a processor."""
_MOST_ROWS = (1 << 22) - 1


def wilson(successes: int, n: int) -> Interval | None:
    """Return the 95 % Wilson score interval of successes/n; None for n = 0.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} attempts")
    if n == 0:
        return None
    rate = successes / n
    z2 = Z_95 * Z_95
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # At 0 and n successes one end equals the rate exactly; rounding must not push it past.
    low = 0.0 if successes == 0 else max(0.0, min(rate, centre - half))
    high = 1.0 if successes == n else min(1.0, max(rate, centre + half))
    return Interval(low=low, high=high, level=0.95, method="wilson")


def clustered_bootstrap(clusters: Mapping[str, Sequence[tuple[float, float]]], seed: str) -> Interval | None:
    """Return the 95 % percentile interval of Σ numerators / Σ denominators when whole clusters are drawn again.

    A cluster (a task) holds (numerator, denominator) pairs, one a pair of trials: for a mean the denominators are 1.
    Clusters are taken in the order of their names, so the order of records is irrelevant. None where there are fewer
    than two clusters, or where some draw has no denominator. Source: Efron and Tibshirani, An introduction to the
    bootstrap (1993), chapters 8 and 13.
    """
    sums = [
        (math.fsum(numerator for numerator, _ in pairs), math.fsum(denominator for _, denominator in pairs))
        for _, pairs in sorted(clusters.items())
        if pairs
    ]
    if len(sums) < 2:
        return None
    chance = random.Random(seed)  # noqa: S311  # statistics, not secrets
    count = len(sums)
    values: list[float] = []
    for _ in range(RESAMPLES):
        numerator = denominator = 0.0
        for _ in range(count):
            drawn = sums[int(chance.random() * count)]
            numerator += drawn[0]
            denominator += drawn[1]
        if denominator == 0:
            return None
        values.append(numerator / denominator)
    values.sort()
    return Interval(
        low=quantile(values, 0.025), high=quantile(values, 0.975), level=0.95, method="task-clustered bootstrap"
    )


def bootstrap_means(columns: Sequence[Sequence[float]], seed: str) -> list[Interval | None]:
    """Return the 95 % percentile interval of each column's mean when questions, the rows, are drawn again.

    Values lie in [−1, 1], and every column has the same rows: all of them are drawn at once. None for fewer than two
    rows. Values are rounded to a fixed point of at least 30 binary digits, so that sums are exact and their order is
    irrelevant; NumPy's RandomState is the generator whose stream never changes. Source: Efron and Tibshirani, An
    introduction to the bootstrap (1993), chapter 13.
    """
    rows = len(columns[0]) if columns else 0
    if rows < 2:
        return [None] * len(columns)
    import numpy as np  # noqa: PLC0415  # a tenth of a second, paid only by who has questions to score

    if rows > _MOST_ROWS:
        raise ValueError(f"{rows} rows, and sums are exact for at most {_MOST_ROWS}")
    unit = float(1 << (52 - rows.bit_length()))
    fixed = np.rint(np.array(columns, dtype=np.float64).T * unit)
    chance = np.random.RandomState(np.frombuffer(hashlib.sha256(seed.encode()).digest(), dtype="<u4"))
    sums = []
    for _ in range(RESAMPLES // _AT_ONCE):
        drawn = (chance.random_sample((_AT_ONCE, rows)) * rows).astype(np.int64)
        drawn += np.arange(_AT_ONCE)[:, None] * rows
        times = np.bincount(drawn.ravel(), minlength=_AT_ONCE * rows).reshape(_AT_ONCE, rows)
        sums.append(times.astype(np.float64) @ fixed)
    means = np.sort(np.concatenate(sums), axis=0) / (rows * unit)
    return [
        Interval(low=quantile(of, 0.025), high=quantile(of, 0.975), level=0.95, method="bootstrap over questions")
        for of in means.T.tolist()
    ]


def quantile(ordered: Sequence[float], q: float) -> float:
    """Interpolate linearly between the order statistics of sorted values (type 7 of Hyndman and Fan, 1996)."""
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
