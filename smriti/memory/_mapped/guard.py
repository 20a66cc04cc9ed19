"""Stands between smriti and a server: ends all of it when the server ends, or when smriti does. Python's library alone.

Run as `python -I -S guard.py DESCRIPTOR MARK COMMAND…`, first of its process group. The descriptor is a socket to
smriti, to which one line is sent when the server has ended; its other end is closed by whatever way smriti ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

_LOOKS = 200
_PAUSE_S = 0.01


def main(descriptor: str, mark: str, *command: str) -> None:
    """Run `command` with this process's own streams, and leave nothing of it."""
    line = socket.socket(fileno=int(descriptor))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(
            number, lambda *_: None
        )  # what is sent to the group is for the server, which gets its own default
    try:
        server = subprocess.Popen(command)
    except OSError as error:
        _say(line, {"cannot_start": f"{error.strerror}: {command[0]}"})
        return
    _let_go_of_streams()
    threading.Thread(target=_end_with, args=(line, mark), daemon=True).start()
    _say(line, {"exit_status": server.wait()})
    end_marked(mark, but=os.getpid())
    os.killpg(0, signal.SIGKILL)


def end_marked(mark: str, but: int = 0) -> None:
    """End every process whose environment carries `mark`, on Linux: also what left the group of its server.

    A process that is just being started has no environment to be seen for a moment: it is looked at again.
    """
    wanted = mark.encode()
    for _ in range(_LOOKS):
        again = False
        for entry in Path("/proc").glob("[0-9]*"):
            if int(entry.name) == but:
                continue
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes()
                if wanted in environment.split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    again = True  # what it has started meanwhile is not in this list
                elif not environment and not (entry / "cmdline").read_bytes():
                    again = bool((entry / "exe").readlink()) or again  # neither a thread of the kernel nor dead
        if not again:
            return
        time.sleep(_PAUSE_S)


def _end_with(line: socket.socket, mark: str) -> None:
    with contextlib.suppress(OSError):
        while line.recv(1):
            pass
    end_marked(mark, but=os.getpid())
    os.killpg(0, signal.SIGKILL)


def _let_go_of_streams() -> None:
    """Keep no end of the server's pipes: who reads or writes them sees the server's end as theirs."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _say(line: socket.socket, message: object) -> None:
    with contextlib.suppress(OSError):
        line.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
