"""Check the trials of a receipt: each evidence line against the manifest, each score line against its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from smriti.errors import ReceiptError
from smriti.receipts.check import Check, judge
from smriti.receipts.writer import EVIDENCE, SCORES, blob_names, first_error, manifest_digest
from smriti.score import planned_cases, score_trial
from smriti.types import VERDICTS, Manifest, TrialCase, TrialEvidence, TrialRecord, trial_realm

MOST_TRIALS = 10_000_000
"""A plan of more is not laid out: no run is so long, and a receipt must not exhaust the memory of its reader."""


@dataclass(frozen=True, slots=True)
class Trials:
    """What the evidence of a receipt scores as, and what its lines name; empty as far as `checks` failed."""

    records: Sequence[TrialRecord]
    blobs: dict[str, str]
    """Name in the receipt → sha256 of the content."""
    checks: tuple[Check, ...]


def plan_size(manifest: Manifest) -> int:
    """Count the trials that the manifest's tasks, conditions and trials make."""
    return len(manifest.tasks) * len(manifest.config.conditions) * manifest.config.trials


def read_trials(directory: Path, manifest: Manifest, *, sealed: bool) -> Trials:
    """Read the evidence once, score it again and compare the score lines with that, byte for byte.

    Before the seal, the last line of a file may be cut, and the last evidence line may lack its score line.
    """
    try:
        lines = read_lines(directory / EVIDENCE, sealed=sealed)
        scores = read_lines(directory / SCORES, sealed=sealed)
    except ReceiptError as error:
        return Trials([], {}, (Check("rows", False, str(error)),))
    surplus = len(lines) - len(scores)
    unlike = [] if surplus in ({0} if sealed else {0, 1}) else [f"{len(scores)} rows to {len(lines)} of {EVIDENCE}"]
    tasks = {task.id: (task.sha256, task.family, task.split) for task in manifest.tasks}
    digest = manifest_digest(manifest)
    records: list[TrialRecord] = []
    blobs: dict[str, str] = {}
    broken: list[str] = []
    strange: list[str] = []
    # An evidence row is let go of once it is scored: a hundred thousand of them would take most of the time and memory.
    for number, line in enumerate(lines, 1):
        try:
            row = TrialEvidence.model_validate_json(line)
        except ValidationError as error:
            broken.append(f"line {number}: {first_error(error)}")
            continue
        if row.model_dump_json().encode() != line:
            broken.append(f"line {number}: not in the form in which it is written")
        named = dict(blob_names(row))
        blobs |= named
        strange += [f"{row.case}: {why}" for why in _misplacements(manifest, tasks, row)]
        if row.manifest_sha256 != digest:
            strange.append(f"{row.case}: written under another manifest")
        strange += [f"{row.case}: {why}" for why in _contradictions(manifest, row, named)]
        record = score_trial(row, hashlib.sha256(line).hexdigest())
        if number <= len(scores):
            if record.model_dump_json().encode() != scores[number - 1]:
                unlike.append(f"line {number}: {_difference(record, scores[number - 1])}")
            records.append(record)
    checks = (
        judge(EVIDENCE, broken, f"{len(lines)} rows, each as its schema says"),
        judge(SCORES, unlike, f"{len(scores)} rows, each follows from the evidence line whose digest it carries"),
        judge("identity", strange, "every row is of this run and of the manifest's tasks, and can have come about"),
        _check_plan(manifest, records, complete=sealed),
    )
    return Trials(records, blobs, checks)


def read_lines(path: Path, *, sealed: bool) -> list[bytes]:
    """Return the whole lines of a file; ReceiptError where a sealed receipt lacks it, or some of its last line.

    Before the seal a cut line is left out, and a file that the run has not come to yet has none.
    """
    try:
        *lines, rest = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        if sealed:
            raise ReceiptError(f"{path.name} is missing") from None
        return []
    if rest and sealed:
        raise ReceiptError(f"{path.name}: the last line is cut")
    return lines


def _misplacements(manifest: Manifest, tasks: Mapping[str, tuple[str, str, str]], row: TrialEvidence) -> Iterator[str]:
    """Say what makes a row one of another run or trial."""
    task = tasks.get(row.task_id)
    if task is None:
        yield f"task {row.task_id!r} is not in the manifest"
    elif (row.task_sha256, row.family, row.split) != task:
        yield "another task of that name than the manifest's"
    if row.run_id != manifest.run_id:
        yield f"of run {row.run_id!r}, not {manifest.run_id!r}"
    if row.realm != trial_realm(row.run_id, TrialCase(row.task_id, row.condition, row.trial, row.order)):
        yield f"realm {row.realm!r} is another trial's"


def _contradictions(manifest: Manifest, row: TrialEvidence, blobs: Mapping[str, str]) -> Iterator[str]:
    """Say what no trial can have left behind."""
    if row.fault is None:
        if row.check_exit_status is None or row.check_exit_status < 0 or len(blobs) < 3:
            yield "no fault, and yet no verdict, or no transcript, diff and check output"
        limit = manifest.config.max_tokens
        if limit is not None and (row.usage.total or 0) > limit:
            yield f"no fault, and {row.usage.total} tokens used where {limit} are allowed"
    elif row.fault.status in VERDICTS:
        yield f"its fault has the status {row.fault.status!r}, which is a verdict"
    elif row.fault.status == "skipped" and (blobs or row.planted or row.agent_exit_status is not None):
        yield "skipped, and yet it ran"
    if row.echoed_ids and not {planted.id for planted in row.planted}.issuperset(row.echoed_ids):
        yield "it echoed what was not planted"


def _difference(record: TrialRecord, line: bytes) -> str:
    try:
        found = TrialRecord.model_validate_json(line)
    except ValidationError as error:
        return first_error(error)
    fields = [name for name in TrialRecord.model_fields if getattr(found, name) != getattr(record, name)]
    if not fields:
        return "not in the form in which it is written"
    return f"{record.case}: {', '.join(fields)} does not follow from the evidence"


def _check_plan(manifest: Manifest, records: Sequence[TrialRecord], *, complete: bool) -> Check:
    size = plan_size(manifest)
    if size > MOST_TRIALS:
        return Check("coverage", False, f"{len(records)} of {size} planned trials; no run has so many")
    planned = {case.id: case for case in planned_cases(manifest)}
    wrong: list[str] = []
    seen: set[str] = set()
    for record in records:
        case = planned.get(record.case)
        if case is None:
            wrong.append(f"{record.case}: not in the plan")
        elif (record.task_id, record.condition, record.trial, record.order) != (
            case.task_id,
            case.condition,
            case.trial,
            case.order,
        ):
            wrong.append(f"{record.case}: its task, condition, trial or order is not the plan's")
        if record.case in seen:
            wrong.append(f"{record.case}: twice")
        seen.add(record.case)
    if complete:
        wrong += [f"{case}: missing" for case in sorted(planned.keys() - seen)]
    return judge("coverage", wrong, f"{len(seen)} of {len(planned)} planned trials, none twice")
