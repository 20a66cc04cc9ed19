"""What a receipt must have before anything is claimed from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from smriti.errors import ReceiptError
from smriti.receipts.sealed import SealedReceipt
from smriti.receipts.wording import claimed_scores
from smriti.receipts.writer import read_manifest
from smriti.score.bench import FEW_TASKS, INJECTION_FLOOR
from smriti.types import VERDICTS, BenchManifest, Manifest, Score

FEW_TRIALS = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """What a receipt lacks for a claim."""

    receipt: str
    """The folder, as it was named."""
    name: str
    found: str
    expected: str


def gates(receipt: SealedReceipt) -> list[Gate]:
    """Return every gate that a verified receipt does not pass, in the order in which they are best mended."""
    where = str(receipt.directory)
    found = [*_manifest_gates(where, receipt.manifest)]
    if isinstance(receipt.manifest, BenchManifest):
        found += _design_gates(
            where, receipt.manifest, len({record.task_id for record in receipt.records if record.status != "skipped"})
        )
        found += _delivery_gates(where, receipt)
        found += _ablation_gates(where, receipt)
    found += _failure_gates(where, receipt)
    missing = [
        f"{score.metric}/{score.condition or score.system}/{score.group}"
        for score in claimed_scores(receipt)
        if score.value is not None and score.interval is None
    ]
    if missing:
        found.append(Gate(where, "interval", f"none for {', '.join(missing)}", "an interval beside every figure"))
    return found


def stated_gates(directory: Path) -> Iterator[Gate]:
    """Yield what can be told of a receipt that does not verify: what its manifest itself says against a claim."""
    try:
        manifest = read_manifest(directory)
    except ReceiptError:
        return
    yield from _manifest_gates(str(directory), manifest)
    if isinstance(manifest, BenchManifest):
        yield from _design_gates(str(directory), manifest, len(manifest.tasks))


def _manifest_gates(where: str, manifest: Manifest) -> Iterator[Gate]:
    code = manifest.code
    if code.commit is None or code.dirty is not False:
        state = {True: "uncommitted changes", False: "no uncommitted changes", None: "nobody knows what was changed"}
        found = f"commit {code.commit or 'unknown'}, {state[code.dirty]}"
        yield Gate(where, "code", found, "clean code of a recorded commit")
    bench = isinstance(manifest, BenchManifest)
    needed = "measured" if bench else "component"
    if manifest.evidence_class != needed:
        real = "a real agent over the whole corpus of tasks" if bench else "the whole of a pinned data set"
        yield Gate(where, "class", manifest.evidence_class, f"{needed}: {real}, by clean code")
    chosen, of = manifest.selection.get("selected"), manifest.selection.get("of")
    if chosen is None or chosen != of:
        yield Gate(where, "coverage", f"{chosen} of {of} selected", "everything that there is")


def _design_gates(where: str, manifest: BenchManifest, attempted: int) -> Iterator[Gate]:
    if "on" not in manifest.config.conditions:
        yield Gate(where, "conditions", ", ".join(manifest.config.conditions), "on among them")
    if manifest.config.trials < FEW_TRIALS:
        yield Gate(where, "trials", str(manifest.config.trials), f"at least {FEW_TRIALS} of each task and condition")
    if attempted < FEW_TASKS:
        yield Gate(where, "tasks", f"{attempted} attempted", f"at least {FEW_TASKS}")


def _failure_gates(where: str, receipt: SealedReceipt) -> Iterator[Gate]:
    """Failures are stated and count against a system; where nothing ever worked there is nothing to state."""
    bench = isinstance(receipt.manifest, BenchManifest)
    ended: dict[str, list[bool]] = {}
    for record in receipt.records:
        arm = record.condition if bench else record.system
        done = record.status in VERDICTS if bench else record.status == "completed"
        ended.setdefault(arm, []).append(done)
    for arm, done in ended.items():
        if not any(done):
            yield Gate(where, "failures", f"0 of {len(done)} attempts of {arm} completed", "at least one")


def _delivery_gates(where: str, receipt: SealedReceipt) -> Iterator[Gate]:
    scores = _of_all(receipt)
    rate, attempts = scores.get(("injection_confirmation_rate", "on")), scores.get(("sr", "on"))
    if rate is not None and attempts is not None:
        confirmed = round((rate.value or 0.0) * rate.n)
        if attempts.n == 0 or confirmed < INJECTION_FLOOR * attempts.n:
            found = f"memory is confirmed to have arrived in {confirmed} of {attempts.n} on-trials"
            yield Gate(where, "injection", found, f"injection_confirmation_rate ≥ {INJECTION_FLOOR}")
    rates = {arm: score for (metric, arm), score in scores.items() if metric == "contamination_rate"}
    for arm, score in rates.items():
        if score.value or (arm == "on" and score.value is None):
            found = f"unknown under {arm}" if score.value is None else f"{score.value!r} under {arm}"
            yield Gate(where, "contamination", found, "contamination_rate 0")


def _ablation_gates(where: str, receipt: SealedReceipt) -> Iterator[Gate]:
    manifest = receipt.manifest
    assert isinstance(manifest, BenchManifest)
    if not any(condition.startswith("ablate:") for condition in manifest.config.conditions):
        return
    gap = _of_all(receipt).get(("ablate_all_gap", "ablate:all"))
    if gap is None or gap.interval is None:
        found = "no ablate_all_gap" if gap is None else "no interval of ablate_all_gap"
        yield Gate(where, "ablation", found, "off and ablate:all beside any other ablation, over two tasks or more")
    elif not gap.interval.low <= 0 <= gap.interval.high:
        found = f"ablate_all_gap in [{gap.interval.low!r}, {gap.interval.high!r}]"
        yield Gate(where, "ablation", found, "an interval that covers 0: both arms are without memory")
    leaks = [flag for flag in receipt.summary.flags if flag.startswith("ablation: with every lane ablated")]
    yield from (Gate(where, "ablation", leak.partition(": ")[2], "no memory where all of it is off") for leak in leaks)


def _of_all(receipt: SealedReceipt) -> dict[tuple[str, str | None], Score]:
    return {(score.metric, score.condition): score for score in receipt.summary.scores if score.group == "all"}
