"""Standard streams that a finished run survives: closed, full, or unable to say a character."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from smriti.errors import UsageError


def guard() -> None:
    """Put guarded streams in the place of the process's own stdout and stderr.

    Once one takes no more bytes, what is written to it later is dropped, so that a reader who left early changes
    nothing. A character that its encoding cannot say becomes a question mark. A stream that was closed from the start
    leads nowhere, and its number is given to no file that is opened later.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # It takes the lowest number that is free, which is this one; a process that is started has it, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is sys.__stdout__:
        sys.stdout = _guarded(sys.stdout, 1)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _guarded(sys.stderr, 2)


def printable(text: str) -> str:
    """Return a line in which whatever a terminal would not show, or would obey, is written out."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def finish() -> None:
    """Write out what is left; UsageError when stdout would not take it all, unless its reader had gone away."""
    sys.stderr.flush()
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Guarded) and raw.refused is not None and not isinstance(raw.refused, BrokenPipeError):
        raise UsageError(f"stdout: some of the output was lost: {raw.refused.strerror}; what was run is not")


class _Guarded(io.FileIO):
    """A descriptor to write to; after the first refusal it drops everything."""

    refused: OSError | None = None

    def write(self, content: Any, /) -> int:
        if self.refused is None:
            try:
                return super().write(content)
            except BlockingIOError:
                raise
            except OSError as error:
                self.refused = error
        return len(memoryview(content).cast("B"))


def _guarded(stream: TextIO | None, descriptor: int) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(_Guarded(descriptor, "w", closefd=False)),
        encoding=stream.encoding if stream else "utf-8",
        errors="replace",
        line_buffering=descriptor == 2 or os.isatty(descriptor),
    )
