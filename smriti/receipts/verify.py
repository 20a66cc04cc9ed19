"""Recompute a receipt from its own evidence, and say what held, what did not and what could not be looked at."""

from __future__ import annotations

import contextlib
import gc
import gzip
import hashlib
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from smriti.errors import ReceiptError
from smriti.receipts.check import Check, is_time, judge
from smriti.receipts.trials import Trials, plan_size, read_lines, read_trials
from smriti.receipts.writer import (
    EVIDENCE,
    MANIFEST,
    SCORES,
    SEAMS,
    SUMMARY,
    first_error,
    read_manifest,
    seal_files,
    stated,
)
from smriti.score import bench_flags, bench_scores, coverage
from smriti.types import FileSeal, Manifest, Seam, Summary, TrialRecord

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
            checks += _checks(directory, manifest, seams, sealed=sealed)
    except ReceiptError as error:
        checks.append(Check("receipt", False, str(error)))
    except OSError as error:
        checks.append(Check("receipt", False, f"{error.filename}: cannot be read: {error.strerror}"))
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


def _checks(directory: Path, manifest: Manifest, seams: Sequence[bytes], *, sealed: bool) -> Iterator[Check]:
    yield _check_manifest(manifest, (directory / MANIFEST).read_bytes())
    yield _check_class(manifest)
    trials = read_trials(directory, manifest, sealed=sealed)
    yield from trials.checks
    files = seal_files(directory)
    yield _check_contents(directory, trials, files, exact=sealed)
    if seams:
        yield _check_seams(seams, len(trials.records))
    if not sealed:
        yield Check("seal", None, f"no {SUMMARY}: the run was interrupted and supports no claim")
        return
    content = (directory / SUMMARY).read_bytes()
    try:
        summary = Summary.model_validate_json(content)
    except ValidationError as error:
        yield Check("seal", False, f"{SUMMARY}: {first_error(error)}")
        return
    yield _check_files(files, summary)
    if all(check.ok for check in trials.checks):
        yield _check_summary(manifest, trials.records, summary, content)
    count = len(manifest.tasks)
    yield Check("tasks", None, f"the {count} task folders named in the manifest are not part of a receipt")


def _check_manifest(manifest: Manifest, content: bytes) -> Check:
    tasks = [task.id for task in manifest.tasks]
    size = plan_size(manifest)
    wrong = [f"{name} twice" for names in (tasks, manifest.config.conditions) for name in _repeated(names)]
    if manifest.planned != size:
        wrong.append(f"planned says {manifest.planned}; its tasks, conditions and trials make {size}")
    if manifest.seed != manifest.config.seed:
        wrong.append(f"seed {manifest.seed}, and {manifest.config.seed} in its config")
    if not is_time(manifest.started):
        wrong.append(f"started {manifest.started!r} is no time")
    if content != stated(manifest):
        wrong.append("not in the form in which it is written")
    return judge("manifest", wrong, f"{manifest.suite} run {manifest.run_id}, {size} trials planned")


def _check_class(manifest: Manifest) -> Check:
    """Tell what kind of evidence it is, and refuse a class that the manifest itself contradicts."""
    code, chosen, of = manifest.code, manifest.selection.get("selected"), manifest.selection.get("of")
    match manifest.evidence_class:
        case "rehearsal":
            wrong = [] if manifest.scripted else ["rehearsal, and its agent is not said to be scripted"]
            return judge("class", wrong, "rehearsal: a script was the agent; no figure is one of a memory system")
        case _ if manifest.scripted:
            return Check("class", False, f"{manifest.evidence_class}, and its agent is scripted: that is a rehearsal")
        case "development":
            return Check("class", True, "development: a selection, a limit or uncommitted code; it supports no claim")
        case "component":
            return Check("class", False, f"component: {manifest.suite} puts no retrieval component under test")
    wrong = []
    if code.commit is None or code.dirty is not False:
        wrong.append(f"measured needs clean code of a known commit, found {code.commit!r}, dirty {code.dirty!r}")
    if not chosen == of == len(manifest.tasks):
        wrong.append(f"measured needs the whole corpus, found {chosen!r} of {of!r} and {len(manifest.tasks)} tasks")
    return judge("class", wrong, f"measured: the whole corpus, by the code of commit {code.commit}")


def _check_contents(directory: Path, trials: Trials, files: Mapping[str, FileSeal], *, exact: bool) -> Check:
    wrong: list[str] = []
    for name, digest in sorted(trials.blobs.items()):
        try:
            content = gzip.decompress((directory / name).read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            wrong.append(f"{name}: {error}")
            continue
        if hashlib.sha256(content).hexdigest() != digest:
            wrong.append(f"{name}: does not hold what its name says")
    if exact:
        named = {MANIFEST, EVIDENCE, SCORES, SEAMS, *trials.blobs}
        wrong += [f"{name}: nothing in the receipt names it" for name in sorted(files.keys() - named)]
        wrong += _irregular(directory, {name.partition("/")[0] for name in trials.blobs})
    right = f"{len(trials.blobs)} transcripts, diffs and check outputs hold what the evidence names"
    return judge("contents", wrong, right)


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


def _check_summary(manifest: Manifest, records: Sequence[TrialRecord], summary: Summary, content: bytes) -> Check:
    scores = bench_scores(manifest, records)
    flags = bench_flags(manifest, records, scores)
    covered = coverage(records, manifest.planned)
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


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
