"""The words of a claim: templates of ours, filled with the figures of one receipt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import quote

from smriti.receipts.contrasts import effects
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest, Manifest, RetrievalManifest, Score, SystemIdentity

BASELINES = ("off", "placebo", "file")
"""Conditions without which nothing is said of an effect."""

_BENCH = {
    "sr",
    "sr_completed",
    "delta_sr",
    "lift_over_placebo",
    "lift_over_file",
    "delta_tokens",
    "token_ratio",
    "mui",
    "sr_lift",
    "cost_saving",
    "mhi",
    "sr_harm",
    "cost_harm",
    "ablation_delta_sr",
    "ablate_all_gap",
    "injection_confirmation_rate",
    "contamination_rate",
}
"""Figures of all tasks that a claim repeats; a family has too few tasks."""
_RETRIEVAL = {
    "recall_all",
    "recall",
    "hit",
    "precision",
    "ndcg",
    "mrr",
    "success_over_attempts",
    "recall_all_completed",
}
"""Figures of each group of questions that a claim repeats, at every k; the rest are counts, ceilings and times."""
_NAME = re.compile(r"[@\[].*")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~&])")


def claimed_scores(receipt: SealedReceipt) -> list[Score]:
    """Return the figures of a receipt that a claim repeats, in the receipt's order."""
    bench = isinstance(receipt.manifest, BenchManifest)
    names = _BENCH if bench else _RETRIEVAL
    return [
        score
        for score in receipt.summary.scores
        if _NAME.sub("", score.metric) in names and (score.group == "all" or not bench)
    ]


def has_baselines(manifest: Manifest) -> bool:
    """Tell whether every baseline was run that words such as `improves` need."""
    return isinstance(manifest, BenchManifest) and not _missing(manifest)


def statements(receipt: SealedReceipt) -> list[str]:
    """Say in sentences of Markdown what the receipt shows; each figure is a link that `smriti claim check` reads."""
    if isinstance(receipt.manifest, BenchManifest):
        shown = {name: contrast.shown() for name, contrast in effects(receipt, BASELINES).items()}
        return [*_bench_statements(_Quoted(receipt), receipt.manifest, shown), _covered(_Quoted(receipt))]
    return [*_retrieval_statements(_Quoted(receipt), receipt.manifest), _covered(_Quoted(receipt))]


def design(manifest: BenchManifest | RetrievalManifest) -> str:
    """Say how much was run, and on what."""
    if isinstance(manifest, BenchManifest):
        config = manifest.config
        limit = "no token limit" if config.max_tokens is None else f"at most {config.max_tokens} tokens"
        return (
            f"{len(manifest.tasks)} tasks × {len(config.conditions)} conditions ({', '.join(config.conditions)}) × "
            f"{config.trials} trials; delivery {manifest.delivery}; at most {config.timeout_s:g} s and {limit} a trial"
        )
    asked = sum(len(corpus.questions) for corpus in manifest.corpora)
    data = ", ".join(f"{name} (sha256 {sha256})" for name, sha256 in manifest.datasets.items())
    cutoffs = ", ".join(map(str, manifest.config.k))
    options = "".join(f"; {name} {value}" for name, value in manifest.config.options.items())
    corpora = f"{len(manifest.corpora)} corpora" if len(manifest.corpora) != 1 else "one corpus"
    return f"{asked} questions of {corpora} of {data}; k = {cutoffs}{options}"


def limits(manifest: BenchManifest | RetrievalManifest) -> list[str]:
    """Say what the receipt cannot support."""
    said = ["It is consistent with its own evidence; who made it, and whether the evidence is true, it cannot say."]
    if isinstance(manifest, BenchManifest):
        if manifest.sandbox == "none":
            said.append("There was no sandbox: nothing kept the agent from reading what it was not given.")
        said.append("It is of these tasks, this agent and this delivery; of others it says nothing.")
        if not has_baselines(manifest):
            missing = ", ".join(_missing(manifest))
            said.append(f"It is descriptive: the baselines {missing} were not run, so it says nothing of an effect.")
    else:
        said.append("It is of retrieval alone: whether an agent works differently with what is found, it cannot say.")
        said.append("It is descriptive: systems are set against each other by `smriti compare` and nothing else.")
    if any(system.name == "embedded" for system in manifest.systems):
        said.append(
            "The memory system embedded was made with the shipped tasks in view: no independent evidence of it."
        )
    return said


def plain(text: str) -> str:
    """Return text from elsewhere as Markdown that shows it: one line, and nothing in it is markup."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return _SPECIAL.sub(r"\\\1", " ".join(printable.split()))


def link_target(receipt: SealedReceipt, metric: str, arm: str, group: str | None) -> str:
    """Return the target of the link that names one figure of a receipt; of a count, `group` is None."""
    parts = [metric, arm] if group is None else [metric, arm, group]
    name = f"{quote(receipt.manifest.run_id, safe='')}@{receipt.sha256[:16]}"
    return f"receipt:{name}#{'/'.join(quote(part, safe='@:,=') for part in parts)}"


def written(score: Score) -> str:
    """Write the value of a figure to as many digits as a claim has."""
    return "–" if score.value is None else format(score.value, _style(score))


def written_interval(score: Score) -> str:
    """Write the interval of a figure; a dash where it has none."""
    if score.interval is None:
        return "–"
    return f"[{format(score.interval.low, _style(score))}, {format(score.interval.high, _style(score))}]"


def _style(score: Score) -> str:
    return ".0f" if score.metric == "delta_tokens" else ".4f" if score.condition is None else ".3f"


class _Quoted:
    """The figures of a receipt as a sentence has them: value, interval and n in a link."""

    def __init__(self, receipt: SealedReceipt) -> None:
        self._receipt = receipt
        self._scores = {
            (score.metric, score.condition or score.system, score.group): score for score in receipt.summary.scores
        }

    def __call__(self, metric: str, arm: str, group: str = "all") -> str:
        score = self._scores[metric, arm, group]
        text = f"{written(score)} {written_interval(score)}, n = {score.n}"
        return f"{plain(metric)} [{text}]({link_target(self._receipt, metric, arm, group)})"

    def count(self, name: str) -> str:
        counts: dict[str, int] = self._receipt.summary.coverage.model_dump()
        return f"[{counts[name]}]({link_target(self._receipt, 'coverage', name, None)})"

    def has(self, metric: str, arm: str) -> bool:
        return (metric, arm, "all") in self._scores


def _bench_statements(
    quoted: _Quoted, manifest: BenchManifest, shown: Mapping[str, Literal["higher", "lower"] | None]
) -> Iterator[str]:
    system = f"memory system {_of(manifest.systems[0])}"
    agent = f"agent {_of(manifest.agents[0])}"
    yield f"With {system}, {agent} passed this share of its trials: {quoted('sr', 'on')}."
    if "off" in manifest.config.conditions:
        difference = quoted("delta_sr", "on")
        yield f"Without it: {quoted('sr', 'off')}; the difference, paired by task and trial: {difference}."
    if not has_baselines(manifest):
        return
    off, placebo, file = (shown[name] for name in BASELINES)
    over_placebo, over_file = quoted("lift_over_placebo", "on"), quoted("lift_over_file", "on")
    if off == placebo == "higher":
        yield (
            f"On these tasks the {system} improves the success rate of {agent}: over no memory, and over as many words "
            f"of unrelated memory ({over_placebo})."
        )
    elif off == "lower":
        yield f"On these tasks the {system} worsens the success rate of {agent}, against no memory."
    elif off == "higher":
        yield (
            f"{agent.capitalize()} passed more trials with it than without, but that as many words of unrelated memory "
            f"would not have done the same was not shown ({over_placebo}): no improvement is claimed."
        )
    else:
        yield f"No difference from no memory was shown; against as many words of unrelated memory: {over_placebo}."
    against = "a plain context file that holds the same memories"
    if file == "higher":
        yield f"It is better than {against}: {over_file}."
    elif file == "lower":
        yield f"It is worse than {against}: {over_file}."
    else:
        yield f"No difference from {against} was shown: {over_file}."


def _retrieval_statements(quoted: _Quoted, manifest: RetrievalManifest) -> Iterator[str]:
    for spec, system in zip(manifest.config.memory, manifest.systems, strict=True):
        for k in manifest.config.k:
            figure = quoted(f"recall_all@{k}", spec)
            yield (
                f"{_of(system)} ({plain(spec)}) brought back all of the evidence of this share of the questions among "
                f"its first {k} sources, failed attempts counted as nothing found: {figure}."
            )


def _covered(quoted: _Quoted) -> str:
    planned, completed, failed, skipped = map(quoted.count, ("planned", "completed", "failed", "skipped"))
    return (
        f"Of {planned} planned attempts {completed} were completed, {failed} failed without a verdict and count as "
        f"failures, and {skipped} were skipped and count in nothing."
    )


def _missing(manifest: BenchManifest) -> list[str]:
    return [condition for condition in BASELINES if condition not in manifest.config.conditions]


def _of(identity: SystemIdentity) -> str:
    return plain(f"{identity.name} {identity.version}")
