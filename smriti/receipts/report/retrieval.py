"""The report of one run of a retrieval suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from smriti.receipts.report.banner import banner, identity, receipt_section
from smriti.receipts.report.view import Block, Card, Cards, Cell, Chart, Curves, Dots, Page, Prose, Section, Table
from smriti.receipts.report.words import (
    Figures,
    both,
    by_name,
    count,
    interval,
    left,
    point,
    right,
    told,
    value,
)
from smriti.receipts.sealed import SealedReceipt
from smriti.score.retrieval import UNANSWERABLE
from smriti.types import QuestionRecord, RetrievalManifest, Score

_CUT = ("recall_all", "recall", "hit", "precision", "ndcg")
_BOUNDED = ("recall_all", "recall", "precision")
_MOST_CASES = 200
_MOST_MESSAGES = 50


def retrieval_page(receipt: SealedReceipt) -> Page:
    """Make the page of one retrieval receipt."""
    manifest = receipt.manifest
    assert isinstance(manifest, RetrievalManifest)
    report = _Retrieval(manifest, receipt.records, receipt.summary.scores)
    asked = sum(len(corpus.questions) for corpus in manifest.corpora)
    corpora = f"{len(manifest.corpora)} corpora" if len(manifest.corpora) != 1 else "one corpus"
    sections = (
        report.headline(),
        *(report.cutoff(k) for k in manifest.config.k),
        report.by_k(),
        report.differing(),
        report.coverage(receipt),
        report.latency(),
        receipt_section(receipt),
    )
    return Page(
        path="index.html",
        title=f"{manifest.suite}: {', '.join(map(identity, manifest.systems))}",
        subtitle=f"smriti {manifest.suite}, run {manifest.run_id}: {asked} questions of {corpora}",
        banners=(banner(receipt),),
        sections=tuple(section for section in sections if section.blocks),
    )


class _Retrieval:
    def __init__(self, manifest: RetrievalManifest, records: Sequence[QuestionRecord], scores: Sequence[Score]) -> None:
        self._manifest = manifest
        self._systems = manifest.config.memory
        self._records = records
        self._figures: Figures = by_name(scores)
        groups = dict.fromkeys(score.group for score in scores)
        self._groups = [group for group in groups if group != UNANSWERABLE]
        self._unanswerable = UNANSWERABLE in groups
        self._first = f"recall_all@{manifest.config.k[0]}"

    def headline(self) -> Section:
        found = [(system, self._of(self._first, system)) for system in self._systems]
        cards = [
            Card(f"{self._first}, {system}", value(score, ".4f"), interval(score), f"n = {score.n}")
            for system, score in found
            if score is not None
        ]
        return Section("headline", "Headline", (Cards(tuple(cards)),) if cards else ())

    def cutoff(self, k: int) -> Section:
        """Give every metric of one cutoff by type, and plot the share of questions answered in full."""
        main = f"recall_all@{k}"
        names = [*(f"{name}@{k}" for name in _CUT), "mrr", f"success_over_attempts@{k}", f"recall_all_completed@{k}"]
        if self._of(f"ndcg_longmemeval@{k}", self._systems[0]) is not None:
            names.append(f"ndcg_longmemeval@{k}")
        rows = []
        for group in self._groups:
            for system in self._systems:
                headline = self._of(main, system, group)
                counts = (count(headline.n if headline else None), count(headline.excluded if headline else None))
                cells = [both(self._of(name, system, group), ".4f") for name in names]
                rows.append((left(self._label(group)), left(system), *counts, *cells))
        table = Table(
            f"Scores at k = {k} by type", ("type", "system", "n", "excluded", *names), tuple(rows), folded=True
        )
        dots = Dots(
            main,
            self._systems,
            tuple(
                (
                    self._label(group),
                    tuple(
                        point(number, self._of(main, system, group), self._of(f"ceiling[{main}]", system, group))
                        for number, system in enumerate(self._systems)
                    ),
                )
                for group in self._groups
            ),
            unit=True,
        )
        said = "; ".join(f"{system} {told(self._of(main, system), '.4f')}" for system in self._systems)
        how = (
            f"{main}: the share of questions of which the first {k} sources hold all the evidence. A failed attempt "
            "counts as nothing found. The upright tick is the ceiling: what a perfect ranking would reach."
        )
        chart = Chart(f"k{k}", f"{main} by type", f"Over all types: {said}. 95\u00a0% intervals.", dots, table)
        return Section(f"k{k}", f"Scores at k = {k}", (Prose(how), chart, self._ceilings(k)))

    def by_k(self) -> Section:
        """Plot the score over the cutoffs that were run."""
        cutoffs = sorted(self._manifest.config.k)
        if len(cutoffs) == 1:
            how = f"One cutoff was run, k = {cutoffs[0]}. A run with --k 1,5,10 shows how the score grows."
            return Section("by-k", "Score by k", (Prose(how),))
        points = tuple(
            tuple(
                point(number, self._of(f"recall_all@{k}", system), self._of(f"ceiling[recall_all@{k}]", system))
                for number, system in enumerate(self._systems)
            )
            for k in cutoffs
        )
        rows = tuple(
            (
                left(f"k = {k}"),
                *(both(self._of(f"recall_all@{k}", system), ".4f") for system in self._systems),
                right(value(self._of(f"ceiling[recall_all@{k}]", self._systems[0]), ".4f")),
            )
            for k in cutoffs
        )
        table = Table("recall_all by k", ("k", *self._systems, "ceiling"), rows)
        curves = Curves("recall_all@k", "k", self._systems, tuple(cutoffs), points)
        said = f"recall_all over {len(cutoffs)} cutoffs for each system; the dashed line is the ceiling."
        return Section("by-k", "Score by k", (Chart("by-k", "recall_all by k", said, curves, table),))

    def differing(self) -> Section:
        """List the questions of which some systems found all evidence and others did not."""
        if len(self._systems) == 1:
            return Section("cases", "Cases that differ", ())
        return differing_cases(self._first, {system: self._own(system) for system in self._systems})

    def coverage(self, receipt: SealedReceipt) -> Section:
        cover = receipt.summary.coverage
        how = (
            f"{cover.planned} planned = {cover.completed} completed + {cover.failed} failed + {cover.skipped} skipped."
        )
        rows = []
        groups = ["all", *([UNANSWERABLE] if self._unanswerable else [])]
        for group in groups:
            for system in self._systems:
                counts = (self._of(name, system, group) for name in ("attempted", "completed", "failed"))
                label = "answerable" if group == "all" else group
                rows.append((left(label), left(system), *(right(value(score, ".0f")) for score in counts)))
        blocks: list[Block] = [
            Prose(how),
            Table("Attempts", ("questions", "system", "attempted", "completed", "failed"), tuple(rows)),
        ]
        if self._unanswerable:
            blocks.append(Prose("To the unanswerable there is nothing to find: nothing is scored."))
        lost = sum(record.unsourced_hits for record in self._records)
        if lost:
            blocks.append(Prose(f"{lost} hits do not say which source they are of; they earn nothing."))
        faults = [record for record in self._records if record.fault is not None]
        blocks += [_phases(faults), _messages(faults)] if faults else [Prose("No phase of any attempt failed.")]
        return Section("coverage", "Coverage and failures", tuple(blocks))

    def latency(self) -> Section:
        names = [f"{phase}_p{percent}" for phase in ("ingest_ms", "query_ms") for percent in (50, 95, 99)]
        rows = tuple(
            (left(system), *(right(value(self._of(name, system), ".1f")) for name in names)) for system in self._systems
        )
        how = "Diagnostic: of this machine and its load. Ingestion is once a corpus, a query once a question."
        table = Table("Wall time in ms, by quantile", ("system", *names), rows)
        return Section("latency", "Latency", (Prose(how), table))

    def _ceilings(self, k: int) -> Table:
        names = [f"ceiling[{name}@{k}]" for name in _BOUNDED]
        system = self._systems[0]
        rows = tuple(
            (left(self._label(group)), *(right(value(self._of(name, system, group), ".4f")) for name in names))
            for group in self._groups
        )
        return Table(f"Ceilings at k = {k}", ("type", *names), rows, folded=True)

    def _of(self, metric: str, system: str, group: str = "all") -> Score | None:
        return self._figures.get((metric, system, None, group))

    def _label(self, group: str) -> str:
        return self._manifest.labels.get(group, group)

    def _own(self, system: str) -> dict[str, QuestionRecord]:
        return {record.question: record for record in self._records if record.system == system}


def differing_cases(metric: str, arms: dict[str, dict[str, QuestionRecord]]) -> Section:
    """List the questions that all of `arms` were asked and whose `metric` is not the same in all of them."""
    names = list(arms)
    shared = [question for question in arms[names[0]] if all(question in records for records in arms.values())]
    rows: list[tuple[Cell, ...]] = []
    ahead: Counter[str] = Counter()
    differing = scored = 0
    for question in shared:
        earned = [arms[name][question] for name in names]
        if not earned[0].gold:
            continue
        scored += 1
        # A failed attempt counts as nothing found, as in every mean.
        values = [record.metrics.get(metric) or 0.0 for record in earned]
        if len(set(values)) == 1:
            continue
        differing += 1
        ahead.update(name for name, found in zip(names, values, strict=True) if found == max(values))
        if len(rows) < _MOST_CASES:
            shown = (
                right("failed" if record.fault else format(found, "g"))
                for record, found in zip(earned, values, strict=True)
            )
            rows.append((left(question), left(earned[0].type), count(earned[0].gold), *shown))
    won = ", ".join(f"{name} {ahead[name]}" for name in names)
    how = f"{metric} differs in {differing} of {scored} questions with evidence; the highest there: {won}."
    if differing > len(rows):
        how += f" The first {len(rows)} are listed; {differing - len(rows)} are left out."
    blocks: list[Block] = [Prose(how)]
    if rows:
        columns = ("question", "type", "gold", *names)
        blocks.append(Table(f"Questions whose {metric} differs", columns, tuple(rows), folded=True))
    return Section("cases", "Cases that differ", tuple(blocks))


def _phases(faults: Sequence[QuestionRecord]) -> Table:
    found = Counter((record.system, record.fault.phase) for record in faults if record.fault is not None)
    rows = tuple((left(system), left(phase), count(number)) for (system, phase), number in sorted(found.items()))
    return Table("Failures by phase", ("system", "phase", "attempts"), rows)


def _messages(faults: Sequence[QuestionRecord]) -> Table:
    found = Counter((record.system, record.fault.phase, record.fault.message) for record in faults if record.fault)
    shown = found.most_common(_MOST_MESSAGES)
    rows = tuple((left(system), left(phase), count(n), left(message)) for (system, phase, message), n in shown)
    more = f" ({len(found) - len(rows)} more are left out)" if len(found) > len(rows) else ""
    return Table(f"What was found there{more}", ("system", "phase", "attempts", "message"), rows, folded=True)
