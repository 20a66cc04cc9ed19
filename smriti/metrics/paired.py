"""Tests of paired differences, and what a test and an interval say together: seeded, and the same bits anywhere."""

from __future__ import annotations

import hashlib
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from smriti.metrics.intervals import RESAMPLES, Z_95

if TYPE_CHECKING:  # NumPy takes a tenth of a second, paid only by who compares
    import numpy as np
    from numpy.typing import NDArray

ALPHA = 0.05
"""Two-sided level of every test."""
POWER = 0.8
EXACT = 20
"""With up to so many rows that differ all ways of flipping them are counted; with more they are drawn."""
DRAWS = 20_000
_AT_ONCE = 1000
_Z_80 = 0.8416212335729143
"""The 0.8 quantile of the standard normal distribution."""

Direction = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Tested:
    """What a sign-flip test found."""

    p: float
    """Two-sided, in (0, 1]."""
    method: str
    moved: int
    """Rows whose difference is not 0."""


def sign_flip(columns: Sequence[Sequence[int]] | NDArray[np.int64], seed: str, *, slack: int = 0) -> list[Tested]:
    """Test each column of differences, one a task or question, for a sum other than 0 by flipping their signs.

    If nothing differs in truth, each difference is as likely to have the other sign. p is the share of all ways of
    giving signs in which |sum| is at least what was found: counted where at most `EXACT` rows differ from 0; else of
    `DRAWS` seeded draws, as (b + 1) / (m + 1). Sums count as equal within `slack`, which is what rounding can do.
    Columns have the same rows; a column's result depends on nothing but its own values, in any order and of either
    sign, and the seed. Sources: R. A. Fisher, The design of experiments (1935), chapter 3; Phipson and Smyth,
    Permutation p-values should never be zero (2010).
    """
    import numpy as np  # noqa: PLC0415

    table = np.asarray(columns, dtype=np.int64)
    if table.size == 0:
        return [Tested(1.0, "exact sign-flip", 0)] * len(columns)
    found = np.abs(table.sum(axis=1)) - slack
    sizes = np.sort(np.abs(table), axis=1)
    moved = np.count_nonzero(sizes, axis=1)
    drawn = np.flatnonzero(moved > EXACT)
    reached = dict(zip(drawn.tolist(), _drawn(sizes[drawn], found[drawn], seed), strict=True))
    return [
        Tested((reached[row] + 1) / (DRAWS + 1), f"sign-flip, {DRAWS} draws", count)
        if row in reached
        else Tested(_counted(sizes[row, len(sizes[row]) - count :], int(found[row])), "exact sign-flip", count)
        for row, count in enumerate(moved.tolist())
    ]


def fixed_point(columns: Sequence[Sequence[float]]) -> tuple[NDArray[np.int64], int]:
    """Return differences in [-1, 1] as whole numbers whose sums are exact, and the slack that the rounding asks for."""
    import numpy as np  # noqa: PLC0415

    rows = len(columns[0]) if columns else 0
    unit = float(1 << (52 - rows.bit_length()))
    # Each value is off by at most half a unit, and so each of the two sums that are compared by half a unit a row.
    return np.rint(np.array(columns, dtype=np.float64) * unit).astype(np.int64), rows


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p of McNemar's test on `gained` and `lost` pairs, taken as independent of each other.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions (1947).
    """
    n = gained + lost
    tail = sum(math.comb(n, k) for k in range(min(gained, lost) + 1))
    return max(sys.float_info.min, min(1.0, 2 * tail / (1 << n)))


def holm(values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p of each of a family of tests: at most 5 % of families have any false finding below 0.05.

    Source: S. Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    adjusted = [1.0] * len(values)
    running = 0.0
    for place, index in enumerate(sorted(range(len(values)), key=lambda index: values[index])):
        running = max(running, min(1.0, (len(values) - place) * values[index]))
        adjusted[index] = running
    return adjusted


def clustered_bounds(sums: NDArray[np.int64], pairs: Sequence[int], seed: str) -> tuple[list[float], list[float]]:
    """Return the ends of what `intervals.clustered_bootstrap` gives for each row of `sums`, bit for bit, all at once.

    A row holds the sum of each task, tasks in the order of their names; `pairs` counts the pairs of each.
    """
    import numpy as np  # noqa: PLC0415

    tasks = len(pairs)
    chance = random.Random(seed)  # noqa: S311  # statistics, not secrets
    drawn = np.array([int(chance.random() * tasks) for _ in range(RESAMPLES * tasks)]).reshape(RESAMPLES, tasks)
    drawn += np.arange(RESAMPLES)[:, None] * tasks
    times = np.bincount(drawn.ravel(), minlength=RESAMPLES * tasks).reshape(RESAMPLES, tasks).astype(np.float64)
    means = (sums.astype(np.float64) @ times.T) / (times @ np.array(pairs, dtype=np.float64))
    low, high = _bounds(means, 0.025, 0.975)
    return low, high


def direction(value: float | None, low: float, high: float, p: float, alpha: float = ALPHA) -> Direction | None:
    """Say which way a difference was shown: only where test and interval agree, so the stricter of them decides."""
    if value is None or p > alpha or low <= 0 <= high:
        return None
    return "higher" if value > 0 else "lower"


def smallest_difference(differences: Sequence[float]) -> float | None:
    """Estimate the smallest mean difference of n questions that is shown in 8 of 10 runs; None for fewer than two.

    Where the spread s of the differences is chance, and a difference d comes as questions that change by 1 in one
    direction, which spreads them further: d = 1/2n + c·√((s² + d(1 − d)) / n), with c the sum of Student's 0.975 and
    0.8 quantiles, and 1/2n since questions are whole. So even of systems that answer alike some eight must change.
    """
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    spread = math.fsum((difference - mean) ** 2 for difference in differences) / (n - 1)
    share = (_student(Z_95, n - 1) + _student(_Z_80, n - 1)) ** 2 / n
    half = 1 / (2 * n)
    middle = share + 2 * half
    root = math.sqrt(middle * middle - 4 * (1 + share) * (half * half - share * spread))
    return min(1.0, (middle + root) / (2 * (1 + share)))


def _drawn(sizes: NDArray[np.int64], found: NDArray[np.int64], seed: str) -> list[int]:
    """Count for each row the draws of signs whose |sum| reaches what was found."""
    import numpy as np  # noqa: PLC0415

    reached = np.zeros(len(sizes), dtype=np.int64)
    if len(sizes) == 0:
        return []
    chance = np.random.RandomState(np.frombuffer(hashlib.sha256(seed.encode()).digest(), dtype="<u4"))
    exact = sizes.T.astype(np.float64)  # sums stay below 2**53, so that no order of adding rounds them
    for _ in range(DRAWS // _AT_ONCE):
        signs = chance.randint(0, 2, size=(_AT_ONCE, len(exact)), dtype=np.int8).astype(np.float64) * 2 - 1
        reached += np.count_nonzero(np.abs(signs @ exact) >= found, axis=0)
    counts: list[int] = reached.tolist()
    return counts


def _counted(sizes: NDArray[np.int64], found: int) -> float:
    """Return the share of all ways of giving signs to `sizes` whose |sum| is at least `found`."""
    import numpy as np  # noqa: PLC0415

    if found <= 0:
        return 1.0
    half = len(sizes) // 2
    some, others = _sums(sizes[:half]), np.sort(_sums(sizes[half:]))
    below = int(np.searchsorted(others, found - some, side="left").sum())
    ways = 1 << len(sizes)
    return 2 * (ways - below) / ways  # as many sums are at most -found


def _sums(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415

    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _bounds(draws: NDArray[np.float64], *quantiles: float) -> list[list[float]]:
    """Return quantiles of each row, by the arithmetic of `intervals.quantile`."""
    import numpy as np  # noqa: PLC0415

    positions = [q * (draws.shape[1] - 1) for q in quantiles]
    ends = [(math.floor(position), min(math.floor(position) + 1, draws.shape[1] - 1)) for position in positions]
    ordered = np.partition(draws, sorted({place for pair in ends for place in pair}), axis=1)
    return [
        (ordered[:, below] + (ordered[:, above] - ordered[:, below]) * (position - below)).tolist()
        for position, (below, above) in zip(positions, ends, strict=True)
    ]


def _student(z: float, freedom: int) -> float:
    """Return Student's quantile from the normal one, after Cornish and Fisher; off by < 1 % from 5 degrees on."""
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2
