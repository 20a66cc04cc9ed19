"""An index of a LongMemEval file in the cache, so that a file that was validated once is not validated again."""

from __future__ import annotations

import hashlib
import inspect
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import orjson
import pydantic
from pydantic import ValidationError

from smriti.datasets import fields, longmemeval, rows
from smriti.datasets.lock import cache_folder
from smriti.datasets.longmemeval import FileState, Form, RowDocuments
from smriti.types import Corpus, DatasetReading, Question, Stored

_READER = (Path(__file__), *(Path(inspect.getfile(part)) for part in (longmemeval, rows, fields, Question, Stored)))
"""The code on which it depends what is read: an index that other code made is not used."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A reading, and how it came about."""

    reading: DatasetReading
    origin: Literal["index", "source"]
    """Whether the rows were taken from the index, or validated just now."""
    unkept: str | None = None
    """Why there is no index for the next run, in a sentence to be shown; None where there is one."""


def read(path: Path, sha256: str, state: FileState, form: Form = "session") -> Prepared:
    """Return what `longmemeval.read` returns, from the index of the cache where it holds the file with this digest.

    `state` is the file's from before its digest was taken, so that what was hashed is what is read. Where there is
    no index, or not a whole one made by this very code, the file is validated and the index made anew. UsageError as
    `longmemeval.read`, and for a file that is no longer in `state`; never for want of an index.
    """
    key = _Key(source_sha256=sha256, form=form, reader=_reader())
    kept = _file(key)
    if FileState.of(path) != state:
        raise longmemeval.changed(path)
    if (index := _found(kept, key)) is not None:
        return Prepared(_reading(index, path, state), "index")
    reading = longmemeval.read(path, form, state)
    return Prepared(reading, "source", _keep(kept, _index(key, reading)))


class _Key(Stored):
    """What an index is of."""

    source_sha256: str
    form: Form
    reader: str


class _Row(NamedTuple):
    """One row of the source: where it stands, and everything about its corpus but the documents."""

    offset: int
    length: int
    documents: int
    corpus_id: str
    question: Question


class _Index(Stored):
    """A reading without its documents."""

    key: _Key
    counts: dict[str, int]
    flags: tuple[str, ...]
    labels: dict[str, str]
    rows: tuple[_Row, ...]


def _reader() -> str:
    """Return the digest of the code that reads: its files, and the packages that say what is valid."""
    total = hashlib.sha256(f"orjson {orjson.__version__}\npydantic {pydantic.VERSION}\n".encode())
    for path in _READER:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _file(key: _Key) -> Path:
    """Name the file of an index. Other code writes to the same one, so that old indexes do not pile up."""
    return cache_folder() / "prepared" / f"longmemeval-{key.form}-{key.source_sha256}.json"


def _found(kept: Path, key: _Key) -> _Index | None:
    """Return the index of `key`; None where it is not there, is not whole or is of something else."""
    try:
        digest, _, content = kept.read_bytes().partition(b"\n") if kept.is_file() else (b"", b"", b"")
        if digest != _digest(content):
            return None
        index = _Index.model_validate_json(content)
    except (OSError, ValidationError):
        return None
    return index if index.key == key else None


def _reading(index: _Index, path: Path, state: FileState) -> DatasetReading:
    return DatasetReading(
        corpora=tuple(_corpus(row, path, state, index.key.form) for row in index.rows),
        counts=index.counts,
        flags=index.flags,
        labels=index.labels,
    )


def _corpus(row: _Row, path: Path, state: FileState, form: Form) -> Corpus:
    documents = RowDocuments(path, state, row.offset, row.length, row.documents, form)
    return Corpus(row.corpus_id, documents, (row.question,))


def _index(key: _Key, reading: DatasetReading) -> _Index:
    return _Index(
        key=key,
        counts=dict(reading.counts),
        flags=reading.flags,
        labels=dict(reading.labels),
        rows=tuple(_row(corpus) for corpus in reading.corpora),
    )


def _row(corpus: Corpus) -> _Row:
    documents, (question,) = corpus.documents, corpus.questions
    assert isinstance(documents, RowDocuments)
    return _Row(documents.offset, documents.length, len(documents), corpus.id, question)


def _keep(kept: Path, index: _Index) -> str | None:
    """Write an index and move it in place; where that fails, say why, and leave nothing half-written behind."""
    content = index.model_dump_json().encode()
    partial = kept.with_name(f".{kept.name}.{secrets.token_hex(8)}.partial")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(_digest(content) + b"\n" + content)
            partial.replace(kept)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        return (
            f"the prepared index {str(kept)!r} cannot be written: {error.strerror}; the next run validates the file "
            "again. Mend that, or name another cache folder with SMRITI_DATA_DIR"
        )
    return None


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
