"""What every page begins with: what kind of evidence this is, whether it stands, and what it was made with."""

from __future__ import annotations

from collections.abc import Iterator

from smriti.receipts.report.view import Banner, Cell, Facts, Section, Table
from smriti.receipts.report.words import DASH, described, left
from smriti.receipts.sealed import SealedReceipt
from smriti.score import stands
from smriti.types import BenchManifest, SystemIdentity

_MEANINGS = {
    "rehearsal": "A script was the agent. These figures measure the harness; they say nothing of a memory system.",
    "development": "A selection, a limit or uncommitted code. These figures support no claim.",
    "measured": "A real agent over the whole corpus, from clean code.",
    "component": "A retrieval component over the whole set, from clean code. It says nothing of an agent.",
}
_MARKS = {True: "ok", False: "failed", None: "not checked"}


def banner(receipt: SealedReceipt) -> Banner:
    """Say what kind of evidence a receipt is, and whether it stands, flags first."""
    summary = receipt.summary
    cover = summary.coverage
    kind = summary.evidence_class
    holds = stands(summary)
    flags = [(name, sentence) for name, _, sentence in (flag.partition(": ") for flag in summary.flags)]
    without = f"{cover.failed} of {cover.planned} attempts have no verdict" if cover.failed else ""
    spoilt = ", ".join(dict.fromkeys(name for name, _ in flags if name in {"distrust", "contamination", "ablation"}))
    why = " and ".join(filter(None, (spoilt and f"flagged: {spoilt}", without)))
    return Banner(
        receipt=receipt.manifest.run_id,
        evidence_class=kind,
        meaning=_MEANINGS[kind],
        stands=holds,
        standing="every attempt has a verdict, and no flag spoils it" if holds else why,
        # The meaning says it already.
        flags=tuple((name, sentence) for name, sentence in flags if name != kind),
    )


def identity(system: SystemIdentity) -> str:
    """Name a system under test and its version."""
    return f"{system.name} {system.version}"


def receipt_section(receipt: SealedReceipt, number: str = "") -> Section:
    """Say what was run, what verification found, and how a reader can do it again."""
    facts = Facts(tuple(_facts(receipt)))
    checks = Table(
        "What smriti verify found when this page was made",
        ("check", "result", "detail"),
        tuple((left(check.name), left(_MARKS[check.ok]), left(check.detail)) for check in receipt.verdict.checks),
        folded=True,
    )
    packages = Table(
        "Packages",
        ("package", "version"),
        tuple((left(name), left(version)) for name, version in receipt.manifest.packages.items()),
        folded=True,
    )
    title = f"Receipt {receipt.manifest.run_id}"
    return Section(f"receipt{number}", title, (facts, checks, packages))


def _facts(receipt: SealedReceipt) -> Iterator[tuple[str, Cell]]:
    manifest, summary = receipt.manifest, receipt.summary
    yield "run", left(manifest.run_id)
    yield "sha256 of summary.json", left(receipt.sha256)
    yield "class", left(summary.evidence_class)
    for system in manifest.systems:
        yield "memory system", left(f"{identity(system)} ({described(system.detail)})")
    if isinstance(manifest, BenchManifest):
        for agent in manifest.agents:
            yield "agent", left(f"{identity(agent)} ({described(agent.detail)})")
        yield "delivery of memory", left(manifest.delivery)
    code = manifest.code
    dirty = {True: ", with uncommitted changes", False: "", None: ""}[code.dirty]
    yield "smriti", left(f"{code.version}, commit {code.commit or DASH}{dirty}")
    yield "sandbox", left(manifest.sandbox)
    for name, found in manifest.config.model_dump().items():
        if name not in {"memory", "agent", "seed"}:
            yield name.replace("_", " "), left(described(found))
    yield "selection", left(described(manifest.selection))
    yield "data sets", left(described(manifest.datasets))
    if not isinstance(manifest, BenchManifest):
        yield "in the data sets", left(described(manifest.counts))
    yield "seed", left(str(manifest.seed))
    yield "engine", left(f"{manifest.engine}, {manifest.jobs} at a time")
    yield "host", left(described(manifest.host))
    yield "started", left(manifest.started)
    yield "finished", left(summary.finished)
    yield "taken up again", left(f"{receipt.verdict.resumed} times" if receipt.verdict.resumed else "never")
    yield "check it with", left("smriti verify DIR, DIR being the folder of the receipt")
