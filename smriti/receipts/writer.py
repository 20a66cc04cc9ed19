"""Write a receipt: manifest first, then a line an attempt in each of two files, the seal last; or take one up again."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import os
import stat
import threading
from collections.abc import Container, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from smriti.errors import ReceiptError
from smriti.protocols import EvidenceT, RecordT, Scoring
from smriti.receipts.fingerprint import differences
from smriti.receipts.redact import redact
from smriti.score import scoring_of
from smriti.types import BenchManifest, FileSeal, LifecycleManifest, Manifest, RetrievalManifest, Seam, Summary

MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY = (
    "manifest.json",
    "evidence.ndjson",
    "scores.ndjson",
    "seams.ndjson",
    "summary.json",
)
BlobKind = Literal["transcripts", "diffs", "checks"]
BLOB_KINDS: tuple[BlobKind, ...] = ("transcripts", "diffs", "checks")

RowT = TypeVar("RowT", bound=BaseModel)
ManifestT = TypeVar("ManifestT", bound=Manifest)

_MANIFEST: TypeAdapter[BenchManifest | RetrievalManifest | LifecycleManifest] = TypeAdapter(
    Annotated[BenchManifest | RetrievalManifest | LifecycleManifest, Field(discriminator="suite")]
)


class ReceiptWriter(Generic[ManifestT, EvidenceT, RecordT]):
    """An open receipt, locked against a second writer. `manifest` is the one on disk; `records` grows as cases end."""

    def __init__(self, directory: Path, manifest: ManifestT, records: list[RecordT], lock: int) -> None:
        self.directory = directory
        self.manifest = manifest
        self.records = records
        self._scoring: Scoring[EvidenceT, RecordT] = scoring_of(manifest)
        self._lock = lock
        self._evidence = (directory / EVIDENCE).open("ab", buffering=0)
        self._scores = (directory / SCORES).open("ab", buffering=0)
        self._blobs = threading.Lock()

    @classmethod
    def create(cls, directory: Path, manifest: ManifestT) -> ReceiptWriter[ManifestT, Any, Any]:
        """Start a receipt in `directory`; ReceiptError if it holds anything, or cannot be written."""
        with _disk(directory):
            directory.mkdir(parents=True, exist_ok=True)
            with _locked(directory) as lock:
                if any(directory.iterdir()):
                    raise ReceiptError(
                        f"{directory} exists and is not empty; a receipt is never written over another. "
                        "Give another --out, or --resume it if it is an interrupted run."
                    )
                write_new(directory / MANIFEST, stated(manifest))
                return ReceiptWriter(directory, manifest, [], lock)

    @classmethod
    def resume(cls, directory: Path, manifest: ManifestT) -> ReceiptWriter[ManifestT, Any, Any]:
        """Take up the interrupted run in `directory`, which must be the experiment that `manifest` describes.

        ReceiptError names every difference, or says that the run is finished, in use, not a receipt or not as it was
        written. A half-written last line is cut off, and so is evidence whose score line was not reached, with what
        only it names: those cases run again.
        """
        with _disk(directory):
            before = read_manifest(directory)
            with _locked(directory) as lock:
                if (directory / SUMMARY).exists():
                    raise ReceiptError(f"{directory} is finished (it has a {SUMMARY}); there is nothing to resume.")
                different = differences(before, manifest)
                if different:
                    raise ReceiptError(
                        f"{directory} was started with another configuration, and a mixed receipt supports nothing. "
                        "Different: " + "; ".join(different) + ". Start a new run, or restore what it was started with."
                    )
                if not isinstance(before, type(manifest)):  # no two kinds have the same fields
                    raise ReceiptError(f"{directory} is a receipt of suite {before.suite!r}, not {manifest.suite!r}")
                records = _mend(directory, before)
                seam = Seam(resumed=_now(), after_rows=len(records))
                with (directory / SEAMS).open("ab", buffering=0) as seams:
                    _append_lines(seams.fileno(), [seam.model_dump_json().encode()])
                return ReceiptWriter(directory, before, records, lock)

    def keep(self, kind: BlobKind, content: bytes) -> str:
        """Store `content`, secrets redacted, under the sha256 of what is stored; return that. Safe from any thread."""
        clean = redact(content)
        name = hashlib.sha256(clean).hexdigest()
        folder = self.directory / kind
        target = folder / f"{name}.gz"
        with _disk(self.directory), self._blobs:
            if not target.exists():
                folder.mkdir(exist_ok=True)
                write_new(target, gzip.compress(clean, compresslevel=6, mtime=0))
        return name

    def append(self, evidence: Sequence[EvidenceT]) -> list[RecordT]:
        """Write the attempts of one step: their evidence lines, then their score lines, on the disk when it returns."""
        lines = [row.model_dump_json().encode() for row in evidence]
        digests = [hashlib.sha256(line).hexdigest() for line in lines]
        records = [self._scoring.record(row, digest) for row, digest in zip(evidence, digests, strict=True)]
        with _disk(self.directory):
            _append_lines(self._evidence.fileno(), lines)
            _append_lines(self._scores.fileno(), [record.model_dump_json().encode() for record in records])
        self.records += records
        return records

    def seal(self) -> Summary:
        """Compute every figure from the records and write summary.json; ReceiptError if the plan is not covered."""
        missing = {case.id for case in self._scoring.plan()} - {record.case for record in self.records}
        if missing:
            raise ReceiptError(f"{self.directory}: {len(missing)} planned cases have no row, such as {min(missing)!r}")
        scores = self._scoring.scores(self.records)
        with _disk(self.directory):
            summary = Summary(
                coverage=self._scoring.coverage(self.records),
                scores=scores,
                flags=self._scoring.flags(self.records, scores),
                evidence_class=self.manifest.evidence_class,
                files=seal_files(self.directory),
                finished=max(_now(), self.manifest.started),  # a clock may have been set back meanwhile
            )
            write_new(self.directory / SUMMARY, stated(summary))
        return summary

    def close(self) -> None:
        """Let go of the receipt; another process may resume it."""
        self._evidence.close()
        self._scores.close()
        os.close(self._lock)


def file_names(directory: Path) -> list[str]:
    """Return the names of all files of a receipt but the seal itself, relative to `directory`, sorted."""
    files = (path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
    return sorted(name for name in files if name != SUMMARY)


def seal_files(directory: Path, own: Container[str] | None = None) -> dict[str, FileSeal]:
    """Digest every file of a receipt, or those that are its `own`, by name: a stray one may be of any size."""
    return {name: _sealed(directory / name) for name in file_names(directory) if own is None or name in own}


def _sealed(path: Path) -> FileSeal:
    total, rows = hashlib.sha256(), 0
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            total.update(block)
            rows += block.count(b"\n")
    return FileSeal(sha256=total.hexdigest(), rows=rows if path.name.endswith(".ndjson") else None)


def open_regular(path: Path) -> BinaryIO:
    """Open a file of a receipt; ReceiptError for what is none, such as a FIFO, which would never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise ReceiptError(f"{path}: not a regular file")
    return file


def read_file(path: Path) -> bytes:
    """Read a file of a receipt as a whole; ReceiptError for what is no regular file."""
    with open_regular(path) as file:
        return file.read()


def manifest_digest(manifest: Manifest) -> str:
    """Return the sha256 of manifest.json as it is written; each evidence line carries it."""
    return hashlib.sha256(stated(manifest)).hexdigest()


def stated(model: Manifest | Summary) -> bytes:
    """Return the one form in which manifest.json and summary.json are written."""
    return model.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def read_manifest(directory: Path) -> BenchManifest | RetrievalManifest | LifecycleManifest:
    """Read a receipt's manifest; ReceiptError if there is none or it is not one."""
    path = directory / MANIFEST
    try:
        return _MANIFEST.validate_json(read_file(path))
    except FileNotFoundError:
        raise ReceiptError(f"{directory} is not a receipt: it has no {MANIFEST}") from None
    except (NotADirectoryError, IsADirectoryError):
        raise ReceiptError(f"{directory} is not a receipt folder") from None
    except OSError as error:
        raise ReceiptError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        raise ReceiptError(f"{path}: not a manifest that this version reads: {first_error(error)}") from None


def first_error(error: ValidationError) -> str:
    """Say in one line what is wrong with a row, and how many more things are."""
    errors = error.errors(include_url=False)
    where = ".".join(str(part) for part in errors[0]["loc"]) or "the row"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{where}: {errors[0]['msg']}{more}"


def _mend(directory: Path, manifest: Manifest) -> list[Any]:
    """Cut off what an interrupt left half-written or unscored, and return the records that stand."""
    scoring = scoring_of(manifest)
    manifest_sha256 = manifest_digest(manifest)
    evidence = _whole_lines(directory / EVIDENCE, scoring.evidence_type)
    scores = _whole_lines(directory / SCORES, scoring.record_type)
    kept = min(len(evidence), len(scores))
    for number, ((line, row), (_, record)) in enumerate(zip(evidence, scores, strict=False), 1):
        if row.manifest_sha256 != manifest_sha256:
            raise ReceiptError(
                f"{directory / EVIDENCE} line {number} was written under another {MANIFEST}; restore that one to resume"
            )
        if scoring.record(row, hashlib.sha256(line).hexdigest()) != record:
            raise ReceiptError(
                f"{directory / SCORES} line {number} cannot be resumed from: it does not follow from its evidence line"
            )
    _cut(directory / EVIDENCE, evidence[:kept])
    _cut(directory / SCORES, scores[:kept])
    _cut(directory / SEAMS, _whole_lines(directory / SEAMS, Seam))
    known = {MANIFEST, EVIDENCE, SCORES, SEAMS, *BLOB_KINDS}
    strays = [p.name for p in sorted(directory.iterdir()) if p.name not in known and not p.name.endswith(".partial")]
    if strays:
        raise ReceiptError(
            f"{directory} holds {', '.join(strays[:5])}, which no receipt does and which `smriti verify` would refuse; "
            "take it away to resume"
        )
    named = {name for _, row in evidence[:kept] for name in row.blobs}
    blobs = [path for kind in BLOB_KINDS for path in (directory / kind).glob("*")]
    for path in [*directory.glob(".*.partial"), *blobs]:
        if path.relative_to(directory).as_posix() not in named:
            path.unlink()
    return [record for _, record in scores[:kept]]


def _whole_lines(path: Path, model: type[RowT]) -> list[tuple[bytes, RowT]]:
    if not path.exists():
        return []
    *lines, _rest = read_file(path).split(b"\n")
    rows: list[tuple[bytes, RowT]] = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append((line, model.model_validate_json(line)))
        except ValidationError as error:
            raise ReceiptError(f"{path} line {number} cannot be resumed from: {first_error(error)}") from None
    return rows


def _cut(path: Path, lines: list[tuple[bytes, RowT]]) -> None:
    if path.exists():
        with path.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line, _ in lines))
            os.fsync(file.fileno())


def _append_lines(descriptor: int, lines: Sequence[bytes]) -> None:
    rest = memoryview(b"".join(line + b"\n" for line in lines))
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def write_new(path: Path, content: bytes) -> None:
    """Put a whole file in its place at once: a crash may leave a `.partial` beside it, but no part under its name."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[int]:
    """Lock a receipt against a second writer, and let go of it again if it is not taken up after all."""
    lock = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReceiptError(
                f"{directory} is being written by another process; wait for its end, or give another --out"
            ) from None
        yield lock
    except BaseException:
        os.close(lock)
        raise


@contextlib.contextmanager
def _disk(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReceiptError(f"{directory}: cannot write the receipt: {error.strerror or error}") from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
