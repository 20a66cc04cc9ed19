"""Signals that end a command: the first interrupts it, and later ones let it clean up."""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

EXIT_INTERRUPTED = 3

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATIENCE = 3
"""So many signals are borne; the next one ends the process as it stands."""


def listen() -> None:
    """Raise KeyboardInterrupt at the first SIGINT, SIGTERM, SIGHUP or SIGQUIT that is not ignored already.

    The second and the third are told that it is cleaning up. The fourth ends the process, cleaned up or not.
    """
    listener = _Listener()
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup's SIGHUP stays ignored
            signal.signal(number, listener.hear)


class _Listener:
    def __init__(self) -> None:
        self._heard = 0

    def hear(self, _signal: int, _frame: FrameType | None) -> None:
        self._heard += 1
        if self._heard == 1:
            raise KeyboardInterrupt
        if self._heard > _PATIENCE:
            os._exit(EXIT_INTERRUPTED)
        with contextlib.suppress(OSError):  # not through sys.stderr, which may be in the middle of a write
            os.write(2, b"smriti: interrupted, and still cleaning up\n")
