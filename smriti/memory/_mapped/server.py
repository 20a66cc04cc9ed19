"""A server's process: its own group and environment, its last words, and an end that leaves nothing."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from smriti.memory._mapped import guard

MARK = "SMRITI_SERVER"
"""Stands in the environment of every server, with a value of its own, by which what it started is known."""

_KEPT_BYTES = 8_192
_SHOWN = 300
_GUARD_S = 0.5


class Server:
    """A running server; its standard input and output are the caller's to use."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._mark = secrets.token_hex(16)
        ours, theirs = socket.socketpair()
        with theirs:
            guarded = [
                sys.executable,
                "-I",
                "-S",
                guard.__file__,
                str(theirs.fileno()),
                f"{MARK}={self._mark}",
                *command,
            ]
            self._process = subprocess.Popen(
                guarded,
                cwd=cwd,
                env={**env, MARK: self._mark},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=[theirs.fileno()],
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._line = ours
        self._said = b""
        self._lock = threading.Lock()
        self.stdin: IO[bytes] = self._process.stdin
        self.stdout: IO[bytes] = self._process.stdout
        self._stderr = _Tail(self._process.stderr)

    @property
    def running(self) -> bool:
        """False once the server has ended or could not be started."""
        return self._ended() is None

    def why(self) -> str:
        """Say how the server stands, and the last line that it wrote to its standard error."""
        ended = self._ended()
        state = "the server is running" if ended is None else f"the server {ended}"
        last = self._stderr.last_line()
        return f"{state}; its standard error ends with {last!r}" if last else f"{state}, and wrote no error"

    def settled(self) -> None:
        """Give a server whose connection broke a moment to be seen dead, so that its error can say so."""
        self._wait(_GUARD_S)
        if not self.running:
            self._stderr.join()

    def drained(self, seen: Callable[[str], None] | None = None) -> None:
        """Read and throw away what it prints, so that it is never blocked by it; `seen` gets each line."""
        _Tail(self.stdout, seen)

    def stop(self, grace_s: float, *, reads_input: bool = True) -> None:
        """End the server: it may end by itself when the input that it reads closes, or on SIGTERM; then it is ended."""
        with contextlib.suppress(OSError, ValueError):
            self.stdin.close()
        if not self._wait(grace_s / 2 if reads_input else 0):
            self._signal(signal.SIGTERM)
            self._wait(grace_s / 2 if reads_input else grace_s)
        self.kill()

    def kill(self) -> None:
        """End everything at once."""
        self._signal(signal.SIGKILL)
        self._process.wait()
        guard.end_marked(f"{MARK}={self._mark}")
        self._stderr.join()
        with contextlib.suppress(OSError, ValueError):
            self.stdin.close()
        with self._lock:
            self._read_line()
            self._line.close()

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:  # else its number may be another's by now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _wait(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while self.running:
            if time.monotonic() >= deadline:
                return False
            select.select([self._line], [], [], max(0.0, deadline - time.monotonic()))
        return True

    def _ended(self) -> str | None:
        with self._lock:
            self._read_line()
            said = self._said
        if b"\n" not in said:
            return None if self._process.poll() is None else "was ended"
        message = json.loads(said)
        if "cannot_start" in message:
            return f"could not be started ({message['cannot_start']})"
        status = message["exit_status"]
        return f"ended with exit status {status}" if status >= 0 else f"was ended by signal {-status}"

    def _read_line(self) -> None:
        """Take what the guard has said; the lock is held."""
        if self._line.fileno() >= 0 and b"\n" not in self._said:
            with contextlib.suppress(BlockingIOError, OSError):
                self._said += self._line.recv(1_024, socket.MSG_DONTWAIT)


class _Tail:
    """Reads a stream to its end in a thread, and keeps its end."""

    def __init__(self, stream: IO[bytes], seen: Callable[[str], None] | None = None) -> None:
        self._stream = stream
        self._seen = seen
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def last_line(self) -> str:
        """Return the last line that says anything, cut."""
        lines = [line for line in self._kept.decode(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip()[:_SHOWN] if lines else ""

    def join(self) -> None:
        self._thread.join(_GUARD_S)

    def _read(self) -> None:
        with self._stream:
            while chunk := self._stream.readline(65_536):
                self._kept = (self._kept + chunk)[-_KEPT_BYTES:]
                if self._seen is not None:
                    self._seen(chunk.decode(errors="replace").rstrip("\n"))


def free_port() -> int:
    """Return a port of this machine's loopback that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
