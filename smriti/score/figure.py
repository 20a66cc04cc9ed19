"""Figures of suites that have no conditions."""

from __future__ import annotations

from smriti.types import Interval, Score


def system_score(
    metric: str,
    system: str,
    group: str,
    value: float | None,
    n: int,
    *,
    excluded: int = 0,
    interval: Interval | None = None,
) -> Score:
    """Make one figure of a system."""
    return Score(
        metric=metric,
        system=system,
        condition=None,
        group=group,
        value=value,
        n=n,
        excluded=excluded,
        interval=interval,
    )
