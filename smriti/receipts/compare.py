"""Compare two receipts: refuse what differs in more than the memory system, pair by case, test, give one verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from smriti.errors import UsageError
from smriti.receipts.comparable import (
    Difference,
    Side,
    compared,
    differences,
    experiment,
    let_pass,
)
from smriti.receipts.contrasts import Contrast, bench_contrasts, retrieval_contrasts, smallest_shown
from smriti.score.bench import REHEARSAL
from smriti.types import AGENT_FAULTS, VERDICTS, BenchManifest, Interval, RetrievalManifest

FEWEST_TASKS = 10
FEWEST_CASES = 30
"""Pairs of trials, or questions: with fewer there is no verdict."""
MOST_FAILED = 0.05
"""Share of either side's compared attempts that the harness or the memory system may leave without a result."""
CHECK_ALPHA = 0.01
"""Level of the check of off against off: it forbids a verdict, and so it should seldom err."""

_SPOILT = ("distrust:", "contamination:", "ablation:")

Word = Literal["better", "worse", "higher", "lower", "no difference shown", "no verdict"]
"""What the candidate is against the baseline. Rehearsals say higher and lower, since a script has no memory system."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one verdict of a comparison."""

    word: Word
    sentence: str
    reasons: tuple[str, ...] = ()
    """Why there is no verdict, each `name: sentence`."""
    smallest: float | None = None
    """Where no difference was shown: the smallest that such a design shows in 8 of 10 runs, two-sided at 5 %."""
    stands: bool = True
    """False where there is no verdict because a receipt did not measure what it set out to."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides, what they were let differ in, every figure, and the verdict."""

    baseline: Side
    candidate: Side
    condition: str | None
    allowed: tuple[Difference, ...]
    """Differences in the experiment that --allow let pass."""
    differing: tuple[Difference, ...]
    """Differences that are what is compared, or of the occasion."""
    contrasts: tuple[Contrast, ...]
    verdict: Verdict

    @property
    def evidence_class(self) -> str:
        """The class of both receipts."""
        return self.baseline.receipt.manifest.evidence_class

    @property
    def headline(self) -> Contrast:
        """The figure that the verdict is about."""
        return next(contrast for contrast in self.contrasts if contrast.role == "headline")

    @property
    def flags(self) -> tuple[str, ...]:
        """What must be known before any figure is read; each is `name: sentence`."""
        flags = {
            "rehearsal": REHEARSAL,
            "development": (
                "development: a selection, a limit, data without a pin or uncommitted code; this supports no claim"
            ),
        }
        found = [flags[self.evidence_class]] if self.evidence_class in flags else []
        if self.allowed:
            found.append(f"allowed: {'; '.join(map(str, self.allowed))}")
        memory = (difference.field.startswith("memory") for difference in self.differing)
        code = (difference.field == "code" for difference in self.allowed)  # which holds smriti's own systems
        if not any(memory) and not any(code):
            found.append("a/a: both sides have the same memory system, as far as it can be told; this shows chance")
        if self.condition is not None and not any(contrast.condition == "off" for contrast in self.contrasts):
            found.append(
                "unchecked: without off in both receipts nobody can tell whether more than the memory system changed "
                "between the two runs"
            )
        return (*found, *_receipts_flags(self.baseline, self.candidate))

    def stated(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "suite": self.baseline.receipt.manifest.suite,
            "evidence_class": self.evidence_class,
            "flags": list(self.flags),
            "baseline": _stated(self.baseline),
            "candidate": _stated(self.candidate),
            "condition": self.condition,
            "allowed": [asdict(difference) for difference in self.allowed],
            "differing": [asdict(difference) for difference in self.differing],
            "verdict": {**asdict(self.verdict), "reasons": list(self.verdict.reasons)},
            "contrasts": [_figures(contrast) for contrast in self.contrasts],
        }


def compare(
    a: Side, b: Side, *, baseline: Literal["A", "B"] = "A", allow: Sequence[str] = (), condition: str = "on"
) -> Comparison:
    """Compare `b` with `a`, or the other way round where B is the baseline; the same figures with other signs.

    UsageError where they are one and the same, or differ in the experiment beyond what `allow` names: every difference
    is named at once.
    """
    if (a.receipt.sha256, a.system) == (b.receipt.sha256, b.system):
        what = f"system {a.system} of one receipt" if a.system else "one receipt"
        raise UsageError(
            f"{a.receipt.directory} and {b.receipt.directory} are the same {what}: there is nothing to compare. "
            "Give another receipt"
        )
    found = [
        *differences(experiment(a.receipt.manifest), experiment(b.receipt.manifest)),
        *_conditions(a, b, condition),
    ]
    known = [*experiment(a.receipt.manifest), *(["conditions"] if found and found[-1].field == "conditions" else [])]
    allowed, refused = let_pass(found, allow, known)
    if refused:
        raise UsageError(
            f"{a.receipt.directory} (A) and {b.receipt.directory} (B) cannot be compared, since more than the memory "
            f"system differs: {'; '.join(map(str, refused))}. Run both alike, or let a difference pass that you can "
            "answer for, with --allow FIELD"
        )
    base, other = (a, b) if baseline == "A" else (b, a)
    bench = isinstance(a.receipt.manifest, BenchManifest)
    contrasts = bench_contrasts(base, other, condition) if bench else retrieval_contrasts(base, other)
    if not any(contrast.role == "headline" for contrast in contrasts):
        raise UsageError(
            f"{a.receipt.directory} (A) and {b.receipt.directory} (B) have no scored question in common, expected the "
            "same questions. Run both over the same set"
        )
    return Comparison(
        baseline=base,
        candidate=other,
        condition=condition if bench else None,
        allowed=allowed,
        differing=tuple(differences(compared(a), compared(b))),
        contrasts=tuple(contrasts),
        verdict=_verdict(base, other, contrasts),
    )


def _conditions(a: Side, b: Side, condition: str) -> Iterator[Difference]:
    """Yield the conditions of both where either lacks the one that is to be compared."""
    manifests = a.receipt.manifest, b.receipt.manifest
    if not all(isinstance(manifest, BenchManifest) for manifest in manifests):
        return
    have = [list(manifest.config.conditions) for manifest in manifests if isinstance(manifest, BenchManifest)]
    if not all(condition in conditions for conditions in have):
        yield Difference("conditions", *(f"{', '.join(conditions)} ({condition} is needed)" for conditions in have))


def _verdict(base: Side, other: Side, contrasts: Sequence[Contrast]) -> Verdict:
    headline = next(contrast for contrast in contrasts if contrast.role == "headline")
    invalid = [*_spoilt(base), *_spoilt(other), *_failures(base, headline), *_failures(other, headline)]
    invalid += _drift(contrasts)
    reasons = (*invalid, *_small(base, headline))
    if reasons:
        return Verdict("no verdict", "; ".join(reasons), reasons, stands=not invalid)
    found = headline.shown()
    rehearsed = base.receipt.manifest.evidence_class == "rehearsal"
    figures = _told(headline)
    name = f"{headline.metric}({headline.condition})" if headline.condition else headline.metric
    if found is None:
        smallest = smallest_shown(base, other, headline)
        seen = (
            "a design such as this shows no difference of any size in 8 of 10 runs"
            if smallest is None
            else f"a design such as this shows one of {smallest:.2f} in 8 of 10 runs, and a smaller one less often"
        )
        sentence = f"{name} of {other.label} − {base.label} is {figures}; {seen}"
        return Verdict("no difference shown", sentence, smallest=smallest)
    if rehearsed:
        sentence = f"{name} differs between two rehearsals: {other.label} − {base.label} is {figures}"
        return Verdict(found, sentence)
    word: Word = "better" if found == "higher" else "worse"
    sentence = f"{other.label} is {word} than {base.label}: {name} of {other.label} − {base.label} is {figures}"
    return Verdict(word, sentence)


def _told(contrast: Contrast) -> str:
    interval = contrast.interval
    bounds = f" [{interval.low:+.3f}, {interval.high:+.3f}]" if interval else ""
    p = "p < 0.001" if contrast.p is not None and contrast.p < 0.001 else f"p = {contrast.p:.3f}"
    return f"{contrast.value:+.3f}{bounds}, {p}"


def _spoilt(side: Side) -> Iterator[str]:
    for flag in side.receipt.summary.flags:
        if flag.startswith(_SPOILT):
            name, _, sentence = flag.partition(": ")
            yield f"{name}: {side.label}: {sentence}"


def _receipts_flags(*sides: Side) -> Iterator[str]:
    """Repeat what the receipts say of themselves, but for what the comparison says of both or the verdict of one."""
    told: dict[str, list[str]] = {}
    for side in sorted(sides, key=lambda side: side.label):
        for flag in side.receipt.summary.flags:
            if not flag.startswith(("rehearsal:", "development:", *_SPOILT)):
                told.setdefault(flag, []).append(side.label)
    for flag, labels in told.items():
        name, _, sentence = flag.partition(": ")
        yield f"{name}: {' and '.join(labels)}: {sentence}"


def _failures(side: Side, headline: Contrast) -> Iterator[str]:
    """Count the compared attempts that ended without a result through no doing of an agent."""
    if headline.condition is None:
        ended = [record.status == "failed" for record in side.receipt.records if record.system == side.system]
    else:
        ended = [
            record.status not in VERDICTS | AGENT_FAULTS
            for record in side.receipt.records
            if record.condition == headline.condition and record.status != "skipped"
        ]
    failed = sum(ended)
    if failed > MOST_FAILED * len(ended):
        yield (
            f"failures: {side.label}: {failed} of {len(ended)} attempts ended in a fault of the memory system or the "
            f"harness; at most {MOST_FAILED:.0%} may"
        )


def _drift(contrasts: Sequence[Contrast]) -> Iterator[str]:
    for contrast in contrasts:
        if contrast.role == "check" and contrast.metric == "sr" and contrast.shown(CHECK_ALPHA):
            yield (
                f"drift: sr(off), where memory plays no part, differs by {_told(contrast)}: "
                "more than the memory system changed between the two runs"
            )


def _small(base: Side, headline: Contrast) -> Iterator[str]:
    if isinstance(base.receipt.manifest, BenchManifest):
        if headline.clusters < FEWEST_TASKS:
            yield f"few tasks: {headline.clusters} are paired; a verdict needs {FEWEST_TASKS}"
        if headline.n < FEWEST_CASES:
            yield f"few trials: {headline.n} pairs; a verdict needs {FEWEST_CASES}"
    elif headline.n < FEWEST_CASES:
        yield f"few questions: {headline.n} are paired; a verdict needs {FEWEST_CASES}"


def _stated(side: Side) -> dict[str, Any]:
    manifest = side.receipt.manifest
    return {
        "label": side.label,
        "receipt": str(side.receipt.directory),
        "sha256": side.receipt.sha256,
        "run_id": manifest.run_id,
        "system": side.system if isinstance(manifest, RetrievalManifest) else manifest.config.memory,
        "memory": side.memory.model_dump(mode="json"),
    }


def _figures(contrast: Contrast) -> dict[str, Any]:
    stated = asdict(contrast)
    interval: Interval | None = contrast.interval
    return {**stated, "interval": interval.model_dump() if interval else None, "shown": contrast.shown()}
