"""The pins of datasets.lock, and the files of the cache that they vouch for."""

from __future__ import annotations

import difflib
import hashlib
import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field

from smriti import resources
from smriti.datasets.rows import open_file
from smriti.errors import UsageError
from smriti.types import Stored

CACHE_VARIABLE = "SMRITI_DATA_DIR"

Progress = Callable[[int, int | None], None]
"""Called with how much is done, and of how much, as far as that is known: in bytes, or in rows where rows are made."""

_BLOCK_BYTES = 1 << 20


class Pin(Stored):
    """One external data set: which bytes are meant, and where they are."""

    name: str
    file: str
    """The name that the file has in the cache."""
    url: str
    revision: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int | None = None
    licence: str
    terms: str
    reported: bool = False
    """Bytes or digest are as others published them."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What a data file is: the pin that its bytes match, or None, and the bytes' digest and number."""

    name: str | None
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Verification:
    """How the cache stands to one pin; `found` is what is there, None where nothing is."""

    pin: Pin
    path: Path
    state: Literal["good", "absent", "altered"]
    found: Identity | None


@cache
def pins() -> dict[str, Pin]:
    """Read datasets.lock, from inside the package or beside it in a checkout: name → pin, in the order of the file."""
    path = resources.resource("datasets.lock")
    if not path.is_file():
        raise UsageError(
            f"no data sets: neither {resources.PACKAGE / path.name} is there, nor {path}; install smriti from a wheel"
        )
    return {name: Pin(name=name, **stated) for name, stated in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def pin_of(name: str) -> Pin:
    """Return the pin called `name`; UsageError for an unknown one, with the nearest."""
    known = pins()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"data set {name!r} is not known.{hint} Known are {', '.join(known)}")
    return known[name]


def cache_folder() -> Path:
    """Name the folder of the cache: $SMRITI_DATA_DIR, or `datasets` in the user's cache directory. Creates nothing."""
    stated = os.environ.get(CACHE_VARIABLE)
    return Path(stated) if stated else platformdirs.user_cache_path("smriti") / "datasets"


def cached(pin: Pin) -> Path:
    """Name the file of the cache that holds, or would hold, the data set."""
    return cache_folder() / pin.file


def locate(name: str) -> Path:
    """Return the cached file of a data set, which `identify` is still to check; UsageError where there is none."""
    pin = pin_of(name)
    path = cached(pin)
    if not path.is_file():
        raise UsageError(
            f"data set {name!r} is not in the cache: {str(path)!r} is not there. Run `smriti data fetch {name}`; "
            f"{import_hint(pin)}"
        )
    return path


def verify(name: str, progress: Progress | None = None) -> Verification:
    """Compare the cached file of a data set with its pin, byte for byte."""
    pin = pin_of(name)
    path = cached(pin)
    if not path.is_file():
        return Verification(pin, path, "absent", None)
    found = _identity(path, progress)
    return Verification(pin, path, "good" if found.sha256 == pin.sha256 else "altered", found)


def identify(path: Path, progress: Progress | None = None) -> Identity:
    """Say which pinned data set a file is, by its bytes alone.

    A file that no pin knows is named by its digest alone. UsageError where it bears the file name of a pin, or the
    pin's own, and is another file: that is an altered copy, whatever its contents.
    """
    found = _identity(path, progress)
    if found.name is None and (pin := namesake(path)) is not None:
        raise UsageError(
            f"data file {str(path)!r} bears the name of {pin.name} and is another file: {differing(pin, found)}"
            f". Run `smriti data fetch {pin.name}` for the pinned one, or give this one a name of its own"
        )
    return found


def namesake(path: Path) -> Pin | None:
    """Return the pin whose file name, or whose own, a file bears, whatever its contents."""
    return next((pin for pin in pins().values() if path.name == pin.file or path.stem == pin.name), None)


def matching(sha256: str) -> Pin | None:
    """Return the pin of the bytes with this digest."""
    return next((pin for pin in pins().values() if pin.sha256 == sha256), None)


def differing(pin: Pin, found: Identity) -> str:
    """Tell both digests, and both sizes where they are known."""
    expected = f"{pin.bytes:,} bytes, " if pin.bytes is not None else ""
    return f"found {found.bytes:,} bytes, sha256 {found.sha256}; expected {expected}sha256 {pin.sha256}"


def import_hint(pin: Pin) -> str:
    """Tell how the data set comes into the cache without a network."""
    return (
        f"without a network, bring the file of {pin.url} (sha256 {pin.sha256}) from elsewhere, by any name, and run "
        "`smriti data import PATH`"
    )


def _identity(path: Path, progress: Progress | None) -> Identity:
    digest, done = hashlib.sha256(), 0
    with open_file(path) as file:
        total = os.fstat(file.fileno()).st_size
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(done, total)
    pin = matching(digest.hexdigest())
    return Identity(pin.name if pin else None, digest.hexdigest(), done)
