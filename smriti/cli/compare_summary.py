"""Print a comparison for a reader at a terminal: what to know first, the verdict, and the figures that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from smriti.cli.tables import new_table, print_table
from smriti.receipts.comparable import shown
from smriti.receipts.compare import Comparison
from smriti.receipts.contrasts import Contrast
from smriti.types import BenchManifest, RetrievalManifest


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print flags, sides and the verdict first, then the figures that it rests on and those beside it."""
    print_told_flags(console, comparison.flags)
    suite = comparison.baseline.receipt.manifest.suite
    base, other = comparison.baseline.label, comparison.candidate.label
    console.print(f"\n{suite}: {other} against the baseline {base}; differences are {other} − {base}", soft_wrap=True)
    for side in sorted((comparison.baseline, comparison.candidate), key=lambda side: side.label):
        memory = side.memory
        where = side.receipt.directory
        told = f"{side.label}  memory {memory.name} {memory.version}  {where}  (sha256 {side.receipt.sha256[:12]})"
        console.print(told, soft_wrap=True)
    fields = {difference.field for difference in comparison.differing}
    untold = ("packages", "host", *(["memory."] if "memory.name" in fields else []))
    for difference in comparison.differing:
        if not difference.field.startswith(untold):
            console.print(f"   {difference}", soft_wrap=True)
    apart = [field for field in fields if field.startswith(untold)]
    if apart:
        parts = sorted({field.partition(".")[0] for field in apart})
        console.print(f"   {len(apart)} more differ in {', '.join(parts)}: --json names them")
    verdict = comparison.verdict
    console.print(Text.assemble("\n", (verdict.word.upper(), "bold"), ": ", verdict.sentence), soft_wrap=True)
    if isinstance(comparison.baseline.receipt.manifest, BenchManifest):
        _print_bench(console, comparison)
    else:
        _print_retrieval(console, comparison)


def _print_bench(console: Console, comparison: Comparison) -> None:
    base, other = comparison.baseline.label, comparison.candidate.label
    rates = [contrast for contrast in comparison.contrasts if contrast.metric != "token_ratio"]
    ratios = [contrast for contrast in comparison.contrasts if contrast.metric == "token_ratio"]
    table = new_table("figure", base, other, "difference", "interval", "p", "p (Holm)", "pairs", "tasks", "role")
    for contrast in rates:
        table.add_row(
            f"{contrast.metric}({contrast.condition})", *_figures(contrast), str(contrast.clusters), _role(contrast)
        )
    print_table(
        console, "success (95 % task-clustered bootstrap intervals; p: sign-flip test over tasks, two-sided)", table
    )
    pairs = new_table("condition", f"only {other} passed", f"only {base} passed", "p")
    for contrast in rates:
        if contrast.mcnemar is not None:
            both = (str(contrast.mcnemar.gained), str(contrast.mcnemar.lost), _p(contrast.mcnemar.p))
            pairs.add_row(contrast.condition, *both)
    print_table(console, "pairs of trials (exact McNemar test, which takes trials of one task as independent)", pairs)
    ratio = new_table("condition", base, other, f"{other} / {base}", "interval", "pairs", "excluded")
    for contrast in ratios:
        means = (figure(contrast.baseline, ".0f"), figure(contrast.candidate, ".0f"))
        bounds = (figure(contrast.value, ".3f"), _interval(contrast, ".3f"))
        ratio.add_row(contrast.condition, *means, *bounds, str(contrast.n), str(contrast.excluded))
    print_table(console, "tokens (mean of the pairs, and their ratio with its 95 % interval)", ratio)


def _print_retrieval(console: Console, comparison: Comparison) -> None:
    base, other = comparison.baseline.label, comparison.candidate.label
    manifest = comparison.baseline.receipt.manifest
    labels = manifest.labels if isinstance(manifest, RetrievalManifest) else {}
    of_all = [contrast for contrast in comparison.contrasts if contrast.role != "type"]
    of_types = [contrast for contrast in comparison.contrasts if contrast.role == "type"]
    titles = (
        "all questions (95 % paired bootstrap; p: two-sided sign-flip test; a failed attempt found nothing)",
        f"by type (Holm over these {len(of_types)} tests)",
    )
    for title, contrasts in zip(titles, (of_all, of_types), strict=True):
        table = new_table("group", "metric", base, other, "difference", "interval", "p", "p (Holm)", "n")
        for contrast in contrasts:
            table.add_row(labels.get(contrast.group, contrast.group), contrast.metric, *_figures(contrast))
        if contrasts:
            print_table(console, title, table)


def _figures(contrast: Contrast) -> tuple[str, ...]:
    values = (figure(contrast.baseline, ".3f"), figure(contrast.candidate, ".3f"), figure(contrast.value, "+.3f"))
    return (*values, _interval(contrast, "+.3f"), _p(contrast.p), _p(contrast.p_holm), str(contrast.n))


def _role(contrast: Contrast) -> str:
    return {"headline": "verdict", "check": "check"}.get(contrast.role, "")


def print_told_flags(console: Console, flags: Sequence[str]) -> None:
    """Print what must be known before any figure is read."""
    for flag in flags:
        name, _, sentence = flag.partition(": ")
        console.print(Text.assemble((name.upper(), "bold"), ": ", shown(sentence)), soft_wrap=True)


def figure(value: float | None, style: str) -> str:
    """Write a figure; a dash where nothing can be said."""
    return "–" if value is None else format(value, style)


def _interval(contrast: Contrast, style: str) -> str:
    if contrast.interval is None:
        return "–"
    return f"[{format(contrast.interval.low, style)}, {format(contrast.interval.high, style)}]"


def _p(value: float | None) -> str:
    return "–" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"
