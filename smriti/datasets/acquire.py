"""Bring a pinned data set into the cache, from its address or from a file: the pinned bytes and nothing else."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import httpx

from smriti.datasets.lock import (
    Identity,
    Pin,
    Progress,
    cache_folder,
    cached,
    differing,
    import_hint,
    matching,
    namesake,
    pin_of,
    verify,
)
from smriti.datasets.rows import open_file
from smriti.errors import UsageError

TIMEOUT = httpx.Timeout(60.0, connect=20.0)
_BLOCK_BYTES = 1 << 20


def fetch(name: str, progress: Progress | None = None, transport: httpx.BaseTransport | None = None) -> Path:
    """Download a data set into the cache, unless it is there already, and return its path.

    What an interrupted download left is taken up again. UsageError where the address cannot be reached, where another
    fetch is under way, and where size or digest are not the pin's: then nothing is left behind.
    """
    pin = pin_of(name)
    path = cached(pin)
    if verify(name).state == "good":
        return path
    with _part(pin) as (part, temporary):
        digest = _download(pin, part, progress, transport)
        found = Identity(None, digest, part.tell())
        if digest != pin.sha256 or (pin.bytes is not None and found.bytes != pin.bytes):
            temporary.unlink()
            raise UsageError(f"{pin.url} does not serve the pinned {name}: {differing(pin, found)}. Nothing was kept")
        _settle(part, temporary, path)
    return path


def import_file(path: Path, progress: Progress | None = None) -> Path:
    """Copy a file whose bytes are those of a pin into the cache, and return its path there.

    UsageError, with nothing left behind, for any other file; of one that bears a pin's name both digests are told.
    """
    temporary = _folder() / f".{secrets.token_hex(8)}.import"
    try:
        with open_file(path) as source, temporary.open("xb") as copy:
            digest, done = hashlib.sha256(), 0
            total = os.fstat(source.fileno()).st_size
            while block := source.read(_BLOCK_BYTES):
                digest.update(block)
                done += copy.write(block)
                if progress is not None:
                    progress(done, total)
            target = cached(_recognised(path, Identity(None, digest.hexdigest(), done)))
            _settle(copy, temporary, target)
    except OSError as error:
        raise _unwritable(temporary.parent, error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _recognised(path: Path, found: Identity) -> Pin:
    pin = matching(found.sha256)
    if pin is not None:
        return pin
    meant = namesake(path)
    if meant is not None:
        why = f"it bears the name of {meant.name}, and {differing(meant, found)}"
        then = "expected that very file: fetch or copy it again"
    else:
        why = f"found {found.bytes:,} bytes, sha256 {found.sha256}"
        then = "a file that no pin knows is used as it is, with --data FILE"
    raise UsageError(f"data file {str(path)!r} is none of the pinned data sets: {why}. Nothing was imported; {then}")


def _download(pin: Pin, part: BinaryIO, progress: Progress | None, transport: httpx.BaseTransport | None) -> str:
    """Bring `part` up to the whole file, and return the digest of all of it."""
    digest = hashlib.sha256()
    while block := part.read(_BLOCK_BYTES):
        digest.update(block)
    if part.tell() == pin.bytes:
        return digest.hexdigest()
    # Bytes are counted and hashed as they are stored, so they must come as they are stored.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={part.tell()}-"} if part.tell() else {})
    try:
        with (
            httpx.Client(transport=transport, timeout=TIMEOUT, follow_redirects=True) as client,
            client.stream("GET", pin.url, headers=headers) as response,
        ):
            if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                return digest.hexdigest()
            response.raise_for_status()
            if response.status_code != httpx.codes.PARTIAL_CONTENT:
                part.seek(0)
                part.truncate()
                digest = hashlib.sha256()
            total = pin.bytes
            if total is None and "Content-Length" in response.headers:
                total = part.tell() + int(response.headers["Content-Length"])
            for block in response.iter_bytes():  # as it arrives: what waits to be written is lost with the connection
                digest.update(block)
                part.write(block)
                if progress is not None:
                    progress(part.tell(), total)
                if pin.bytes is not None and part.tell() > pin.bytes:
                    break
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ImportError, ValueError) as error:  # of a proxy, the last two
        kept = f"; {part.tell():,} bytes are kept, and the same command goes on from there" if part.tell() else ""
        raise UsageError(
            f"data set {pin.name!r} cannot be fetched from {pin.url}: {_told(error)}{kept}. Expected {_size(pin)} with "
            f"sha256 {pin.sha256}. Try again, or {import_hint(pin)}"
        ) from error
    return digest.hexdigest()


@contextlib.contextmanager
def _part(pin: Pin) -> Iterator[tuple[BinaryIO, Path]]:
    """Open what an earlier fetch left, or an empty file, and keep other fetches of the same set off it."""
    # Named by the digest, so that what an earlier pin left is not taken up.
    path = _folder() / f".{pin.file}.{pin.sha256[:12]}.part"
    try:
        # By this name alone: a link to another file would be written through.
        opened = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666), "a+b")
    except OSError as error:
        raise _unwritable(path.parent, error) from error
    with opened as part:
        try:
            fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"data set {pin.name!r} is being fetched already: {str(path)!r} is locked. Wait for that command to end"
            ) from error
        part.seek(0)
        try:
            yield part, path
        finally:
            part.flush()
            if os.fstat(part.fileno()).st_size == 0:
                path.unlink(missing_ok=True)


def _settle(file: BinaryIO, temporary: Path, path: Path) -> None:
    """Move a finished file in place: whoever sees it there sees all of it."""
    file.flush()
    os.fsync(file.fileno())
    temporary.replace(path)


def _folder() -> Path:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cache folder {str(folder)!r} cannot be made: {error.strerror}. Name another with SMRITI_DATA_DIR"
        ) from error
    return folder


def _unwritable(folder: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cache folder {str(folder)!r} cannot be written to: {error.strerror}. Name another with SMRITI_DATA_DIR"
    )


def _told(error: Exception) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"the server answered {error.response.status_code} {error.response.reason_phrase}"
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _size(pin: Pin) -> str:
    return f"{pin.bytes:,} bytes" if pin.bytes is not None else "a file"
