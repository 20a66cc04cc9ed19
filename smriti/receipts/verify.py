"""Recompute a receipt from its own evidence, and say what held, what did not and what could not be looked at."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from smriti.errors import ReceiptError
from smriti.receipts.writer import EVIDENCE, SCORES, SUMMARY, first_error, read_manifest, seal_files
from smriti.score import bench_flags, bench_scores, coverage, planned_cases, score_trial
from smriti.types import Manifest, Summary, TrialEvidence, TrialRecord

State = Literal["verified", "refused", "interrupted"]

RowT = TypeVar("RowT", bound=BaseModel)

_SHOWN = 5
"""Findings of one kind that are named one by one."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the verdict; `ok` is None where the receipt alone cannot tell."""

    name: str
    ok: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a receipt is consistent with itself. Says nothing of who made it, or of whether its evidence is true."""

    directory: Path
    state: State
    evidence_class: str | None
    checks: tuple[Check, ...]


def verify(directory: Path) -> Verdict:
    """Check the receipt in `directory` as far as it can be read. Raises nothing on a bad receipt: the verdict says what is bad."""
    try:
        manifest = read_manifest(directory)
    except ReceiptError as error:
        return Verdict(directory, "refused", None, (Check("manifest", False, str(error)),))
    checks = list(_checks(directory, manifest))
    if any(check.ok is False for check in checks):
        state: State = "refused"
    else:
        state = "verified" if (directory / SUMMARY).exists() else "interrupted"
    return Verdict(directory, state, manifest.evidence_class, tuple(checks))


def _checks(directory: Path, manifest: Manifest) -> Iterator[Check]:
    yield Check("manifest", True, f"{manifest.suite} run {manifest.run_id}, {manifest.evidence_class}")
    sealed = (directory / SUMMARY).exists()
    evidence = _read_rows(directory / EVIDENCE, TrialEvidence, cut_allowed=not sealed)
    records = _read_rows(directory / SCORES, TrialRecord, cut_allowed=not sealed)
    for rows in (evidence, records):
        yield rows.check
    if evidence.check.ok and records.check.ok:
        yield _check_scored(evidence, records, surplus_allowed=not sealed)
        yield _check_identity(manifest, evidence.rows)
        yield _check_plan(manifest, records.rows, complete=sealed)
        yield _check_contents(directory, evidence.rows)
    if not sealed:
        yield Check("seal", None, f"no {SUMMARY}: the run was interrupted and supports no claim")
        return
    try:
        summary = Summary.model_validate_json((directory / SUMMARY).read_bytes())
    except ValidationError as error:
        yield Check("seal", False, f"{SUMMARY}: {first_error(error)}")
        return
    yield _check_files(directory, summary)
    if records.check.ok:
        yield _check_summary(manifest, records.rows, summary)
    yield Check(
        "tasks", None, f"the {len(manifest.tasks)} task folders named in the manifest are not part of a receipt"
    )


@dataclass(frozen=True, slots=True)
class _Rows(Generic[RowT]):
    lines: list[bytes]
    rows: list[RowT]
    check: Check


def _read_rows(path: Path, model: type[RowT], *, cut_allowed: bool) -> _Rows[RowT]:
    try:
        content = path.read_bytes()
    except OSError as error:
        return _Rows([], [], Check(path.name, False, f"cannot be read: {error.strerror}"))
    *lines, rest = content.split(b"\n")
    wrong = [] if cut_allowed or not rest else ["the last line is cut"]
    rows: list[RowT] = []
    for number, line in enumerate(lines, 1):
        try:
            row = model.model_validate_json(line)
        except ValidationError as error:
            wrong.append(f"line {number}: {first_error(error)}")
            continue
        if row.model_dump_json().encode() != line:
            wrong.append(f"line {number}: not in the form in which it is written")
        rows.append(row)
    return _Rows(lines, rows, _judge(path.name, wrong, f"{len(rows)} rows, each as its schema says"))


def _check_scored(evidence: _Rows[TrialEvidence], records: _Rows[TrialRecord], *, surplus_allowed: bool) -> Check:
    wrong: list[str] = []
    surplus = len(evidence.rows) - len(records.rows)
    if surplus and not (surplus_allowed and surplus == 1):
        wrong.append(f"{len(evidence.rows)} evidence lines and {len(records.rows)} score lines")
    for number, (line, row, record) in enumerate(zip(evidence.lines, evidence.rows, records.rows, strict=False), 1):
        scored = score_trial(row, hashlib.sha256(line).hexdigest())
        if scored != record:
            fields = [name for name in type(record).model_fields if getattr(scored, name) != getattr(record, name)]
            wrong.append(f"line {number} ({record.case}): {', '.join(fields)} does not follow from the evidence")
    return _judge("score lines", wrong, "each follows from the evidence line whose digest it carries")


def _check_identity(manifest: Manifest, rows: Sequence[TrialEvidence]) -> Check:
    tasks = {task.id: task for task in manifest.tasks}
    wrong: list[str] = []
    for row in rows:
        task = tasks.get(row.task_id)
        if task is None:
            wrong.append(f"{row.case}: task {row.task_id!r} is not in the manifest")
        elif (row.task_sha256, row.family, row.split) != (task.sha256, task.family, task.split):
            wrong.append(f"{row.case}: another task of that name than the manifest's")
        if row.run_id != manifest.run_id:
            wrong.append(f"{row.case}: of run {row.run_id!r}, not {manifest.run_id!r}")
    return _judge("identity", wrong, "every row is of this run and of the manifest's tasks")


def _check_plan(manifest: Manifest, records: Sequence[TrialRecord], *, complete: bool) -> Check:
    planned = {case.id: case for case in planned_cases(manifest)}
    wrong = (
        [] if manifest.planned == len(planned) else [f"planned says {manifest.planned}, the plan has {len(planned)}"]
    )
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
    missing = sorted(planned.keys() - seen)
    if complete:
        wrong += [f"{case}: missing" for case in missing]
    return _judge("coverage", wrong, f"{len(seen)} of {len(planned)} planned trials, none twice")


def _check_contents(directory: Path, rows: Sequence[TrialEvidence]) -> Check:
    wanted = {
        f"{kind}/{digest}.gz": digest
        for row in rows
        for kind, digest in (
            ("transcripts", row.transcript_sha256),
            ("diffs", row.diff_sha256),
            ("checks", row.check_output_sha256),
        )
        if digest is not None
    }
    wrong: list[str] = []
    for name, digest in sorted(wanted.items()):
        try:
            content = gzip.decompress((directory / name).read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            wrong.append(f"{name}: {error}")
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            wrong.append(f"{name}: does not hold what its name says")
    return _judge("contents", wrong, f"{len(wanted)} transcripts, diffs and check outputs hold what the evidence names")


def _check_files(directory: Path, summary: Summary) -> Check:
    found = seal_files(directory)
    wrong = [f"{name}: missing" for name in sorted(summary.files.keys() - found.keys())]
    wrong += [f"{name}: not in the seal" for name in sorted(found.keys() - summary.files.keys())]
    wrong += [
        f"{name}: sha256 or rows differ from the seal"
        for name in sorted(found.keys() & summary.files.keys())
        if found[name] != summary.files[name]
    ]
    return _judge("files", wrong, f"{len(found)} files, digests and rows as sealed")


def _check_summary(manifest: Manifest, records: Sequence[TrialRecord], summary: Summary) -> Check:
    scores = bench_scores(manifest, records)
    wrong: list[str] = []
    if summary.coverage != coverage(records, len(planned_cases(manifest))):
        wrong.append("coverage does not follow from the score lines")
    if len(scores) != len(summary.scores):
        wrong.append(f"{len(summary.scores)} figures, {len(scores)} follow from the score lines")
    wrong += [
        f"{stated.metric} {stated.condition} {stated.group}: {stated.value} stated, {scored.value} recomputed"
        for stated, scored in zip(summary.scores, scores, strict=False)
        if stated != scored
    ]
    if summary.flags != bench_flags(manifest, records, scores):
        wrong.append("flags do not follow from the score lines")
    if summary.evidence_class != manifest.evidence_class:
        wrong.append(f"class {summary.evidence_class!r}, the manifest says {manifest.evidence_class!r}")
    return _judge("figures", wrong, f"{len(scores)} figures recomputed bit for bit, intervals included")


def _judge(name: str, wrong: Sequence[str], right: str) -> Check:
    if not wrong:
        return Check(name, True, right)
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return Check(name, False, "; ".join(wrong[:_SHOWN]) + more)
