"""Run-to-run bands: how far the figures of one configuration lie apart when nothing was changed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from smriti.errors import UsageError
from smriti.receipts.comparable import Difference, configuration, differences, let_pass
from smriti.receipts.sealed import SealedReceipt
from smriti.score.bench import REHEARSAL
from smriti.types import BenchManifest, RetrievalManifest


@dataclass(frozen=True, slots=True)
class Band:
    """One figure over the runs; all but `runs` is None where no run could say anything."""

    metric: str
    system: str
    condition: str | None
    runs: int
    """That could say something; the others are left out."""
    low: float | None
    high: float | None
    mean: float | None
    sd: float | None
    """Of a sample (n − 1); None for a single run."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Cases that did not end alike in all runs: passed or not; or of a question, all evidence found or not."""

    outcome: str
    system: str
    condition: str | None
    changed: int
    of: int
    """Cases that every run attempted."""

    @property
    def share(self) -> float | None:
        """The share of cases whose outcome changed."""
        return self.changed / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Noise:
    """What repeats of one configuration differ in."""

    receipts: tuple[SealedReceipt, ...]
    allowed: tuple[Difference, ...]
    """Differences between the first and the others that were let pass."""
    bands: tuple[Band, ...]
    """Of every figure over all tasks or questions, in the order of the summary."""
    changed: tuple[Changed, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """What must be known before any figure is read; each is `name: sentence`."""
        kind = self.receipts[0].manifest.evidence_class
        found = []
        if kind == "rehearsal":
            found.append(REHEARSAL)
        if kind == "development":
            found.append("development: a selection, a limit, data without a pin or uncommitted code")
        if self.allowed:
            found.append(f"allowed: {'; '.join(map(str, self.allowed))}")
        if len(self.receipts) < 5:
            found.append(f"few runs: {len(self.receipts)}; the ends of a band move much with each further run")
        return tuple(found)

    def stated(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "suite": self.receipts[0].manifest.suite,
            "evidence_class": self.receipts[0].manifest.evidence_class,
            "flags": list(self.flags),
            "receipts": [{"receipt": str(each.directory), "sha256": each.sha256} for each in self.receipts],
            "allowed": [asdict(difference) for difference in self.allowed],
            "bands": [asdict(band) for band in self.bands],
            "changed": [{**asdict(changed), "share": changed.share} for changed in self.changed],
        }


def noise(receipts: Sequence[SealedReceipt], allow: Sequence[str] = ()) -> Noise:
    """Measure how far repeats of one configuration lie apart; the order of receipts is irrelevant to the figures.

    UsageError for fewer than two, for one that is named twice, and where the configurations differ beyond what `allow`
    names: A is the first of them, and every difference of every other is named. A seed may differ: it is chance too.
    """
    if len(receipts) < 2:
        raise UsageError(f"{len(receipts)} receipt given, expected at least 2 repeats of one configuration")
    first, *others = receipts
    for index, receipt in enumerate(receipts):
        if any(receipt.sha256 == earlier.sha256 for earlier in receipts[:index]):
            raise UsageError(f"{receipt.directory} is given twice: a copy is no repeat. Give another run")
    expected = configuration(first)
    found = [(other, differences(expected, configuration(other))) for other in others]
    every = [difference for _, of_one in found for difference in of_one]
    allowed, refused = let_pass(every, allow, list(expected))
    if refused:
        named = "; ".join(
            f"{other.directory}: {', '.join(str(difference) for difference in of_one if difference in refused)}"
            for other, of_one in found
            if any(difference in refused for difference in of_one)
        )
        raise UsageError(
            f"{first.directory} (A) is not repeated by all others (B); these differ in {named}. Give repeats of one "
            "configuration, or let a difference pass that you can answer for, with --allow FIELD"
        )
    return Noise(tuple(receipts), tuple(dict.fromkeys(allowed)), tuple(_bands(receipts)), tuple(_changes(receipts)))


def _bands(receipts: Sequence[SealedReceipt]) -> Iterator[Band]:
    figures = [
        {
            (score.metric, score.system, score.condition): score.value
            for score in each.summary.scores
            if score.group == "all"
        }
        for each in receipts
    ]
    for key in dict.fromkeys(key for of_one in figures for key in of_one):
        known = sorted(value for of_one in figures if (value := of_one.get(key)) is not None)
        yield Band(
            *key,
            runs=len(known),
            low=known[0] if known else None,
            high=known[-1] if known else None,
            mean=math.fsum(known) / len(known) if known else None,
            sd=statistics.stdev(known) if len(known) > 1 else None,
        )


def _changes(receipts: Sequence[SealedReceipt]) -> Iterator[Changed]:
    manifest = receipts[0].manifest
    if isinstance(manifest, BenchManifest):
        system = manifest.config.memory
        for condition in manifest.config.conditions:
            runs = [
                {r.case: r.passed is True for r in each.records if r.condition == condition and r.status != "skipped"}
                for each in receipts
            ]
            yield _changed("passed", system, condition, runs)
        return
    outcome = f"recall_all@{_smallest_k(receipts)}"
    for system in manifest.config.memory:
        runs = [
            {r.case: r.metrics[outcome] == 1.0 for r in each.records if r.system == system and r.answerable and r.gold}
            for each in receipts
        ]
        yield _changed(outcome, system, None, runs)


def _smallest_k(receipts: Sequence[SealedReceipt]) -> int:
    cutoffs = [set(each.manifest.config.k) for each in receipts if isinstance(each.manifest, RetrievalManifest)]
    shared = set.intersection(*cutoffs)
    if not shared:
        raise UsageError("the receipts have no k in common, so there is no outcome that could have changed")
    return min(shared)


def _changed(outcome: str, system: str, condition: str | None, runs: Sequence[dict[str, bool]]) -> Changed:
    shared = set.intersection(*(set(run) for run in runs))
    changed = sum(len({run[case] for run in runs}) > 1 for case in shared)
    return Changed(outcome, system, condition, changed, len(shared))
