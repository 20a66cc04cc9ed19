"""Uncertainty intervals, from IEEE arithmetic and Python's own seeded generator: any machine gets the same bits."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from smriti.types import Interval

Z_95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

RESAMPLES = 2000


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
        low=_quantile(values, 0.025), high=_quantile(values, 0.975), level=0.95, method="task-clustered bootstrap"
    )


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Interpolate linearly between order statistics (type 7 of Hyndman and Fan, 1996)."""
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
