"""Print the summary of a retrieval receipt for a reader at a terminal: what to know first, scores, ceilings, times."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from smriti.cli.tables import interval, new_table, number, print_closing, print_flags, print_table, summary_console
from smriti.types import RetrievalManifest, Score, Summary

_UNANSWERABLE = "unanswerable"


def print_retrieval_summary(manifest: RetrievalManifest, summary: Summary, directory: Path) -> None:
    """Print to stdout, flags first; 110 columns where stdout is no terminal."""
    console = summary_console()
    config = manifest.config
    print_flags(console, summary)
    systems = ", ".join(f"{system.name} {system.version}" for system in manifest.systems)
    data = ", ".join(f"{name} (sha256 {sha256[:12]})" for name, sha256 in manifest.datasets.items())
    corpora = "1 corpus" if len(manifest.corpora) == 1 else f"{len(manifest.corpora)} corpora"
    asked = sum(len(corpus.questions) for corpus in manifest.corpora)
    console.print(f"\n{manifest.suite}: {systems}", soft_wrap=True)
    console.print(f"{asked} questions of {corpora} of {data}", soft_wrap=True)
    if config.options:
        console.print(", ".join(f"{name} {_shown(value)}" for name, value in config.options.items()), soft_wrap=True)
    by_name = {(score.metric, score.system, score.group): score for score in summary.scores}
    groups = list(dict.fromkeys(score.group for score in summary.scores))
    for k in config.k:
        _print_cutoff(console, manifest, k, [group for group in groups if group != _UNANSWERABLE], by_name)
    if _UNANSWERABLE in groups:
        _print_unanswerable(console, config.memory, by_name)
    _print_times(console, config.memory, by_name)
    print_closing(console, summary, directory)


_Scores = Mapping[tuple[str, str, str], Score]


def _print_cutoff(console: Console, manifest: RetrievalManifest, k: int, groups: list[str], scores: _Scores) -> None:
    names = [f"recall_all@{k}", f"recall@{k}", f"hit@{k}", f"precision@{k}", f"ndcg@{k}", "mrr"]
    table = new_table("group", "system", "n", names[0], "interval", "ceiling", *names[1:])
    for group in groups:
        for system in manifest.config.memory:
            headline = scores[names[0], system, group]
            ceiling = scores[f"ceiling[{names[0]}]", system, group]
            rest = (number(scores[name, system, group], ".4f") for name in names[1:])
            figures = (number(headline, ".4f"), interval(headline), number(ceiling, ".4f"), *rest)
            table.add_row(manifest.labels.get(group, group), system, str(headline.n), *figures)
    print_table(
        console, f"k = {k}; a failed attempt counts as nothing found (recall_all: Wilson intervals, 95 %)", table
    )


def _print_unanswerable(console: Console, systems: tuple[str, ...], scores: _Scores) -> None:
    table = new_table("system", "attempted", "completed", "failed")
    for system in systems:
        counts = (number(scores[name, system, _UNANSWERABLE], ".0f") for name in ("attempted", "completed", "failed"))
        table.add_row(system, *counts)
    print_table(console, "unanswerable: there is nothing to find, and nothing is scored", table)


def _print_times(console: Console, systems: tuple[str, ...], scores: _Scores) -> None:
    names = [f"{phase}_p{percent}" for phase in ("ingest_ms", "query_ms") for percent in (50, 95, 99)]
    table = new_table("system", *names)
    for system in systems:
        table.add_row(system, *(number(scores[name, system, "all"], ".1f") for name in names))
    print_table(console, "wall time in ms: diagnostic, of this machine and its load", table)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
