"""The retrieval suites: questions to records, and records to figures."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from smriti.metrics import ranking
from smriti.metrics.intervals import bootstrap_means, quantile, wilson
from smriti.metrics.ranking import Metric
from smriti.types import (
    Coverage,
    Interval,
    Metrics,
    QuestionCase,
    QuestionEvidence,
    QuestionRecord,
    RetrievalManifest,
    Score,
)

FEW_QUESTIONS = 30
"""A group of fewer is too small to compare systems by."""

UNANSWERABLE = "unanswerable"
"""The group of the questions to which the corpus holds no answer: attempts are counted, and nothing is scored."""

_BINARY = {"recall_all", "hit"}
_BOUNDED = {"precision", "recall", "recall_all"}
"""Metrics that a perfect ranking may leave below 1."""
_TIMES = {"ingest_ms": (50, 95, 99), "query_ms": (50, 95, 99)}


@dataclass(frozen=True)
class RetrievalScoring:
    """How one run of a retrieval suite is scored."""

    manifest: RetrievalManifest
    evidence_type = QuestionEvidence
    record_type = QuestionRecord

    def plan(self) -> list[QuestionCase]:
        """Lay out every question: system by system, corpus by corpus, questions in the order of the set."""
        cells = [
            (system, corpus.id, question)
            for system in self.manifest.config.memory
            for corpus in self.manifest.corpora
            for question in corpus.questions
        ]
        return [QuestionCase(*cell, order) for order, cell in enumerate(cells)]

    def record(self, evidence: QuestionEvidence, evidence_sha256: str) -> QuestionRecord:
        return QuestionRecord(
            case=evidence.case,
            run_id=evidence.run_id,
            order=evidence.order,
            evidence_sha256=evidence_sha256,
            system=evidence.system,
            corpus=evidence.corpus,
            question=evidence.question,
            type=evidence.type,
            groups=evidence.groups,
            answerable=evidence.answerable,
            status="completed" if evidence.fault is None else "failed",
            documents=evidence.documents,
            gold=len(evidence.gold),
            metrics=self._earned(evidence, evidence.gold),
            group_gold={group: len(gold) for group, gold in evidence.group_gold.items()},
            group_metrics={group: self._earned(evidence, gold) for group, gold in evidence.group_gold.items()},
            unsourced_hits=sum(not hit.source_ids for hit in evidence.hits),
            ingest_ms=evidence.ingest_ms,
            query_ms=evidence.query_ms,
            fault=evidence.fault,
        )

    def coverage(self, records: Sequence[QuestionRecord]) -> Coverage:
        """Count attempts that completed and that failed against the plan; no question is ever skipped."""
        completed = sum(record.status == "completed" for record in records)
        return Coverage(planned=self.manifest.planned, completed=completed, failed=len(records) - completed, skipped=0)

    def scores(self, records: Sequence[QuestionRecord]) -> tuple[Score, ...]:
        """Compute every figure of each system, for each group of questions."""
        ordered = sorted(records, key=lambda record: record.order)
        scores: list[Score] = []
        for system in self.manifest.config.memory:
            own = [record for record in ordered if record.system == system]
            for group, members in _groups(own).items():
                scores += self._group_scores(system, group, members)
            scores += _times(system, own)
        return tuple(scores)

    def flags(self, records: Sequence[QuestionRecord], scores: Sequence[Score]) -> tuple[str, ...]:
        """Say, most important first, what must be known before any figure is read; each flag is `name: sentence`."""
        manifest = self.manifest
        flags: list[str] = []
        if manifest.evidence_class == "development":
            flags.append(
                "development: a selection, data without a pin or uncommitted code; these figures support no claim"
            )
        flags += manifest.notes
        flags += _faults(records)
        lost = sum(record.unsourced_hits for record in records)
        if lost:
            flags.append(f"provenance: {lost} hits do not say which source they are of, and earn nothing")
        flags += _saturated(manifest)
        chosen, of = manifest.selection.get("selected"), manifest.selection.get("of")
        if chosen != of:
            flags.append(f"selection: {chosen} of the set's {of} questions; these figures are not the set's")
        flags += _small(manifest, scores)
        return tuple(flags)

    @cached_property
    def _metrics(self) -> tuple[Metric, ...]:
        names = ["recall_all", "recall", "hit", "precision", "ndcg"]
        if self.manifest.suite == "longmemeval":
            names.append("ndcg_longmemeval")
        return tuple(Metric(name, k) for k in self.manifest.config.k for name in names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return (*map(str, self._metrics), "mrr")

    def _earned(self, evidence: QuestionEvidence, gold: Sequence[str]) -> Metrics:
        if evidence.fault is not None or not gold:
            return dict.fromkeys(self._names)
        ranked = ranking.distinct(itertools.chain.from_iterable(hit.source_ids for hit in evidence.hits))
        earned: Metrics = {str(metric): metric(ranked, gold) for metric in self._metrics}
        # The first gold may lie below all hits that the evidence lists; its rank is there all the same.
        ranks = [evidence.gold_ranks[source_id] for source_id in gold if source_id in evidence.gold_ranks]
        earned["mrr"] = 1 / min(ranks) if ranks else 0.0
        return earned

    def _group_scores(self, system: str, group: str, members: Sequence[QuestionRecord]) -> Iterator[Score]:
        def score(metric: str, value: float | None, n: int, interval: Interval | None = None) -> Score:
            return Score(
                metric=metric,
                system=system,
                condition=None,
                group=group,
                value=value,
                n=n,
                excluded=len(members) - n,
                interval=interval,
            )

        completed = sum(record.status == "completed" for record in members)
        counts = {"attempted": len(members), "completed": completed, "failed": len(members) - completed}
        yield from (score(metric, float(count), len(members)) for metric, count in counts.items())
        if group == UNANSWERABLE:
            return
        scorable = [record for record in members if _gold(record, group)]
        n = len(scorable)
        columns = {name: [_earned_in(record, group, name) for record in scorable] for name in self._names}
        drawn = [name for name in self._names if name.partition("@")[0] not in _BINARY]
        intervals = dict(zip(drawn, bootstrap_means([columns[name] for name in drawn], f"{group}/{n}"), strict=True))
        for name in self._names:
            total = math.fsum(columns[name])
            interval = intervals[name] if name in intervals else wilson(round(total), n)
            yield score(name, total / n if n else None, n, interval)
        finished = [record for record in scorable if record.status == "completed"]
        for k in self.manifest.config.k:
            complete = round(math.fsum(columns[f"recall_all@{k}"]))
            yield score(f"success_over_attempts@{k}", complete / n if n else None, n, wilson(complete, n))
            rate = complete / len(finished) if finished else None
            yield score(f"recall_all_completed@{k}", rate, len(finished), wilson(complete, len(finished)))
        sizes = [_gold(record, group) for record in scorable]
        for metric in self._metrics:
            if metric.name in _BOUNDED:
                yield score(f"ceiling[{metric}]", ranking.ceiling(metric, sizes), n)


def _groups(records: Sequence[QuestionRecord]) -> dict[str, list[QuestionRecord]]:
    """Sort the answerable by group, `all` first and then by name; those without an answer stand in one of their own."""
    groups: dict[str, list[QuestionRecord]] = {"all": []}
    for group in sorted({group for record in records for group in record.groups} - {"all"}):
        groups[group] = []
    for record in records:
        for group in record.groups if record.answerable else (UNANSWERABLE,):
            groups.setdefault(group, []).append(record)
    return groups


def _gold(record: QuestionRecord, group: str) -> int:
    return record.group_gold.get(group, record.gold)


def _earned_in(record: QuestionRecord, group: str, metric: str) -> float:
    """Return what a scorable question counts in a mean: a failed attempt counts as nothing found."""
    return record.group_metrics.get(group, record.metrics)[metric] or 0.0


def _times(system: str, records: Sequence[QuestionRecord]) -> Iterator[Score]:
    """Give quantiles of wall time in ms: of ingestion once a corpus, of a query once a question."""
    ingested = {record.corpus: record.ingest_ms for record in records}
    times = {"ingest_ms": list(ingested.values()), "query_ms": [record.query_ms for record in records]}
    for name, found in times.items():
        known = sorted(time for time in found if time is not None)
        for percent in _TIMES[name]:
            yield Score(
                metric=f"{name}_p{percent}",
                system=system,
                condition=None,
                group="all",
                value=quantile(known, percent / 100) if known else None,
                n=len(known),
                excluded=len(found) - len(known),
            )


def _faults(records: Sequence[QuestionRecord]) -> Iterator[str]:
    phases = Counter((record.system, record.fault.phase) for record in records if record.fault is not None)
    if phases:
        named = ", ".join(f"{system} {phase} {count}" for (system, phase), count in sorted(phases.items()))
        failed = sum(phases.values())
        yield f"faults: {failed} of {len(records)} attempts failed and count as nothing found ({named})"


def _saturated(manifest: RetrievalManifest) -> Iterator[str]:
    for k in manifest.config.k:
        full = sum(corpus.documents <= k for corpus in manifest.corpora)
        if full:
            yield (
                f"saturated: k = {k} takes in every document of {full} of {len(manifest.corpora)} corpora: "
                "recall there says nothing of a ranking"
            )


def _small(manifest: RetrievalManifest, scores: Iterable[Score]) -> Iterator[str]:
    first = f"recall_all@{manifest.config.k[0]}"
    small = {score.group: score.n for score in scores if score.metric == first and score.n < FEW_QUESTIONS}
    if small:
        named = ", ".join(f"{manifest.labels.get(group, group)} {n}" for group, n in small.items())
        yield f"small: fewer than {FEW_QUESTIONS} questions are too few to compare systems by ({named})"
