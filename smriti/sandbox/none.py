"""A cage that is only a private directory and environment: no isolation from a hostile agent; the receipt says so."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from smriti import process
from smriti.types import Completed


@dataclass(frozen=True)
class PlainCage:
    """A private working directory, HOME and TMPDIR below one root, and an environment made from nothing."""

    workdir: Path
    env: Mapping[str, str]

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        max_output_bytes: int = process.MAX_OUTPUT_BYTES,
    ) -> Completed:
        merged = {**self.env, **env} if env else self.env
        program = str(self.workdir / command[0]) if os.sep in command[0] else command[0]
        found = shutil.which(program, path=merged["PATH"])
        if found is None:
            raise FileNotFoundError(f"command {command[0]!r} is not on the cage's PATH")
        return process.run(
            [found, *command[1:]],
            cwd=self.workdir,
            env=merged,
            timeout_s=timeout_s,
            stdin=stdin,
            max_output_bytes=max_output_bytes,
        )


def make_cage(root: Path, path: str) -> PlainCage:
    """Lay out `root`/repo, home and tmp, and give the cage that works there; `path` is its PATH."""
    workdir, home, tmp = cage_workdir(root), root / "home", root / "tmp"
    for directory in (workdir, home, tmp):
        directory.mkdir(parents=True)
    env = {
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(tmp),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_RUNTIME_DIR": str(tmp),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    return PlainCage(workdir, env)


def cage_workdir(root: Path) -> Path:
    """Return where commands work in a cage that `make_cage` laid out below `root`."""
    return root / "repo"


def command_path(commands: Sequence[str]) -> str:
    """Make a PATH that holds `commands` wherever the user has them, this Python as `python3`, and the system's folders.

    The interpreter is the base one, not the virtual environment that runs smriti: its packages are none of a check's
    business.
    """
    base = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable))).parent
    found = [shutil.which(command) for command in commands if command != "python3"]
    directories = [str(base), *(str(Path(command).absolute().parent) for command in found if command)]
    return os.pathsep.join(dict.fromkeys([*directories, "/usr/local/bin", "/usr/bin", "/bin"]))


def missing_commands(commands: Sequence[str]) -> list[str]:
    """Return those of `commands` that `command_path` cannot provide."""
    path = command_path(commands)
    return [command for command in commands if shutil.which(command, path=path) is None]
