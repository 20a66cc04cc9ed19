"""Print the summary of a bench receipt for a reader at a terminal: what to know first, then rates, effects, credits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from smriti.types import Manifest, Score, Summary

_EFFECTS = (
    ("delta_sr", "ΔSR", "sr(on) − sr(off)"),
    ("delta_tokens", "ΔT", "tokens, on − off"),
    ("token_ratio", "token ratio", "on / off"),
    ("mui", "MUI", "sr_lift + cost_saving"),
    ("sr_lift", "  sr_lift", "on passed where off failed"),
    ("cost_saving", "  cost_saving", "both passed, off used ≥ 1.5 × the tokens"),
    ("mhi", "MHI (harm)", "sr_harm + cost_harm"),
    ("sr_harm", "  sr_harm", "on failed where off passed"),
    ("cost_harm", "  cost_harm", "both passed, on used ≥ 1.5 × the tokens"),
    ("lift_over_file", "lift over file", "sr(on) − sr(file)"),
    ("lift_over_placebo", "lift over placebo", "sr(on) − sr(placebo)"),
    ("ablate_all_gap", "ablate_all_gap", "sr(ablate:all) − sr(off): a check on the harness"),
    ("echo_rate", "echo_rate", "for reference only"),
)


def print_summary(manifest: Manifest, summary: Summary, directory: Path) -> None:
    """Print to stdout, flags first; 110 columns where stdout is no terminal."""
    console = Console(highlight=False, markup=False)  # `ablation_delta_sr[kw]` is a name, not markup
    if not console.is_terminal:
        console.width = 110
    for flag in summary.flags:
        name, _, sentence = flag.partition(": ")
        console.print(Text.assemble((name.upper(), "bold"), ": ", sentence), soft_wrap=True)
    agent, system = manifest.agents[0], manifest.systems[0]
    console.print(
        f"\n{manifest.suite}: memory {system.name} {system.version}, agent {agent.name} {agent.version}, "
        f"{len(manifest.tasks)} tasks × {len(manifest.config.conditions)} conditions × {manifest.config.trials} trials",
    )
    of_all = [score for score in summary.scores if score.group == "all"]
    console.print(_rates(manifest, of_all))
    effects = _effects(of_all)
    if effects.row_count:
        console.print(effects)
    console.print(_families(manifest, summary.scores))
    cover = summary.coverage
    console.print(
        f"\n{cover.planned} planned = {cover.completed} completed + {cover.failed} failed + {cover.skipped} skipped; "
        f"class {summary.evidence_class}, sandbox {manifest.sandbox}",
    )
    console.print(f"receipt {directory}\ncheck it with: smriti verify {directory}", soft_wrap=True)


def _rates(manifest: Manifest, scores: Iterable[Score]) -> Table:
    table = Table(title="by condition (95 % Wilson intervals)", title_justify="left", title_style="")
    for heading in ("condition", "sr", "interval", "n", "sr_completed", "tokens", "injected", "contaminated"):
        table.add_column(heading, justify="left" if heading == "condition" else "right")
    by_name = {(score.metric, score.condition): score for score in scores}
    for condition in manifest.config.conditions:
        sr = by_name["sr", condition]
        rates = [by_name[metric, condition] for metric in ("injection_confirmation_rate", "contamination_rate")]
        table.add_row(
            condition,
            _number(sr),
            _interval(sr),
            str(sr.n),
            _number(by_name["sr_completed", condition]),
            _number(by_name["tokens", condition], ".0f"),
            *(_number(rate) for rate in rates),
        )
    return table


def _effects(scores: Iterable[Score]) -> Table:
    table = Table(title="effects (95 % task-clustered bootstrap intervals)", title_justify="left", title_style="")
    for heading in ("metric", "value", "interval", "n", "excluded", "meaning"):
        table.add_column(heading, justify="left" if heading in {"metric", "meaning"} else "right")
    by_metric = {score.metric: score for score in scores}
    for metric, label, meaning in _EFFECTS:
        score = by_metric.get(metric)
        if score is not None:
            style = "+.0f" if metric == "delta_tokens" else ".3f"
            table.add_row(
                label, _number(score, style), _interval(score, style), str(score.n), str(score.excluded), meaning
            )
    for metric, score in sorted(by_metric.items()):
        if metric.startswith("ablation_delta_sr["):
            table.add_row(
                metric, _number(score), _interval(score), str(score.n), str(score.excluded), "on − ablated; marginal"
            )
    return table


def _families(manifest: Manifest, scores: Iterable[Score]) -> Table:
    families = sorted({task.family for task in manifest.tasks})
    counts = Counter(task.family for task in manifest.tasks)
    table = Table(title="sr by family (number of tasks)", title_justify="left", title_style="")
    table.add_column("condition")
    for family in families:
        table.add_column(f"{family} ({counts[family]})", justify="right")
    rates = {(score.group, score.condition): score for score in scores if score.metric == "sr"}
    for condition in manifest.config.conditions:
        table.add_row(condition, *(_number(rates[family, condition]) for family in families))
    return table


def _number(score: Score, style: str = ".3f") -> str:
    return "–" if score.value is None else format(score.value, style)


def _interval(score: Score, style: str = ".3f") -> str:
    if score.interval is None:
        return "–"
    return f"[{format(score.interval.low, style)}, {format(score.interval.high, style)}]"
