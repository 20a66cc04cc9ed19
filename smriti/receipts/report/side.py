"""The page that lays several receipts side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smriti.errors import UsageError
from smriti.receipts.report.banner import banner, identity, receipt_section
from smriti.receipts.report.bench import EFFECTS
from smriti.receipts.report.retrieval import differing_cases
from smriti.receipts.report.view import Block, Chart, Dots, Page, Point, Prose, Section, Table
from smriti.receipts.report.words import DASH, both, by_name, count, described, left, point, right, value
from smriti.receipts.sealed import SealedReceipt
from smriti.score.retrieval import UNANSWERABLE
from smriti.types import BenchManifest, Manifest, QuestionRecord, RetrievalManifest, Score

MOST = 6
"""Receipts, or systems of receipts, that one page can hold and still be read."""

_CAUTION = (
    "Figures that stand side by side are not compared: smriti compare tests whether two receipts differ, "
    "and refuses those that were not run alike."
)
_ALIKE = {"config", "suite", "code", "packages", "run_id", "started", "host", "planned", "schema_", "labels", "notes"}
"""Fields of a manifest that are the run's own, or that are looked at part by part."""


def side_by_side(receipts: Sequence[SealedReceipt]) -> Page:
    """Make one page of several receipts of one suite; UsageError where they are of different ones, or too many."""
    suites = {receipt.manifest.suite for receipt in receipts}
    if len(suites) > 1:
        raise UsageError(
            f"the receipts are of different suites ({', '.join(sorted(suites))}), which have no figure in common. "
            "Make a report of each suite"
        )
    names = _names(receipts)
    bench = isinstance(receipts[0].manifest, BenchManifest)
    sections = _bench(receipts, names) if bench else _retrieval(receipts, names)
    settings = Section("settings", "What differs in how they were run", tuple(_settings(receipts, names)))
    sealed = (receipt_section(receipt, str(number)) for number, receipt in enumerate(receipts, 1))
    return Page(
        path="index.html",
        title=f"{receipts[0].manifest.suite}: {len(receipts)} receipts side by side",
        subtitle="; ".join(
            f"{name} is run {receipt.manifest.run_id}" for name, receipt in zip(names, receipts, strict=True)
        ),
        banners=tuple(map(banner, receipts)),
        sections=tuple(s for s in (*sections, settings, *sealed) if s.blocks),
    )


def _names(receipts: Sequence[SealedReceipt]) -> list[str]:
    """Name each receipt by a letter and what was under test, which need not tell them apart."""
    if len(receipts) > MOST:
        raise UsageError(f"{len(receipts)} receipts are too many for one page, expected at most {MOST}")
    names = []
    for letter, receipt in zip("ABCDEF", receipts, strict=False):
        manifest = receipt.manifest
        agents = manifest.agents if isinstance(manifest, BenchManifest) else ()
        tested = [*manifest.systems[:1], *agents] if agents else manifest.systems
        names.append(f"{letter} {' + '.join(map(identity, tested))}")
    return names


def _bench(receipts: Sequence[SealedReceipt], names: Sequence[str]) -> Iterator[Section]:
    figures = [_by_metric(receipt) for receipt in receipts]
    conditions = list(dict.fromkeys(c for receipt in receipts for c in _manifest(receipt).config.conditions))
    rates = [("sr", condition, f"sr {condition}", ".3f") for condition in conditions]
    yield Section("rates", "Success rates", (Prose(_CAUTION), _chart("sr", "success rate (sr)", rates, figures, names)))
    effects = [(metric, "on", metric, style) for metric, _, style in EFFECTS]
    effects += [
        (f"ablation_delta_sr[{c[7:]}]", c, f"ablation_delta_sr[{c[7:]}]", ".3f")
        for c in conditions
        if c[:7] == "ablate:"
    ]
    effects.append(("ablate_all_gap", "ablate:all", "ablate_all_gap", ".3f"))
    effects += [("injection_confirmation_rate", c, f"injection_confirmation_rate {c}", ".3f") for c in conditions]
    effects += [("contamination_rate", c, f"contamination_rate {c}", ".3f") for c in conditions]
    effects += [("tokens", c, f"tokens {c}", ".0f") for c in conditions]
    yield Section("effects", "Effects", (_table("Effects", effects, figures, names),))
    tasks = sorted({task.id for receipt in receipts for task in _manifest(receipt).tasks})
    if any(metric == "task" for found in figures for metric, _ in found):
        yield Section("tasks", "By task", (_tasks(tasks, figures, names),))
    yield Section("coverage", "Coverage", (_coverage(receipts, names),))


def _retrieval(receipts: Sequence[SealedReceipt], names: Sequence[str]) -> Iterator[Section]:
    """Lay the systems of all receipts side by side, each by the letter of its receipt."""
    arms: dict[str, tuple[SealedReceipt, str]] = {}
    for name, receipt in zip(names, receipts, strict=True):
        for system in receipt.manifest.config.memory:
            arms[f"{name[0]} {system}"] = (receipt, system)
    if len(arms) > MOST:
        raise UsageError(f"the receipts hold {len(arms)} systems, too many for one page; expected at most {MOST}")
    indexed = [by_name(receipt.summary.scores) for receipt, _ in arms.values()]
    figures = []
    for found, (_, system) in zip(indexed, arms.values(), strict=True):
        figures.append({(m, g): score for (m, s, _, g), score in found.items() if s == system})
    groups = list(dict.fromkeys(g for found in figures for _, g in found if g != UNANSWERABLE))
    cutoffs = sorted({k for receipt in receipts for k in _cutoffs(receipt)})
    common = [k for k in cutoffs if all(k in _cutoffs(receipt) for receipt in receipts)]
    for k in common or cutoffs:
        main = f"recall_all@{k}"
        rows = [(main, group, group, ".4f") for group in groups]
        yield Section(f"k{k}", f"{main} by type", (Prose(_CAUTION), _chart(f"k{k}", main, rows, figures, list(arms))))
    metrics = list(dict.fromkeys(m for found in figures for m, g in found if g == "all" and "_ms_" not in m))
    counts = {"attempted", "completed", "failed"}
    rest = [(metric, "all", metric, ".0f" if metric in counts else ".4f") for metric in metrics]
    yield Section("metrics", "Every metric, over all types", (_table("Over all types", rest, figures, list(arms)),))
    if common:
        records: dict[str, dict[str, QuestionRecord]] = {
            name: {record.question: record for record in receipt.records if record.system == system}
            for name, (receipt, system) in arms.items()
        }
        yield differing_cases(f"recall_all@{common[0]}", records)
    yield Section("coverage", "Coverage", (_coverage(receipts, names),))


_Row = tuple[str, str, str, str]
"""Metric, condition or group, label, style."""
_Found = Mapping[tuple[str, str], Score]


def _by_metric(receipt: SealedReceipt) -> dict[tuple[str, str], Score]:
    """Index the figures of a bench receipt by metric and condition, over all tasks, and by metric and task for ΔSR."""
    found: dict[tuple[str, str], Score] = {}
    for score in receipt.summary.scores:
        if score.group == "all":
            found[score.metric, score.condition or ""] = score
        elif score.metric == "delta_sr":
            found["task", score.group] = score
    return found


def _chart(name: str, axis: str, rows: Sequence[_Row], figures: Sequence[_Found], names: Sequence[str]) -> Chart:
    dots = Dots(
        axis,
        tuple(names),
        tuple(
            (
                label,
                tuple(
                    point(number, found.get((metric, at)), found.get((f"ceiling[{metric}]", at)))
                    for number, found in enumerate(figures)
                ),
            )
            for metric, at, label, _ in rows
        ),
        unit=True,
    )
    said = f"{axis} of {', '.join(names)}, with 95\u00a0% intervals, in {len(rows)} rows; the table has the figures."
    return Chart(name, axis, said, dots, _table(axis, rows, figures, names))


def _table(caption: str, rows: Sequence[_Row], figures: Sequence[_Found], names: Sequence[str]) -> Table:
    lines = tuple(
        (left(label), *(both(found.get((metric, at)), style) for found in figures))
        for metric, at, label, style in rows
        if any((metric, at) in found for found in figures)
    )
    return Table(f"{caption}: value and interval", ("figure", *names), lines)


def _tasks(tasks: Sequence[str], figures: Sequence[_Found], names: Sequence[str]) -> Chart:
    found = [[each.get(("task", task)) for each in figures] for task in tasks]
    rows = tuple(
        (left(task), *(right(value(s, "+.3f")) for s in scores)) for task, scores in zip(tasks, found, strict=True)
    )
    dots = Dots(
        "ΔSR, on − off (delta_sr)",
        tuple(names),
        tuple(
            (task, tuple(Point(number, None if s is None else s.value) for number, s in enumerate(scores)))
            for task, scores in zip(tasks, found, strict=True)
        ),
        reference=0.0,
    )
    said = f"ΔSR of each of {len(tasks)} tasks, a point for each receipt; the table has the figures."
    return Chart("tasks", "ΔSR by task", said, dots, Table("delta_sr by task", ("task", *names), rows, folded=True))


def _coverage(receipts: Sequence[SealedReceipt], names: Sequence[str]) -> Table:
    columns = ("receipt", "planned", "completed", "failed", "skipped")
    rows = []
    for name, receipt in zip(names, receipts, strict=True):
        cover = receipt.summary.coverage
        rows.append((left(name), *map(count, (cover.planned, cover.completed, cover.failed, cover.skipped))))
    return Table("Coverage", columns, tuple(rows))


def _settings(receipts: Sequence[SealedReceipt], names: Sequence[str]) -> Iterator[Block]:
    each = [_flat(receipt.manifest) for receipt in receipts]
    fields = dict.fromkeys(name for settings in each for name in settings)
    rows = tuple(
        (left(name), *(left(described(settings.get(name, DASH))) for settings in each))
        for name in fields
        if any(settings.get(name) != each[0].get(name) for settings in each)
    )
    if rows:
        yield Table("Settings that differ", ("setting", *names), rows)
    else:
        yield Prose("Nothing differs but the runs themselves.")


def _flat(manifest: Manifest) -> dict[str, Any]:
    """Lay out what a run was asked to do: its configuration, and the rest of the manifest that is not the run's own."""
    stated = manifest.model_dump(mode="json")
    flat = {f"config: {name}": found for name, found in stated["config"].items()}
    flat |= {f"code: {name}": found for name, found in stated["code"].items()}
    flat |= {f"host: {name}": found for name, found in stated["host"].items()}
    flat |= {f"package: {name}": found for name, found in stated["packages"].items()}
    for name, found in stated.items():
        if name in {"tasks", "corpora"}:
            flat[name] = f"{len(found)}, {_digest(found)}"
        elif name not in _ALIKE | {"schema"}:
            flat[name] = found
    return flat


def _digest(found: Any) -> str:
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def _cutoffs(receipt: SealedReceipt) -> tuple[int, ...]:
    assert isinstance(receipt.manifest, RetrievalManifest)
    return receipt.manifest.config.k


def _manifest(receipt: SealedReceipt) -> BenchManifest:
    assert isinstance(receipt.manifest, BenchManifest)
    return receipt.manifest
