"""Check the rows of a receipt: each evidence line against the manifest, each score line against its evidence."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from smriti.errors import ReceiptError
from smriti.protocols import Scoring
from smriti.receipts.check import Check, judge
from smriti.receipts.writer import EVIDENCE, SCORES, first_error, manifest_digest, open_regular, read_file
from smriti.score import scoring_of
from smriti.types import Evidence, Manifest, Record

MOST_CASES = 10_000_000
"""A plan of more is not laid out: no run is so long, and a receipt must not exhaust the memory of its reader."""


class Rules(Protocol):
    """What a suite's receipts are held to beyond what every receipt is."""

    @property
    def plan_size(self) -> int:
        """How many cases the manifest makes."""

    @property
    def step_size(self) -> int:
        """How many cases one step can attempt: so much evidence may lack its score lines after an interrupt."""

    def manifest_problems(self) -> Iterator[str]:
        """Say where the manifest contradicts itself."""

    def evidence_class(self) -> Check:
        """Tell what kind of evidence it is, and refuse a class that the manifest itself contradicts."""

    def row_problems(self, row: Any) -> Iterator[str]:
        """Say what makes an evidence row one of another run, or one that no attempt can have left behind."""

    def place(self, case: Any) -> tuple[object, ...]:
        """Return what of a planned case its record repeats."""

    def unchecked(self) -> Check:
        """Say what the receipt alone cannot tell."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What the evidence of a receipt scores as, and what its lines name; empty as far as `checks` failed."""

    records: Sequence[Any]
    blobs: dict[str, str]
    """Name in the receipt → sha256 of the content."""
    checks: tuple[Check, ...]


def read_rows(directory: Path, manifest: Manifest, rules: Rules, *, sealed: bool) -> Rows:
    """Read the evidence once, score it again and compare the score lines with that, byte for byte.

    Before the seal, the last line of a file may be cut, and the evidence of the last step may lack its score lines.
    """
    try:
        lines = read_lines(directory / EVIDENCE, sealed=sealed)
        scores = read_lines(directory / SCORES, sealed=sealed)
    except ReceiptError as error:
        return Rows([], {}, (Check("rows", False, str(error)),))
    scoring = scoring_of(manifest)
    surplus = len(lines) - len(scores)
    allowed = 0 if sealed else rules.step_size
    unlike = [] if 0 <= surplus <= allowed else [f"{len(scores)} rows to {len(lines)} of {EVIDENCE}"]
    digest = manifest_digest(manifest)
    records: list[Record] = []
    blobs: dict[str, str] = {}
    broken: list[str] = []
    strange: list[str] = []
    # An evidence row is let go of once it is scored: a hundred thousand of them would take most of the time and memory.
    for number, line in enumerate(lines, 1):
        try:
            row: Evidence = scoring.evidence_type.model_validate_json(line)
        except ValidationError as error:
            broken.append(f"line {number}: {first_error(error)}")
            continue
        if row.model_dump_json().encode() != line:
            broken.append(f"line {number}: not in the form in which it is written")
        blobs |= row.blobs
        if row.run_id != manifest.run_id:
            strange.append(f"{row.case}: of run {row.run_id!r}, not {manifest.run_id!r}")
        if row.manifest_sha256 != digest:
            strange.append(f"{row.case}: written under another manifest")
        strange += [f"{row.case}: {why}" for why in rules.row_problems(row)]
        record: Record = scoring.record(row, hashlib.sha256(line).hexdigest())
        if number <= len(scores):
            if record.model_dump_json().encode() != scores[number - 1]:
                unlike.append(f"line {number}: {_difference(record, scores[number - 1])}")
            records.append(record)
    checks = (
        judge(EVIDENCE, broken, f"{len(lines)} rows, each as its schema says{_unfinished(directory, surplus)}"),
        judge(SCORES, unlike, f"{len(scores)} rows, each follows from the evidence line whose digest it carries"),
        judge("identity", strange, "every row is of this run and of what its manifest names, and can have come about"),
        _check_plan(scoring, rules, records, complete=sealed),
    )
    return Rows(records, blobs, checks)


def _unfinished(directory: Path, unscored: int) -> str:
    """Say what an interrupt left behind the last whole row, and of how many rows the scores were not reached."""
    cut = [name for name in (EVIDENCE, SCORES) if (path := directory / name).exists() and not _whole(path)]
    parts = [f"{unscored} of them not scored yet"] if unscored > 0 else []
    parts += [f"the last line of {' and '.join(cut)} is cut"] if cut else []
    return f" ({'; '.join(parts)}: --resume takes them away and runs these cases again)" if parts else ""


def _whole(path: Path) -> bool:
    with open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return size == 0 or file.read(1) == b"\n"


def read_lines(path: Path, *, sealed: bool) -> list[bytes]:
    """Return the whole lines of a file; ReceiptError where a sealed receipt lacks it, or some of its last line.

    Before the seal a cut line is left out, and a file that the run has not come to yet has none.
    """
    try:
        *lines, rest = read_file(path).split(b"\n")
    except FileNotFoundError:
        if sealed:
            raise ReceiptError(f"{path.name} is missing") from None
        return []
    if rest and sealed:
        raise ReceiptError(f"{path.name}: the last line is cut")
    return lines


def _difference(record: Record, line: bytes) -> str:
    try:
        found = type(record).model_validate_json(line)
    except ValidationError as error:
        return first_error(error)
    fields = [name for name in type(record).model_fields if getattr(found, name) != getattr(record, name)]
    if not fields:
        return "not in the form in which it is written"
    return f"{record.case}: {', '.join(fields)} does not follow from the evidence"


def _check_plan(scoring: Scoring[Any, Any], rules: Rules, records: Sequence[Record], *, complete: bool) -> Check:
    size = rules.plan_size
    if size > MOST_CASES:
        return Check("coverage", False, f"{len(records)} of {size} planned cases; no run has so many")
    planned = {case.id: case for case in scoring.plan()}
    wrong: list[str] = []
    seen: set[str] = set()
    for record in records:
        case = planned.get(record.case)
        if case is None:
            wrong.append(f"{record.case}: not in the plan")
        elif rules.place(record) != rules.place(case):
            wrong.append(f"{record.case}: its place in the plan is another")
        if record.case in seen:
            wrong.append(f"{record.case}: twice")
        seen.add(record.case)
    if complete:
        wrong += [f"{case}: missing" for case in sorted(planned.keys() - seen)]
    return judge("coverage", wrong, f"{len(seen)} of {len(planned)} planned cases, none twice")
