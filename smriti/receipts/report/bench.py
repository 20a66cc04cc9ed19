"""The report of one run of the bench."""

from __future__ import annotations

from collections import Counter

from smriti.receipts.report.banner import banner, identity, receipt_section
from smriti.receipts.report.bench_run import BenchRun, Links, bench_run
from smriti.receipts.report.bench_tasks import credit_by_task, success_by_task, tokens_by_task
from smriti.receipts.report.bench_trials import coverage, latency, trials
from smriti.receipts.report.view import Card, Cards, Chart, Dots, Page, Prose, Section, Table
from smriti.receipts.report.words import (
    both,
    count,
    figure,
    interval,
    left,
    point,
    right,
    told,
    value,
)
from smriti.receipts.sealed import SealedReceipt

EFFECTS = (
    ("delta_sr", "sr(on) − sr(off)", ".3f"),
    ("delta_tokens", "tokens, on − off", "+.0f"),
    ("token_ratio", "tokens, on / off", ".3f"),
    ("mui", "sr_lift + cost_saving", ".3f"),
    ("sr_lift", "on passed where off failed", ".3f"),
    ("cost_saving", "both passed, off used at least 1.5 × the tokens", ".3f"),
    ("mhi", "harm: sr_harm + cost_harm", ".3f"),
    ("sr_harm", "on failed where off passed", ".3f"),
    ("cost_harm", "both passed, on used at least 1.5 × the tokens", ".3f"),
    ("lift_over_file", "sr(on) − sr(file)", ".3f"),
    ("lift_over_placebo", "sr(on) − sr(placebo)", ".3f"),
    ("echo_rate", "the agent itself said a planted memory in full; for reference only", ".3f"),
)
"""The figures of on against another condition: metric, meaning, how it is written."""

_CARDS = (
    ("sr", "off", "success rate, off", ".3f"),
    ("sr", "on", "success rate, on", ".3f"),
    ("delta_sr", "on", "ΔSR, on − off", ".3f"),
    ("token_ratio", "on", "tokens, on / off", ".3f"),
    ("mui", "on", "credit (mui)", ".3f"),
    ("mhi", "on", "harm (mhi)", ".3f"),
)


def bench_page(receipt: SealedReceipt, links: Links) -> Page:
    """Make the page of one bench receipt; `links` lead to the pages of its trials."""
    run = bench_run(receipt, links)
    manifest = run.manifest
    conditions = len(run.conditions)
    size = f"{len(manifest.tasks)} tasks × {conditions} conditions × {manifest.config.trials} trials"
    sections = (
        _headline(run),
        _rates(run),
        _effects(run),
        success_by_task(run),
        tokens_by_task(run),
        credit_by_task(run),
        _ablations(run),
        _ledger(run),
        coverage(run, receipt.summary.coverage),
        latency(run),
        trials(run),
        receipt_section(receipt),
    )
    return Page(
        path="index.html",
        title=f"{identity(manifest.systems[0])} with {identity(manifest.agents[0])}",
        subtitle=f"smriti bench, run {manifest.run_id}: {size}; memory by {manifest.delivery}",
        banners=(banner(receipt),),
        sections=tuple(section for section in sections if section.blocks),
    )


def _headline(run: BenchRun) -> Section:
    cards = [
        Card(label, value(score, style), interval(score, style), f"n = {score.n}")
        for metric, condition, label, style in _CARDS
        if (score := run.of(metric, condition)) is not None
    ]
    return Section("headline", "Headline", (Cards(tuple(cards)),) if cards else ())


def _rates(run: BenchRun) -> Section:
    """Success by condition, and by family."""
    rows = []
    for condition in run.conditions:
        sr, completed = run.of("sr", condition), run.of("sr_completed", condition)
        tokens, unknown = run.of("tokens", condition), run.of("usage_unknown_rate", condition)
        counts = (count(sr.n if sr else None), count(sr.excluded if sr else None))
        rest = (right(value(completed)), right(value(tokens, ".0f")), right(value(unknown)))
        rows.append((left(condition), *figure(sr), *counts, *rest))
    columns = ("condition", "sr", "interval", "n", "excluded", "sr_completed", "tokens", "usage_unknown_rate")
    table = Table("Success and tokens by condition", columns, tuple(rows))
    dots = Dots(
        "success rate (sr)",
        (),
        tuple((condition, (point(0, run.of("sr", condition)),)) for condition in run.conditions),
        unit=True,
    )
    said = "; ".join(f"{condition} {told(run.of('sr', condition))}" for condition in run.conditions)
    how = "Success over attempts: a trial that timed out or broke is a failure. Wilson intervals, 95\u00a0%."
    chart = Chart("sr", "Success rate by condition", f"Success rates with 95\u00a0% intervals: {said}.", dots, table)
    return Section("rates", "Success rates", (Prose(how), chart, _families(run)))


def _effects(run: BenchRun) -> Section:
    rows = [
        (left(metric), *figure(score, style), count(score.n), count(score.excluded), left(meaning))
        for metric, meaning, style in EFFECTS
        if (score := run.of(metric, "on")) is not None
    ]
    if not rows:
        return Section("effects", "Effects", ())
    how = (
        "95\u00a0% intervals by a bootstrap over whole tasks, because trials of one task are alike; echo_rate: Wilson."
    )
    table = Table("Effects of on", ("metric", "value", "interval", "n", "excluded", "meaning"), tuple(rows))
    return Section("effects", "Effects", (Prose(how), table))


def _ablations(run: BenchRun) -> Section:
    lanes = [
        (f"ablation_delta_sr[{condition.partition(':')[2]}]", condition)
        for condition in run.conditions
        if condition.startswith("ablate:") and condition != "ablate:all"
    ]
    rows = [(*lane, "sr(on) − sr(ablated): marginal, never added up") for lane in lanes]
    if "ablate:all" in run.conditions:
        rows.append(("ablate_all_gap", "ablate:all", "sr(ablate:all) − sr(off): a check on the harness, to be 0"))
    found = [(score, meaning) for metric, at, meaning in rows if (score := run.of(metric, at)) is not None]
    if not found:
        return Section("ablations", "Ablations", ())
    table = Table(
        "Ablations",
        ("metric", "value", "interval", "n", "excluded", "meaning"),
        tuple(
            (left(score.metric), *figure(score), count(score.n), count(score.excluded), left(meaning))
            for score, meaning in found
        ),
    )
    if not lanes:
        how = "No lane was ablated by itself; ablate:all checks that a memory which is switched off is off."
        return Section("ablations", "Ablations", (Prose(how), table))
    dots = Dots("difference of sr", (), tuple((s.metric, (point(0, s),)) for s, _ in found), reference=0.0)
    said = "; ".join(f"{score.metric} {told(score)}" for score, _ in found)
    return Section("ablations", "Ablations", (Chart("ablations", "What each lane adds", f"{said}.", dots, table),))


def _ledger(run: BenchRun) -> Section:
    rows = []
    for condition in run.conditions:
        confirmed = run.of("injection_confirmation_rate", condition)
        contaminated = run.of("contamination_rate", condition)
        counts = [count(score.n if score else None) for score in (confirmed, contaminated)]
        rows.append((left(condition), *figure(confirmed), counts[0], *figure(contaminated), counts[1]))
    columns = ("condition", "injection_confirmation_rate", "interval", "n", "contamination_rate", "interval", "n")
    how = (
        "By the memory system's own ledger, joined by session: whether a memory planted for the trial reached the "
        "agent, and whether one that was not planted for it did. A dash where the ledger cannot tell."
    )
    table = Table("Injection and contamination", columns, tuple(rows))
    return Section("ledger", "Injection and contamination", (Prose(how), table))


def _families(run: BenchRun) -> Table:
    counts = Counter(task.family for task in run.manifest.tasks)
    families = sorted(counts)
    return Table(
        "Success by family (number of tasks)",
        ("condition", *(f"{family} ({counts[family]})" for family in families)),
        tuple(
            (left(condition), *(both(run.of("sr", condition, family)) for family in families))
            for condition in run.conditions
        ),
    )
