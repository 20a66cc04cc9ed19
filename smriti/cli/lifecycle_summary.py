"""Print the summary of a lifecycle receipt for a reader at a terminal: what to know first, checks, rates."""

from __future__ import annotations

from pathlib import Path

from smriti.cli.tables import interval, new_table, number, print_closing, print_flags, print_table, summary_console
from smriti.types import LIFECYCLE_CHECKS, LifecycleManifest, Score, Summary

_WORDS = {1.0: "passed", 0.0: "FAILED", None: "unsupported"}


def print_lifecycle_summary(manifest: LifecycleManifest, summary: Summary, directory: Path) -> None:
    """Print to stdout, flags first; 110 columns where stdout is no terminal."""
    console = summary_console()
    print_flags(console, summary)
    systems = ", ".join(f"{system.name} {system.version}" for system in manifest.systems)
    console.print(f"\n{LIFECYCLE_CHECKS}: {systems}", soft_wrap=True)
    by_name = {(score.metric, score.system, score.group): score for score in summary.scores}
    checks = new_table("check", *manifest.config.memory)
    for check in manifest.checks:
        found = (by_name["pass_rate", system, check.id].value for system in manifest.config.memory)
        checks.add_row(check.id, *(_WORDS[value] for value in found))
    print_table(console, "each check begins with a control: what is to be checked is first shown to work", checks)
    rates = new_table("system", "passed", "failed", "unsupported", "of supported", "interval", "of all", "interval")
    for system in manifest.config.memory:
        counts = (number(by_name[name, system, "all"], ".0f") for name in ("passed", "failed", "unsupported"))
        supported, everything = (by_name[name, system, "all"] for name in ("pass_rate", "pass_rate_over_all"))
        rates.add_row(system, *counts, *_rate(supported), *_rate(everything))
    print_table(console, "passed of the checks that a system can be asked, and of all (Wilson intervals, 95 %)", rates)
    print_closing(console, summary, directory)


def _rate(score: Score) -> tuple[str, str]:
    return f"{number(score)} (n {score.n})", interval(score)
