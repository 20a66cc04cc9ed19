"""Run a command: time limit, explicit environment, bounded output, and nothing left of it afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from smriti.types import Completed

MAX_OUTPUT_BYTES = 2_000_000
MARK = "SMRITI_RUN"
"""Stands in the environment of every command, with a value of its own, by which what it left behind is known."""

_CHUNK_BYTES = 65_536
_DRAIN_S = 1.0
_POLL_S = 0.05
_STRAYS_S = 5.0
_SET_CHILD_SUBREAPER = 36
"""Of prctl(2)."""

_running: set[subprocess.Popen[bytes]] = set()
_running_lock = threading.Lock()


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    stdin: bytes = b"",
    max_output_bytes: int = MAX_OUTPUT_BYTES,
) -> Completed:
    """Run `command` to its end or its time limit, then end every process that is left of it.

    On Linux that is its group, what left the group and kept its session or its environment, and what these started.
    Elsewhere it is its group alone, and what left the group lives on. Neither is a cage: on Linux, too, a process is
    out of reach that left the session, threw its environment away and outlived its parent.

    Output over `max_output_bytes` per stream is read and thrown away, so that the command is never blocked by it.
    `env` is the whole environment, but for MARK. Raises FileNotFoundError or PermissionError when the command cannot be
    started.
    """
    started = time.monotonic()
    mark = secrets.token_hex(16)
    with _start(command, cwd, {**env, MARK: mark}) as process:
        try:
            streams = _Streams(process, stdin, max_output_bytes)
            timed_out = not streams.pump_until_exit(started + timeout_s)
        finally:
            _end_group(process)
            _end_strays(process.pid, mark)
            with _running_lock:
                _running.discard(process)
                _adopt_orphans(wanted=bool(_running))
        streams.drain(time.monotonic() + _DRAIN_S)
    return Completed(
        exit_status=None if timed_out else process.returncode,
        stdout=bytes(streams.kept["stdout"]),
        stderr=bytes(streams.kept["stderr"]),
        seconds=time.monotonic() - started,
        timed_out=timed_out,
        truncated=streams.truncated,
    )


def end_all() -> None:
    """End every command that is running now, from any thread: for an interrupt."""
    with _running_lock:
        processes = list(_running)
    for process in processes:
        _kill_group(process)


def _start(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with _running_lock:  # held, so that `end_all` never misses a command that has begun
        _adopt_orphans(wanted=True)
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            _running.add(process)
        finally:
            _adopt_orphans(wanted=bool(_running))
    return process


def _adopt_orphans(*, wanted: bool) -> None:
    """On Linux, become the parent of every descendant that loses its own, instead of init; or be so no longer."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end_strays(session: int, mark: str) -> None:
    """End and reap what a command left outside its group, now that all of it has come to this process as orphans.

    Only what carries the command's own session or mark, or descends from it, is touched: other threads' commands and
    the servers of memory systems are children of this process too.
    """
    deadline = time.monotonic() + _STRAYS_S
    kin: set[int] = set()
    beyond: set[int] = set()
    while strays := [pid for pid in _children() if pid not in beyond and (pid in kin or _belongs(pid, session, mark))]:
        for pid in strays:
            kin.update(_descendants(pid))
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, PermissionError, ChildProcessError):
                beyond.add(pid)
        if time.monotonic() > deadline:
            return


def _children(pid: str | int = "self") -> Iterator[int]:
    """Yield the children of a process, whichever of its threads they are of; none where there is no /proc."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  # pathlib would double the time
    except OSError:
        return
    for thread in threads:
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _belongs(pid: int, session: int, mark: str) -> bool:
    """Tell whether a child of this process is left of a command; of a dead one only the session is known."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) > 3 and int(fields[3]) == session:
        return True
    return f"{MARK}={mark}".encode() in _read(f"/proc/{pid}/environ").split(b"\0")


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


class _Streams:
    """The three pipes of a process, moved by one selector loop."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, max_output_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin = memoryview(stdin)
        self._limit = max_output_bytes
        self._selector = selectors.DefaultSelector()
        self.kept = {"stdout": bytearray(), "stderr": bytearray()}
        self.truncated = False
        for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, name)
        os.set_blocking(process.stdin.fileno(), False)
        if stdin:
            self._selector.register(process.stdin, selectors.EVENT_WRITE, "stdin")
        else:
            process.stdin.close()

    def pump_until_exit(self, deadline: float) -> bool:
        """Move bytes until the process has ended; False when the deadline came first."""
        while self._process.poll() is None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            if self._selector.get_map():
                # A child may leave its pipes to a grandchild and end: look at the child itself now and then.
                self._move(min(left_s, _POLL_S))
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(left_s)
        return True

    def drain(self, deadline: float) -> None:
        """Take what is still in the pipes of a dead group."""
        while self._selector.get_map() and time.monotonic() < deadline:
            if not self._move(0.0):
                break
        self._selector.close()

    def _move(self, timeout_s: float) -> bool:
        events = self._selector.select(timeout_s)
        for key, _ in events:
            if key.data == "stdin":
                self._write()
            else:
                self._read(key.fd, key.data, key.fileobj)
        return bool(events)

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            self._stdin = self._stdin[os.write(pipe.fileno(), self._stdin[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._stdin = self._stdin[:0]
        if not self._stdin:
            self._selector.unregister(pipe)
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self, fd: int, name: str, pipe: object) -> None:
        try:
            chunk = os.read(fd, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self._selector.unregister(pipe)  # type: ignore[arg-type]  # the object that was registered
            return
        kept = self.kept[name]
        room = self._limit - len(kept)
        kept += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room
