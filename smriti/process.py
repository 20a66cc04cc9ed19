"""Run a command: time limit, explicit environment, own process group, bounded output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from smriti.types import Completed

MAX_OUTPUT_BYTES = 2_000_000
_CHUNK_BYTES = 65_536
_DRAIN_S = 1.0
_POLL_S = 0.05

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
    """Run `command` to its end or its time limit, then end every process left in its group.

    Output over `max_output_bytes` per stream is read and thrown away, so that the command is never blocked by it.
    `env` is the whole environment. Raises FileNotFoundError or PermissionError when the command cannot be started.
    """
    started = time.monotonic()
    with _start(command, cwd, env) as process:
        try:
            streams = _Streams(process, stdin, max_output_bytes)
            timed_out = not streams.pump_until_exit(started + timeout_s)
        finally:
            _end_group(process)
            with _running_lock:
                _running.discard(process)
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
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _running.add(process)
    return process


def _end_group(process: subprocess.Popen[bytes]) -> None:
    _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


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
