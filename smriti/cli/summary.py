"""Print the summary of a bench receipt for a reader at a terminal: what to know first, then rates, effects, credits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from smriti.cli.tables import (
    interval,
    natural_width,
    new_table,
    number,
    print_closing,
    print_flags,
    print_table,
    summary_console,
)
from smriti.types import BenchManifest, Score, Summary

_EFFECTS = (
    ("delta_sr", "delta_sr (ΔSR)", "sr(on) − sr(off)"),
    ("delta_tokens", "delta_tokens (ΔT)", "tokens, on − off"),
    ("token_ratio", "token_ratio", "tokens, on / off"),
    ("mui", "mui (MUI)", "sr_lift + cost_saving"),
    ("sr_lift", "  sr_lift", "on passed where off failed"),
    ("cost_saving", "  cost_saving", "both passed, off used ≥ 1.5 × the tokens"),
    ("mhi", "mhi (MHI)", "harm: sr_harm + cost_harm"),
    ("sr_harm", "  sr_harm", "on failed where off passed"),
    ("cost_harm", "  cost_harm", "both passed, on used ≥ 1.5 × the tokens"),
    ("lift_over_file", "lift_over_file", "sr(on) − sr(file)"),
    ("lift_over_placebo", "lift_over_placebo", "sr(on) − sr(placebo)"),
    ("ablate_all_gap", "ablate_all_gap", "sr(ablate:all) − sr(off), to be 0"),
    ("echo_rate", "echo_rate", "for reference only"),
)
_PAST_THE_LEDGER = {"handed", "placebo", "file"}


def print_summary(manifest: BenchManifest, summary: Summary, directory: Path) -> None:
    """Print to stdout, flags first; 110 columns where stdout is no terminal.

    Names and figures are never cut or wrapped: what the metrics mean is left out where there is no room for it.
    """
    console = summary_console()
    print_flags(console, summary)
    agent, system = manifest.agents[0], manifest.systems[0]
    console.print(
        f"\n{manifest.suite}: memory {system.name} {system.version} (delivery: {manifest.delivery}), "
        f"agent {agent.name} {agent.version}, "
        f"{len(manifest.tasks)} tasks × {len(manifest.config.conditions)} conditions × {manifest.config.trials} trials",
    )
    of_all = [score for score in summary.scores if score.group == "all"]
    conditions = manifest.config.conditions
    print_table(console, "by condition (sr: 95 % Wilson interval; tokens: mean)", _rates(conditions, of_all))
    past = [condition for condition in conditions if condition in _PAST_THE_LEDGER]
    note = f" (which never sees {', '.join(past)})" if past else ""
    print_table(console, f"by the memory system's own ledger{note}", _ledger(conditions, of_all))
    effects = _effects(of_all, meanings=True)
    if natural_width(console, effects) > console.width:
        effects = _effects(of_all, meanings=False)
    if effects.row_count:
        print_table(console, "effects (95 % task-clustered bootstrap intervals; echo_rate: Wilson)", effects)
    print_table(console, "sr by family (number of tasks)", _families(manifest, summary.scores))
    print_closing(console, summary, directory, f", sandbox {manifest.sandbox}")


def _rates(conditions: Sequence[str], scores: Iterable[Score]) -> Table:
    table = new_table("condition", "sr", "interval", "n", "sr_completed", "tokens")
    by_name = {(score.metric, score.condition): score for score in scores}
    for condition in conditions:
        sr = by_name["sr", condition]
        completed, tokens = by_name["sr_completed", condition], by_name["tokens", condition]
        table.add_row(condition, number(sr), interval(sr), str(sr.n), number(completed), number(tokens, ".0f"))
    return table


def _ledger(conditions: Sequence[str], scores: Iterable[Score]) -> Table:
    table = new_table("condition", "injection_confirmation_rate", "n", "contamination_rate", "n")
    by_name = {(score.metric, score.condition): score for score in scores}
    for condition in conditions:
        confirmed = by_name["injection_confirmation_rate", condition]
        contaminated = by_name["contamination_rate", condition]
        table.add_row(condition, number(confirmed), str(confirmed.n), number(contaminated), str(contaminated.n))
    return table


def _effects(scores: Iterable[Score], *, meanings: bool) -> Table:
    table = new_table("metric", "value", "interval", "n", "excluded")
    if meanings:
        table.add_column("meaning", no_wrap=True)
    by_metric = {score.metric: score for score in scores}
    ablations = [
        (metric, metric, "sr(on) − sr(ablated), marginal")
        for metric in sorted(by_metric)
        if metric.startswith("ablation_delta_sr[")
    ]
    for metric, label, meaning in (*_EFFECTS, *ablations):
        score = by_metric.get(metric)
        if score is not None:
            style = "+.0f" if metric == "delta_tokens" else ".3f"
            figures = (number(score, style), interval(score, style), str(score.n), str(score.excluded))
            table.add_row(label, *figures, *([meaning] if meanings else []))
    return table


def _families(manifest: BenchManifest, scores: Iterable[Score]) -> Table:
    counts = Counter(task.family for task in manifest.tasks)
    families = sorted(counts)
    table = new_table("condition", *(f"{family} ({counts[family]})" for family in families))
    rates = {(score.group, score.condition): score for score in scores if score.metric == "sr"}
    for condition in manifest.config.conditions:
        table.add_row(condition, *(number(rates[family, condition]) for family in families))
    return table
