"""The tests of one comparison: candidate − baseline, paired by case, from the records of two receipts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from smriti.errors import UsageError
from smriti.metrics import outcome, tokens
from smriti.metrics.intervals import bootstrap_means, clustered_bootstrap
from smriti.metrics.paired import Tested, direction, fixed_point, holm, mcnemar, sign_flip, smallest_difference
from smriti.metrics.pairing import Trial, by_task, pairs
from smriti.metrics.power import Variation, smallest_effect, variation_of
from smriti.metrics.ranking import Metric
from smriti.receipts.comparable import Side
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest, Interval, QuestionRecord, RetrievalManifest, TrialRecord

Role = Literal["headline", "check", "other", "all", "type"]
"""The headline is the one test of the verdict. A check is no finding: off against off, and the difference of
differences. The others are families of tests, each with Holm's correction of its own: the other conditions of a bench;
of a retrieval suite the other metrics over all questions, and every metric of every type."""

QUESTIONS_METHOD = "paired bootstrap over questions"


@dataclass(frozen=True, slots=True)
class McNemar:
    """Pairs of trials that ended differently, and the exact test of their balance."""

    gained: int
    """The candidate passed where the baseline failed."""
    lost: int
    p: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """One figure of a comparison, over the cases that both sides have."""

    metric: str
    condition: str | None
    group: str
    role: Role
    baseline: float | None
    candidate: float | None
    value: float | None
    """candidate − baseline, over pairs; of `token_ratio` candidate / baseline."""
    n: int
    """Pairs of trials, or questions."""
    clusters: int
    """Tasks of the pairs, which are what is drawn and flipped; of a retrieval suite the questions themselves."""
    excluded: int
    """Cases of either side that have no partner, or of whose pair a value is unknown."""
    interval: Interval | None
    p: float | None
    """Of the sign-flip test, two-sided and uncorrected; None of a ratio, which is not tested."""
    p_holm: float | None
    """Corrected within the family; of the headline the same as `p`; None of what is no finding."""
    method: str | None
    mcnemar: McNemar | None = None

    def shown(self, alpha: float = 0.05) -> Literal["higher", "lower"] | None:
        """Say which way the difference was shown, by the corrected test and the interval both; None if it was not."""
        p = self.p if self.p_holm is None else self.p_holm
        if p is None or self.interval is None:
            return None
        return direction(self.value, self.interval.low, self.interval.high, p, alpha)


def bench_contrasts(baseline: Side, candidate: Side, condition: str) -> list[Contrast]:
    """Compare each condition that both have, `condition` first: success with its tests, and tokens as a ratio.

    The headline is sr(candidate) − sr(baseline) under `condition`, not the difference of the two ΔSR: where the
    experiment is the same, off is the same arm twice, and taking it away from both sides adds the chance of two more
    arms (about twice the variance) and no knowledge. That off is the same arm is an assumption, so it is tested: off
    against off is a check that can forbid a verdict, and the difference of differences stands beside it.
    """
    arms = [_arms(side) for side in (baseline, candidate)]
    others = [name for name in arms[0] if name in arms[1] and name != condition]
    found: list[Contrast] = []
    for name in (condition, *others):
        role: Role = "headline" if name == condition else "check" if name == "off" else "other"
        found.append(_success(arms[0][name], arms[1][name], name, role))
    found = _corrected(found, "other")
    for name in (condition, *others):
        found.append(_ratio(arms[0][name], arms[1][name], name))
    if condition != "off" and "off" in others:
        found.append(_gains(arms, condition))
    return found


def effects(receipt: SealedReceipt, baselines: Sequence[str]) -> dict[str, Contrast]:
    """Compare on with each of `baselines` that a bench receipt has, as two receipts are, with Holm's correction."""
    arms = _arms(Side("A", receipt))
    found = [_success(arms[name], arms["on"], name, "other") for name in baselines if name in arms and "on" in arms]
    return {contrast.condition or "": contrast for contrast in _corrected(found, "other")}


def retrieval_contrasts(baseline: Side, candidate: Side) -> list[Contrast]:
    """Compare each metric over all questions, and each for each type of question; a failed attempt found nothing.

    The headline is recall_all at the smallest k over all questions, fixed before any figure is seen: a single test, to
    which no correction is due. The other metrics over all questions are one family of Holm's, with those against other
    evidence for them (the groups `all-…`); the metrics of the types are another.
    """
    of = [_questions(side) for side in (baseline, candidate)]
    names = _metric_names(baseline, candidate)
    groups = sorted({group for records in of for record in records.values() for group in record.groups} - {"all"})
    found = [contrast for group in ("all", *groups) for contrast in _over_questions(of, group, names)]
    return _corrected(_corrected(found, "all"), "type")


def smallest_shown(baseline: Side, candidate: Side, headline: Contrast) -> float | None:
    """Return the smallest difference of the headline that this design shows in 8 of 10 runs; None where it shows none.

    Of the bench by the simulation of `smriti plan`, with tasks that vary as these do; of questions by their spread.
    """
    if headline.condition is None:
        of = [_questions(side) for side in (baseline, candidate)]
        shared = sorted(question for question in of[0].keys() & of[1].keys() if all(each[question].gold for each in of))
        values = [[_earned(each[question], "all", headline.metric) for question in shared] for each in of]
        return smallest_difference([one - other for other, one in zip(*values, strict=True)])
    arms = [_arms(side)[headline.condition] for side in (baseline, candidate)]
    variation = variation_of(arms[0], arms[1], Variation())
    return smallest_effect(headline.clusters, max(1, headline.n // headline.clusters), variation)


def _arms(side: Side) -> dict[str, list[TrialRecord]]:
    manifest = side.receipt.manifest
    if not isinstance(manifest, BenchManifest):
        raise TypeError(f"{manifest.suite} has no conditions")
    arms: dict[str, list[TrialRecord]] = {condition: [] for condition in manifest.config.conditions}
    for record in side.receipt.records:
        arms[record.condition].append(record)
    return dict(sorted(arms.items()))


def _success(base: Sequence[TrialRecord], cand: Sequence[TrialRecord], condition: str, role: Role) -> Contrast:
    paired = pairs(cand, base)
    estimate = outcome.delta_sr(cand, base, f"compare/delta_sr/{condition}")
    clusters = by_task(paired, lambda pair: (float(_passed(pair[0]) - _passed(pair[1])), 1.0))
    sums = [round(math.fsum(gain for gain, _ in terms)) for _, terms in sorted(clusters.items())]
    test = _tested(sums, f"compare/delta_sr/{condition}")
    gained = sum(_passed(one) > _passed(other) for one, other in paired)
    lost = sum(_passed(one) < _passed(other) for one, other in paired)
    return Contrast(
        metric="sr",
        condition=condition,
        group="all",
        role=role,
        baseline=_share(sum(_passed(other) for _, other in paired), len(paired)),
        candidate=_share(sum(_passed(one) for one, _ in paired), len(paired)),
        value=estimate.value,
        n=len(paired),
        clusters=len(clusters),
        excluded=len(cand) + len(base) - 2 * len(paired),
        interval=estimate.interval,
        p=test.p,
        p_holm=test.p if role == "headline" else None,
        method=f"{test.method} over tasks",
        mcnemar=McNemar(gained, lost, mcnemar(gained, lost)),
    )


def _ratio(base: Sequence[TrialRecord], cand: Sequence[TrialRecord], condition: str) -> Contrast:
    estimate = tokens.token_ratio(cand, base, f"compare/token_ratio/{condition}")
    known = [
        (one.task_id, mine, others)
        for one, other in pairs(cand, base)
        if (mine := one.tokens) is not None and (others := other.tokens) is not None
    ]
    return Contrast(
        metric="token_ratio",
        condition=condition,
        group="all",
        role="check" if condition == "off" else "other",
        baseline=_share(sum(others for _, _, others in known), len(known)),
        candidate=_share(sum(mine for _, mine, _ in known), len(known)),
        value=estimate.value,
        n=estimate.n,
        clusters=len({task for task, _, _ in known}),
        excluded=len(cand) + len(base) - 2 * estimate.n,
        interval=estimate.interval,
        p=None,
        p_holm=None,
        method=None,
    )


def _gains(arms: Sequence[dict[str, list[TrialRecord]]], condition: str) -> Contrast:
    """Compare condition − off of the candidate with that of the baseline, by task and trial number."""
    gains: list[dict[tuple[str, int], int]] = [
        {(one.task_id, one.trial): _passed(one) - _passed(other) for one, other in pairs(arm[condition], arm["off"])}
        for arm in arms
    ]
    shared = sorted(gains[0].keys() & gains[1].keys())
    clusters: dict[str, list[tuple[float, float]]] = {}
    for cell in shared:
        clusters.setdefault(cell[0], []).append((float(gains[1][cell] - gains[0][cell]), 1.0))
    sums = [round(math.fsum(gain for gain, _ in terms)) for _, terms in sorted(clusters.items())]
    seed = f"compare/difference of differences/{condition}"
    test = _tested(sums, seed)
    baseline, candidate = (_share(sum(gain[cell] for cell in shared), len(shared)) for gain in gains)
    return Contrast(
        metric="delta_sr",
        condition=condition,
        group="all",
        role="check",
        baseline=baseline,
        candidate=candidate,
        value=_share(sum(sums), len(shared)),
        n=len(shared),
        clusters=len(clusters),
        excluded=len(gains[0]) + len(gains[1]) - 2 * len(shared),
        interval=clustered_bootstrap(clusters, seed),
        p=test.p,
        p_holm=None,
        method=f"{test.method} over tasks",
    )


def _questions(side: Side) -> dict[str, QuestionRecord]:
    return {
        record.question: record for record in side.receipt.records if record.system == side.system and record.answerable
    }


def _metric_names(*sides: Side) -> list[str]:
    """Return the metrics that both sides have, by rising k, recall_all first of each."""
    cutoffs: list[set[int]] = []
    for side in sides:
        manifest = side.receipt.manifest
        if not isinstance(manifest, RetrievalManifest):
            raise TypeError(f"{manifest.suite} asks no questions")
        cutoffs.append(set(manifest.config.k))
    shared = set.intersection(*cutoffs)
    if not shared:
        raise UsageError(
            f"k is {_listed(cutoffs[0])} on one side and {_listed(cutoffs[1])} on the other: with no k in common there "
            "is no figure of both. Run both with the same --k"
        )
    names = ["recall_all", "recall", "hit", "precision", "ndcg"]
    if all(side.receipt.manifest.suite == "longmemeval" for side in sides):
        names.append("ndcg_longmemeval")
    return [*(str(Metric(name, k)) for k in sorted(shared) for name in names), "mrr"]


def _over_questions(of: Sequence[dict[str, QuestionRecord]], group: str, names: Sequence[str]) -> Iterator[Contrast]:
    scorable = [
        {name: record for name, record in records.items() if group in record.groups and _gold(record, group)}
        for records in of
    ]
    shared = sorted(scorable[0].keys() & scorable[1].keys())
    if not shared:
        return
    n = len(shared)
    earned = [
        [[_earned(records[question], group, name) for question in shared] for records in scorable] for name in names
    ]
    columns = [[one - other for other, one in zip(*sides, strict=True)] for sides in earned]
    # Drawn by what is tested and not by who is, so that B against A is A against B turned round.
    seed = f"compare/{group}/{n}"
    intervals = bootstrap_means(columns, seed)
    whole, slack = fixed_point(columns)
    tests = sign_flip(whole, seed, slack=slack)
    for name, sides, column, interval, test in zip(names, earned, columns, intervals, tests, strict=True):
        headline = group == "all" and name == names[0]
        yield Contrast(
            metric=name,
            condition=None,
            group=group,
            role="headline" if headline else "all" if group.partition("-")[0] == "all" else "type",
            baseline=math.fsum(sides[0]) / n,
            candidate=math.fsum(sides[1]) / n,
            value=math.fsum(column) / n,
            n=n,
            clusters=n,
            excluded=len(scorable[0]) + len(scorable[1]) - 2 * n,
            interval=interval and interval.model_copy(update={"method": QUESTIONS_METHOD}),
            p=test.p,
            p_holm=test.p if headline else None,
            method=f"{test.method} over questions",
        )


def _corrected(found: Sequence[Contrast], role: Role) -> list[Contrast]:
    family = [contrast for contrast in found if contrast.role == role]
    adjusted = iter(holm([p for contrast in family if (p := contrast.p) is not None]))
    return [
        replace(contrast, p_holm=next(adjusted)) if contrast.role == role and contrast.p is not None else contrast
        for contrast in found
    ]


def _tested(sums: Sequence[int], seed: str) -> Tested:
    return sign_flip([sums], seed)[0]


def _listed(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _passed(record: Trial) -> int:
    return int(record.passed is True)


def _share(total: float, n: int) -> float | None:
    return total / n if n else None


def _gold(record: QuestionRecord, group: str) -> int:
    return record.group_gold.get(group, record.gold)


def _earned(record: QuestionRecord, group: str, metric: str) -> float:
    """Return what a question counts in a mean: a failed attempt counts as nothing found."""
    return record.group_metrics.get(group, record.metrics)[metric] or 0.0
