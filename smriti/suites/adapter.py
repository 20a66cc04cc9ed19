"""What is asked of a memory system under test that may do, raise and give anything: a folder, and words for it."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from smriti.errors import MemorySystemError, UsageError
from smriti.receipts.redact import redact_secrets

_LONGEST_SHOWN = 300


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """Make a folder for a store, and take it away again as far as that can be done."""
    folder = tempfile.mkdtemp(prefix="smriti-store-")
    try:
        yield Path(folder)
    finally:
        with contextlib.suppress(RecursionError):  # of folders within folders
            shutil.rmtree(folder, ignore_errors=True)


def told(error: BaseException, *spoken: type[BaseException]) -> str:
    """Say what was raised, whatever its class makes of being asked: the project's own, and `spoken`, in their words."""
    said = "an exception that cannot be told"
    with contextlib.suppress(BaseException):
        name = type.__dict__["__name__"].__get__(type(error))
        said = f"{name}: (its text cannot be had)"
        text = str.__str__(str(error))
        said = text if text and isinstance(error, (MemorySystemError, UsageError, *spoken)) else f"{name}: {text}"
    return said


def shown(value: object) -> str:
    """Return the beginning of what stands for `value`; half a secret would be one that nothing can redact."""
    return redact_secrets(repr(value))[:_LONGEST_SHOWN]
