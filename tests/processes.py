"""What tests ask of processes: whether one is alive, and how many descriptors stand open."""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATH = "/usr/bin:/bin"
"""Where the system's own commands are."""

_PATIENCE_S = 20.0


def eventually(condition: Callable[[], object]) -> bool:
    """Wait until `condition` holds; False when it has not come to hold in a long time."""
    deadline = time.monotonic() + _PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that is dead and was not fetched by its parent yet does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
        except (FileNotFoundError, ProcessLookupError):
            return False
    stated = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return stated.strip()[:1] not in {"", "Z"}


def pid_in(file: Path) -> int:
    """Wait for a process to write its id and a line feed to `file`, and return it."""
    assert eventually(lambda: file.exists() and file.read_text().endswith("\n")), f"nothing wrote {file}"
    return int(file.read_text())


def open_descriptors() -> int:
    """Count this process's file descriptors."""
    gc.collect()
    return len(list(Path("/dev/fd").iterdir()))
