"""What the agent read and wrote, on against off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from smriti.metrics.intervals import clustered_bootstrap
from smriti.metrics.pairing import Estimate, Trial, by_task, pairs


def usage_unknown_rate(records: Sequence[Trial]) -> Estimate:
    """Share of attempted trials whose tokens nobody counted in full."""
    attempted = [record for record in records if record.status != "skipped"]
    unknown = sum(record.tokens is None for record in attempted)
    return Estimate(unknown / len(attempted) if attempted else None, len(attempted), len(records) - len(attempted))


def mean_tokens(records: Sequence[Trial]) -> Estimate:
    """Mean total tokens of the attempted trials whose tokens are known; the others are excluded and counted."""
    known = [total for record in records if record.status != "skipped" and (total := record.tokens) is not None]
    return Estimate(math.fsum(known) / len(known) if known else None, len(known), len(records) - len(known))


def delta_tokens(treated: Sequence[Trial], control: Sequence[Trial], seed: str) -> Estimate:
    """Mean over pairs of (treated − control) total tokens; pairs with an unknown side are excluded and counted."""
    known, excluded = _known_pairs(treated, control)
    if not known:
        return Estimate(None, 0, excluded)
    clusters = by_task(known, lambda pair: (float(pair[2] - pair[3]), 1.0))
    value = math.fsum(float(on - off) for _, _, on, off in known) / len(known)
    return Estimate(value, len(known), excluded, clustered_bootstrap(clusters, seed))


def token_ratio(treated: Sequence[Trial], control: Sequence[Trial], seed: str) -> Estimate:
    """Σ treated / Σ control total tokens over the pairs in which both are known; None where the control used none."""
    known, excluded = _known_pairs(treated, control)
    control_sum = sum(off for _, _, _, off in known)
    if control_sum == 0:
        return Estimate(None, len(known), excluded)
    clusters = by_task(known, lambda pair: (float(pair[2]), float(pair[3])))
    value = sum(on for _, _, on, _ in known) / control_sum
    return Estimate(value, len(known), excluded, clustered_bootstrap(clusters, seed))


_KnownPair = tuple[Trial, Trial, int, int]


def _known_pairs(treated: Sequence[Trial], control: Sequence[Trial]) -> tuple[list[_KnownPair], int]:
    paired = pairs(treated, control)
    known = [
        (on, off, on_total, off_total)
        for on, off in paired
        if (on_total := on.tokens) is not None and (off_total := off.tokens) is not None
    ]
    return known, len(treated) - len(known)
