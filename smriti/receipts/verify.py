"""Recompute a receipt from its own evidence, and say what held, what did not and what could not be looked at."""

from __future__ import annotations

import contextlib
import gc
import gzip
import hashlib
import re
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from smriti.errors import ReceiptError
from smriti.receipts.check import Check, is_time, judge
from smriti.receipts.lifecycle import LifecycleRules
from smriti.receipts.questions import QuestionRules
from smriti.receipts.rows import Rules, read_lines, read_rows
from smriti.receipts.trials import TrialRules
from smriti.receipts.writer import (
    EVIDENCE,
    MANIFEST,
    SCORES,
    SEAMS,
    SUMMARY,
    file_names,
    first_error,
    open_regular,
    read_file,
    read_manifest,
    seal_files,
    stated,
)
from smriti.score import scoring_of
from smriti.types import BenchManifest, FileSeal, LifecycleManifest, Manifest, RetrievalManifest, Seam, Summary

MOST_CONTENT_BYTES = 1 << 28
"""Of a transcript, a diff or a check's output."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
State = Literal["verified", "refused", "interrupted"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a receipt is consistent with itself. Says nothing of who made it, or of whether its evidence is true."""

    directory: Path
    state: State
    evidence_class: str | None
    resumed: int
    """How often the run was taken up again after an interrupt."""
    checks: tuple[Check, ...]


def verify(directory: Path) -> Verdict:
    """Check the receipt in `directory` as far as it can be read. Raises nothing on a bad one: the verdict says what is.

    Verified means consistent: each figure follows from the evidence, bit for bit, and nothing was changed since without
    computing anew all that follows from it. It does not say who made the receipt, or that its evidence is true: whoever
    changes the evidence and then writes everything else again has another consistent receipt, and only a signature can
    tell the two apart. The same goes for what the manifest says of code, packages, host and systems.
    """
    checks: list[Check] = []
    evidence_class, resumed, sealed = None, 0, False
    try:
        manifest = read_manifest(directory)
        evidence_class = manifest.evidence_class
        sealed = (directory / SUMMARY).exists()
        seams = read_lines(directory / SEAMS, sealed=sealed) if (directory / SEAMS).exists() else []
        resumed = len(seams)
        with _no_collection():
            checks += _checks(directory, manifest, _rules(manifest), seams, sealed=sealed)
    except ReceiptError as error:
        checks.append(Check("receipt", False, str(error)))
    except OSError as error:
        checks.append(Check("receipt", False, f"{error.filename}: cannot be read: {error.strerror}"))
    except MemoryError:
        checks.append(Check("receipt", False, "it is larger than the memory of this machine"))
    if any(check.ok is False for check in checks):
        state: State = "refused"
    else:
        state = "verified" if sealed else "interrupted"
    return Verdict(directory, state, evidence_class, resumed, tuple(checks))


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: rows make no cycles, and a search of 100,000 takes as long as checking them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _rules(manifest: BenchManifest | RetrievalManifest | LifecycleManifest) -> Rules:
    match manifest:
        case BenchManifest():
            return TrialRules(manifest)
        case RetrievalManifest():
            return QuestionRules(manifest)
        case LifecycleManifest():
            return LifecycleRules(manifest)


def _checks(
    directory: Path, manifest: Manifest, rules: Rules, seams: Sequence[bytes], *, sealed: bool
) -> Iterator[Check]:
    yield _check_manifest(manifest, rules, read_file(directory / MANIFEST))
    yield rules.evidence_class()
    rows = read_rows(directory, manifest, rules, sealed=sealed)
    yield from rows.checks
    own = {MANIFEST, EVIDENCE, SCORES, SEAMS, *rows.blobs}
    yield _check_contents(directory, rows.blobs, sorted(set(file_names(directory)) - own), exact=sealed)
    if seams:
        yield _check_seams(seams, len(rows.records))
    if not sealed:
        yield Check("seal", None, f"no {SUMMARY}: the run was interrupted and supports no claim")
        return
    content = read_file(directory / SUMMARY)
    try:
        summary = Summary.model_validate_json(content)
    except ValidationError as error:
        yield Check("seal", False, f"{SUMMARY}: {first_error(error)}")
        return
    yield _check_files(seal_files(directory, own), summary)
    if all(check.ok for check in rows.checks):
        yield _check_summary(manifest, rows.records, summary, content)
    yield rules.unchecked()


def _check_manifest(manifest: Manifest, rules: Rules, content: bytes) -> Check:
    wrong = list(rules.manifest_problems())
    if manifest.planned != rules.plan_size:
        wrong.append(f"planned says {manifest.planned}; what it names makes {rules.plan_size}")
    if manifest.code.commit is not None and not _COMMIT.fullmatch(manifest.code.commit):
        wrong.append(f"commit {manifest.code.commit!r} is no commit")
    if not is_time(manifest.started):
        wrong.append(f"started {manifest.started!r} is no time")
    texts = _texts(manifest.model_dump(mode="json"))
    if unseen := [text for text in texts if not text.replace("\n", "").replace("\t", "").isprintable()]:
        wrong.append(f"{unseen[0]!r:.200} holds what no terminal shows")
    if not manifest.sandbox:
        wrong.append("no sandbox level, be it none")
    if not _NAME.fullmatch(manifest.run_id) or manifest.jobs < 1:
        wrong.append(f"run {manifest.run_id!r}, {manifest.jobs} jobs: expected a plain name, and at least one")
    if content != stated(manifest):
        wrong.append("not in the form in which it is written")
    return judge("manifest", wrong, f"{manifest.suite} run {manifest.run_id}, {rules.plan_size} cases planned")


def _texts(value: object) -> Iterator[str]:
    """Yield every string of a value as JSON has it, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _check_contents(directory: Path, blobs: Mapping[str, str], strays: Sequence[str], *, exact: bool) -> Check:
    wrong: list[str] = []
    for name, digest in sorted(blobs.items()):
        try:
            if _digest_of_content(directory / name) != digest:
                wrong.append(f"{name}: does not hold what its name says")
        except (OSError, EOFError, zlib.error, ReceiptError) as error:
            wrong.append(f"{name}: {error}")
    if exact:
        wrong += [f"{name}: nothing in the receipt names it" for name in strays]
        wrong += _irregular(directory, {name.partition("/")[0] for name in blobs})
    right = f"{len(blobs)} files beside the rows hold what the evidence names"
    return judge("contents", wrong, right)


def _digest_of_content(path: Path) -> str:
    """Digest what a gzip file holds; ReceiptError for more than any run keeps, of which a few bytes can make a lot."""
    total, size = hashlib.sha256(), 0
    with open_regular(path) as file, gzip.open(file) as content:
        while block := content.read(1 << 20):
            size += len(block)
            if size > MOST_CONTENT_BYTES:
                raise ReceiptError(f"holds more than {MOST_CONTENT_BYTES:,} bytes")
            total.update(block)
    return total.hexdigest()


def _irregular(directory: Path, folders: set[str]) -> Iterator[str]:
    """Yield what stands in a receipt and is neither a file nor one of its folders."""
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) and not (stat.S_ISDIR(mode) and name in folders):
            yield f"{name}: a link, a special file or a folder that no receipt has"


def _check_seams(lines: Sequence[bytes], rows: int) -> Check:
    wrong: list[str] = []
    stood = 0
    for number, line in enumerate(lines, 1):
        try:
            seam = Seam.model_validate_json(line)
        except ValidationError as error:
            wrong.append(f"line {number}: {first_error(error)}")
            continue
        if seam.model_dump_json().encode() != line:
            wrong.append(f"line {number}: not in the form in which it is written")
        if not is_time(seam.resumed):
            wrong.append(f"line {number}: resumed {seam.resumed!r} is no time")
        if not stood <= seam.after_rows <= rows:
            wrong.append(f"line {number}: after {seam.after_rows} rows, expected {stood} to {rows}")
        stood = seam.after_rows
    return judge("resumed", wrong, f"{len(lines)} times, the last after {stood} of {rows} rows")


def _check_files(files: Mapping[str, FileSeal], summary: Summary) -> Check:
    wrong = [f"{name}: missing" for name in sorted(summary.files.keys() - files.keys())]
    wrong += [f"{name}: not in the seal" for name in sorted(files.keys() - summary.files.keys())]
    wrong += [
        f"{name}: sha256 or rows differ from the seal"
        for name in sorted(files.keys() & summary.files.keys())
        if files[name] != summary.files[name]
    ]
    return judge("files", wrong, f"{len(files)} files, digests and rows as sealed")


def _check_summary(manifest: Manifest, records: Sequence[Any], summary: Summary, content: bytes) -> Check:
    scoring = scoring_of(manifest)
    scores = scoring.scores(records)
    flags = scoring.flags(records, scores)
    covered = scoring.coverage(records)
    wrong: list[str] = []
    if summary.coverage != covered:
        wrong.append("coverage does not follow from the score lines")
    if len(scores) != len(summary.scores):
        wrong.append(f"{len(summary.scores)} figures, {len(scores)} follow from the score lines")
    wrong += [
        f"{found.metric} {found.condition} {found.group}: {found.value} stated, {score.value} recomputed"
        for found, score in zip(summary.scores, scores, strict=False)
        if found != score
    ]
    if summary.flags != flags:
        wrong.append("flags do not follow from the score lines")
    if summary.evidence_class != manifest.evidence_class:
        wrong.append(f"class {summary.evidence_class!r}, the manifest says {manifest.evidence_class!r}")
    if not is_time(summary.finished) or summary.finished < manifest.started:
        wrong.append(f"finished {summary.finished!r} is no time after {manifest.started!r}")
    # Equal is not yet the same bits (0.0 and -0.0), and what JSON repeats may mean another thing to another reader.
    same = summary.model_copy(update={"coverage": covered, "scores": scores, "flags": flags})
    if not wrong and stated(same) != content:
        wrong.append(f"{SUMMARY} is not in the form in which it is written")
    return judge("figures", wrong, f"{len(scores)} figures recomputed bit for bit, intervals included")
