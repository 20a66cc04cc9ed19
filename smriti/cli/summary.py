"""Print the summary of a bench receipt for a reader at a terminal: what to know first, then rates, effects, credits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
_UNBOUNDED = 100_000
"""Columns: more than any table needs."""


def print_summary(manifest: BenchManifest, summary: Summary, directory: Path) -> None:
    """Print to stdout, flags first; 110 columns where stdout is no terminal.

    Names and figures are never cut or wrapped: what the metrics mean is left out where there is no room for it.
    """
    console = Console(highlight=False, markup=False)  # `ablation_delta_sr[kw]` is a name, not markup
    if not console.is_terminal:
        console.width = 110
    for flag in summary.flags:
        name, _, sentence = flag.partition(": ")
        console.print(Text.assemble((name.upper(), "bold"), ": ", sentence), soft_wrap=True)
    agent, system = manifest.agents[0], manifest.systems[0]
    console.print(
        f"\n{manifest.suite}: memory {system.name} {system.version} (delivery: {manifest.delivery}), "
        f"agent {agent.name} {agent.version}, "
        f"{len(manifest.tasks)} tasks × {len(manifest.config.conditions)} conditions × {manifest.config.trials} trials",
    )
    of_all = [score for score in summary.scores if score.group == "all"]
    conditions = manifest.config.conditions
    _print_table(console, "by condition (sr: 95 % Wilson interval; tokens: mean)", _rates(conditions, of_all))
    past = [condition for condition in conditions if condition in _PAST_THE_LEDGER]
    note = f" (which never sees {', '.join(past)})" if past else ""
    _print_table(console, f"by the memory system's own ledger{note}", _ledger(conditions, of_all))
    effects = _effects(of_all, meanings=True)
    if _natural_width(console, effects) > console.width:
        effects = _effects(of_all, meanings=False)
    if effects.row_count:
        _print_table(console, "effects (95 % task-clustered bootstrap intervals; echo_rate: Wilson)", effects)
    _print_table(console, "sr by family (number of tasks)", _families(manifest, summary.scores))
    cover = summary.coverage
    console.print(
        f"\n{cover.planned} planned = {cover.completed} completed + {cover.failed} failed + {cover.skipped} skipped; "
        f"class {summary.evidence_class}, sandbox {manifest.sandbox}",
    )
    console.print(f"receipt {directory}\ncheck it with: smriti verify {directory}", soft_wrap=True)


def _rates(conditions: Sequence[str], scores: Iterable[Score]) -> Table:
    table = _table("condition", "sr", "interval", "n", "sr_completed", "tokens")
    by_name = {(score.metric, score.condition): score for score in scores}
    for condition in conditions:
        sr = by_name["sr", condition]
        completed, tokens = by_name["sr_completed", condition], by_name["tokens", condition]
        table.add_row(condition, _number(sr), _interval(sr), str(sr.n), _number(completed), _number(tokens, ".0f"))
    return table


def _ledger(conditions: Sequence[str], scores: Iterable[Score]) -> Table:
    table = _table("condition", "injection_confirmation_rate", "n", "contamination_rate", "n")
    by_name = {(score.metric, score.condition): score for score in scores}
    for condition in conditions:
        confirmed = by_name["injection_confirmation_rate", condition]
        contaminated = by_name["contamination_rate", condition]
        table.add_row(condition, _number(confirmed), str(confirmed.n), _number(contaminated), str(contaminated.n))
    return table


def _effects(scores: Iterable[Score], *, meanings: bool) -> Table:
    table = _table("metric", "value", "interval", "n", "excluded")
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
            figures = (_number(score, style), _interval(score, style), str(score.n), str(score.excluded))
            table.add_row(label, *figures, *([meaning] if meanings else []))
    return table


def _families(manifest: BenchManifest, scores: Iterable[Score]) -> Table:
    counts = Counter(task.family for task in manifest.tasks)
    families = sorted(counts)
    table = _table("condition", *(f"{family} ({counts[family]})" for family in families))
    rates = {(score.group, score.condition): score for score in scores if score.metric == "sr"}
    for condition in manifest.config.conditions:
        table.add_row(condition, *(_number(rates[family, condition]) for family in families))
    return table


def _table(first: str, *figures: str) -> Table:
    """Make a table of a name and figures, as narrow as they allow."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _print_table(console: Console, title: str, table: Table) -> None:
    """Print a title and the whole table, also on a terminal that is narrower than it."""
    console.print(f"\n{title}", soft_wrap=True)
    table.width = _natural_width(console, table)
    console.print(table, crop=False)


def _natural_width(console: Console, table: Table) -> int:
    """Return the columns that the table takes when nothing in it is cut or wrapped."""
    return console.measure(table, options=console.options.update(width=_UNBOUNDED)).maximum


def _number(score: Score, style: str = ".3f") -> str:
    return "–" if score.value is None else format(score.value, style)


def _interval(score: Score, style: str = ".3f") -> str:
    if score.interval is None:
        return "–"
    return f"[{format(score.interval.low, style)}, {format(score.interval.high, style)}]"
