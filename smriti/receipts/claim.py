"""Write what receipts support, every figure tied to its receipt, or say what they lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from smriti.errors import ReceiptError
from smriti.receipts.comparable import Side
from smriti.receipts.compare import Comparison, compare
from smriti.receipts.gates import Gate, gates, stated_gates
from smriti.receipts.sealed import Look, SealedReceipt, by_itself, read_sealed
from smriti.receipts.wording import (
    claimed_scores,
    design,
    has_baselines,
    limits,
    plain,
    statements,
    written,
    written_interval,
)
from smriti.types import BenchManifest, CodeIdentity, Coverage, EvidenceClass, RetrievalManifest, Score, Stored

MARK = "<!-- claim: claim.json -->"
"""Stands in every claim: what else stands in it is what the file beside it says, and that is what receipts support."""

WRITTEN_BY = "written by `smriti claim` from receipts that verify"


class Figure(Stored):
    """One figure of a claim, and which receipt states it: the sha256 of that one's summary.json."""

    receipt: str
    score: Score


class ClaimedReceipt(Stored):
    """What one receipt supports."""

    sha256: str
    """Of summary.json, which names the digests of all other files."""
    run_id: str
    suite: str
    evidence_class: EvidenceClass
    code: CodeIdentity
    artifacts: dict[str, str]
    """Of the systems and agents under test: file → sha256."""
    systems: tuple[str, ...]
    agents: tuple[str, ...]
    design: str
    """How much was run, on what."""
    sandbox: str
    coverage: Coverage
    resumed: int
    flags: tuple[str, ...]
    wording: Literal["descriptive", "effect"]
    """Whether the baselines are there that words such as `improves` need."""
    statements: tuple[str, ...]
    """Sentences of Markdown whose figures `smriti claim check` compares with the receipt."""
    limits: tuple[str, ...]
    figures: tuple[Figure, ...]


class Compared(Stored):
    """What `smriti compare` says of two receipts, as a claim repeats it; made by `compare` alone."""

    a: str
    b: str
    """sha256 of each summary.json."""
    a_system: str | None
    b_system: str | None
    """Of a retrieval suite, which system of each."""
    condition: str | None
    verdict: str
    exceptions: dict[str, str]
    """Fields in which the two differ, and were allowed to, each with both values."""
    statements: tuple[str, ...]


class Claim(Stored):
    """claim.json."""

    schema_: Literal["smriti.claim/1"] = Field(default="smriti.claim/1", alias="schema")
    title: str | None
    """The author's own words, the only ones."""
    receipts: tuple[ClaimedReceipt, ...]
    comparisons: tuple[Compared, ...]

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def compared(comparison: Comparison) -> Compared:
    """Return what a claim repeats of a comparison."""
    base, other, verdict = comparison.baseline, comparison.candidate, comparison.verdict
    return Compared(
        a=base.receipt.sha256,
        b=other.receipt.sha256,
        a_system=base.system,
        b_system=other.system,
        condition=comparison.condition,
        verdict=verdict.word,
        exceptions={difference.field: str(difference) for difference in comparison.allowed},
        statements=(verdict.sentence,),
    )


def remade(claim: Claim, receipt: Callable[[str], SealedReceipt]) -> Claim | list[Gate]:
    """Make a claim anew from its receipts, which `receipt` finds by their sha256: what it must be, word for word."""
    again = []
    for stated in claim.comparisons:
        a, b = Side("A", receipt(stated.a), stated.a_system), Side("B", receipt(stated.b), stated.b_system)
        again.append(compared(compare(a, b, allow=list(stated.exceptions), condition=stated.condition or "on")))
    return make_claim([receipt(each.sha256).directory for each in claim.receipts], claim.title, again)


def make_claim(
    directories: Sequence[Path],
    title: str | None = None,
    comparisons: Sequence[Compared] = (),
    look: Look = by_itself,
) -> Claim | list[Gate]:
    """Return what the receipts in `directories` support, or every gate that one of them does not pass.

    Failures and exclusions are in the template, and so is the sandbox: a claim without them cannot be made.
    """
    unmet: list[Gate] = []
    receipts: list[SealedReceipt] = []
    for directory in directories:
        try:
            receipts.append(read_sealed(directory, look))
        except ReceiptError as error:
            unmet.append(Gate(str(directory), "verified", str(error), "a finished run that `smriti verify` verifies"))
            unmet += stated_gates(directory)
        else:
            unmet += gates(receipts[-1])
    digests = {receipt.sha256 for receipt in receipts}
    for compared in comparisons:
        for other in sorted({compared.a, compared.b} - digests):
            unmet.append(Gate(other, "comparison", "not a receipt of this claim", "both receipts in the claim"))
        if compared.verdict == "no verdict":
            unmet.append(Gate(compared.b, "comparison", compared.verdict, "a comparison that says something"))
    if unmet:
        return unmet
    return Claim(title=title, receipts=tuple(map(_claimed, receipts)), comparisons=tuple(comparisons))


def markdown(claim: Claim) -> str:
    """Write a claim for readers; `smriti claim check` finds every figure in it."""
    return "\n".join(_lines(claim)) + "\n"


def _under_test(manifest: BenchManifest | RetrievalManifest) -> Sequence[str]:
    return [manifest.config.memory] if isinstance(manifest, BenchManifest) else manifest.config.memory


def _claimed(receipt: SealedReceipt) -> ClaimedReceipt:
    manifest = receipt.manifest
    return ClaimedReceipt(
        sha256=receipt.sha256,
        run_id=manifest.run_id,
        suite=manifest.suite,
        evidence_class=manifest.evidence_class,
        code=manifest.code,
        artifacts=manifest.artifacts,
        # The store of the condition `file` is a baseline, and not under test.
        systems=tuple(f"{system.name} {system.version}" for system in manifest.systems[: len(_under_test(manifest))]),
        agents=tuple(f"{agent.name} {agent.version}" for agent in manifest.agents)
        if isinstance(manifest, BenchManifest)
        else (),
        design=design(manifest),
        sandbox=manifest.sandbox,
        coverage=receipt.summary.coverage,
        resumed=receipt.verdict.resumed,
        flags=receipt.summary.flags,
        wording="effect" if has_baselines(manifest) else "descriptive",
        statements=tuple(statements(receipt)),
        limits=tuple(limits(manifest)),
        figures=tuple(Figure(receipt=receipt.sha256, score=score) for score in claimed_scores(receipt)),
    )


def _lines(claim: Claim) -> Iterator[str]:
    yield f"# {plain(claim.title) if claim.title else 'Claim'}"
    yield ""
    yield MARK
    yield ""
    author = "The title is its author's. All else is" if claim.title else "This is"
    yield f"{author} {WRITTEN_BY}; `smriti claim check` compares it with them."
    for receipt in claim.receipts:
        yield from _section(receipt)
    for compared in claim.comparisons:
        yield from ("", f"## {compared.a[:12]} and {compared.b[:12]}: {compared.verdict}", "")
        yield from (f"- {statement}" for statement in compared.statements)
        yield from (f"- Allowed to differ: {plain(exception)}" for exception in compared.exceptions.values())


def _section(receipt: ClaimedReceipt) -> Iterator[str]:
    systems = ", ".join(map(plain, receipt.systems))
    agents = "".join(f", with agent {plain(agent)}" for agent in receipt.agents)
    code = receipt.code
    yield from ("", f"## {plain(receipt.suite)}: {systems}{agents}", "")
    yield from (f"- {statement}" for statement in receipt.statements)
    yield from ("", "| what | |", "|---|---|")
    yield f"| receipt | {plain(receipt.run_id)}, sha256 of its summary.json {receipt.sha256} |"
    resumed = {0: "", 1: ", resumed once"}.get(receipt.resumed, f", resumed {receipt.resumed} times")
    yield f"| class | {receipt.evidence_class}{resumed} |"
    yield f"| code | smriti {plain(code.version)}, commit {plain(str(code.commit))}, clean |"
    for label, sha256 in receipt.artifacts.items():
        yield f"| under test | {plain(label)}, sha256 {sha256} |"
    yield f"| design | {plain(receipt.design)} |"
    yield f"| sandbox | {plain(receipt.sandbox)} |"
    arm = "condition" if receipt.agents else "system"
    yield from ("", f"<!-- receipt: {receipt.run_id}@{receipt.sha256} -->", "")
    yield f"| metric | {arm} | group | value | interval | n | excluded | method |"
    yield "|---|---|---|---:|---:|---:|---:|---|"
    for score in (figure.score for figure in receipt.figures):
        method = score.interval.method if score.interval else "–"
        names = " | ".join(plain(name) for name in (score.metric, score.condition or score.system, score.group))
        yield f"| {names} | {written(score)} | {written_interval(score)} | {score.n} | {score.excluded} | {method} |"
    if receipt.flags:
        yield from ("", "What the receipt itself says first:", "")
        yield from (f"- {plain(flag)}" for flag in receipt.flags)
    yield from ("", "What it does not support:", "")
    yield from (f"- {limit}" for limit in receipt.limits)
