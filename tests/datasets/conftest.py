"""A pin of a few bytes, with a cache of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from smriti.datasets import lock
from smriti.datasets.lock import Pin


@pytest.fixture
def content() -> bytes:
    return b"[{}]" * 1000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which is not there yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SMRITI_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def small_pin(cache: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> Pin:
    """The one pinned set, `small`."""
    del cache
    pin = Pin(
        name="small",
        file="small_v1.json",
        url="https://example.org/v1/small_v1.json",
        revision="v1",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        licence="none",
        terms="none",
    )
    known = {"small": pin}
    monkeypatch.setattr("smriti.datasets.lock.pins", lambda: known)
    assert lock.pin_of("small") is pin
    return pin


@pytest.fixture
def in_cache(cache: Path) -> Callable[[bytes], Path]:
    """Puts bytes where the cached file of `small` is."""

    def put(content: bytes) -> Path:
        cache.mkdir(exist_ok=True)
        path = cache / "small_v1.json"
        path.write_bytes(content)
        return path

    return put
