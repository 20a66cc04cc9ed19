"""The retrieval suites: questions to records, and records to figures."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from smriti.metrics import ranking
from smriti.metrics.intervals import bootstrap_means, quantile, wilson
from smriti.metrics.ranking import Metric
from smriti.score.figure import system_score
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
        own: dict[str, list[QuestionRecord]] = {system: [] for system in self.manifest.config.memory}
        for record in sorted(records, key=lambda record: record.order):
            if record.system in own:
                own[record.system].append(record)
        grouped = {system: _groups(asked) for system, asked in own.items()}
        tables = {
            (system, group): self._table(group, members)
            for system, groups in grouped.items()
            for group, members in groups.items()
            if group != UNANSWERABLE
        }
        intervals = self._drawn_intervals(tables)
        scores: list[Score] = []
        for system, groups in grouped.items():
            for group, members in groups.items():
                scores += _counts(system, group, members)
                if group != UNANSWERABLE:
                    cell = (system, group)
                    scores += self._group_scores(system, group, len(members), tables[cell], intervals[cell])
            scores += _times(system, own[system])
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

    @cached_property
    def _earned_at(self) -> dict[tuple[tuple[int, ...], int], Metrics]:
        """Ranks of the gold, and how much gold there is → what is earned: in a long run most questions repeat it."""
        return {}

    def _earned(self, evidence: QuestionEvidence, gold: Sequence[str]) -> Metrics:
        if evidence.fault is not None or not gold:
            return dict.fromkeys(self._names)
        wanted = frozenset(gold)
        listed = ranking.distinct(itertools.chain.from_iterable(hit.source_ids for hit in evidence.hits))
        found = tuple(rank for rank, source_id in enumerate(listed, 1) if source_id in wanted)
        earned = self._earned_at.get((found, len(wanted)))
        if earned is None:
            earned = self._earned_at[found, len(wanted)] = _earned_at(self._metrics, found, len(wanted))
        # The first gold may lie below all hits that the evidence lists; its rank is there all the same.
        ranks = [evidence.gold_ranks[source_id] for source_id in gold if source_id in evidence.gold_ranks]
        return {**earned, "mrr": 1 / min(ranks) if ranks else 0.0}

    def _table(self, group: str, members: Sequence[QuestionRecord]) -> _Table:
        scorable = [record for record in members if _gold(record, group)]
        earned = [record.group_metrics.get(group, record.metrics) for record in scorable]
        # A failed attempt counts as nothing found.
        return _Table(scorable, {name: [metrics[name] or 0.0 for metrics in earned] for name in self._names})

    def _drawn_intervals(
        self, tables: Mapping[tuple[str, str], _Table]
    ) -> dict[tuple[str, str], dict[str, Interval | None]]:
        """Return the bootstrap intervals of each table; the draws that are the same for several are made once."""
        drawn = [name for name in self._names if name.partition("@")[0] not in _BINARY]
        alike: dict[str, list[tuple[str, str]]] = {}
        for cell, table in tables.items():
            alike.setdefault(f"{cell[1]}/{len(table.scorable)}", []).append(cell)
        intervals: dict[tuple[str, str], dict[str, Interval | None]] = {}
        for seed, cells in alike.items():
            found = iter(bootstrap_means([tables[cell].columns[name] for cell in cells for name in drawn], seed))
            intervals |= {cell: {name: next(found) for name in drawn} for cell in cells}
        return intervals

    def _group_scores(
        self, system: str, group: str, members: int, table: _Table, intervals: Mapping[str, Interval | None]
    ) -> Iterator[Score]:
        def score(metric: str, value: float | None, n: int, interval: Interval | None = None) -> Score:
            return system_score(metric, system, group, value, n, excluded=members - n, interval=interval)

        scorable, columns = table.scorable, table.columns
        n = len(scorable)
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


@dataclass(frozen=True, slots=True)
class _Table:
    """What the questions that can be scored earned, of one system and group: a column a metric."""

    scorable: Sequence[QuestionRecord]
    columns: Mapping[str, Sequence[float]]


def _earned_at(metrics: Sequence[Metric], found: Sequence[int], gold: int) -> Metrics:
    """Return what a ranking earns that has gold at the ranks `found`, of so many gold sources: no metric sees more."""
    ranked = list(map(str, range(1, max(found, default=0) + 1)))
    wanted = [*map(str, found), *(f"not found {number}" for number in range(gold - len(found)))]
    return {str(metric): metric(ranked, wanted) for metric in metrics}


def _counts(system: str, group: str, members: Sequence[QuestionRecord]) -> Iterator[Score]:
    completed = sum(record.status == "completed" for record in members)
    counts = {"attempted": len(members), "completed": completed, "failed": len(members) - completed}
    for metric, count in counts.items():
        yield system_score(metric, system, group, float(count), len(members), excluded=0)


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


def _times(system: str, records: Sequence[QuestionRecord]) -> Iterator[Score]:
    """Give quantiles of wall time in ms: of ingestion once a corpus, of a query once a question."""
    ingested = {record.corpus: record.ingest_ms for record in records}
    times = {"ingest_ms": list(ingested.values()), "query_ms": [record.query_ms for record in records]}
    for name, found in times.items():
        known = sorted(time for time in found if time is not None)
        for percent in _TIMES[name]:
            value = quantile(known, percent / 100) if known else None
            yield system_score(f"{name}_p{percent}", system, "all", value, len(known), excluded=len(found) - len(known))


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
