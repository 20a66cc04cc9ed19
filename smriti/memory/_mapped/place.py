"""Where a store of a mapped system lives, and what its templates are filled with."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smriti.errors import MemorySystemError
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.mapping import Interface
from smriti.memory._mapped.server import free_port
from smriti.process import run

SYSTEMS = "SMRITI_SYSTEMS"
"""Names the folder that holds a prefix for each installed system."""

_SHOWN = 300


def prefix(name: str) -> Path:
    """Return where the system of this name is installed, or would be."""
    import platformdirs  # noqa: PLC0415

    root = os.environ.get(SYSTEMS) or platformdirs.user_data_path("smriti") / "systems"
    return Path(root).absolute() / name


@dataclass(frozen=True)
class Place:
    """The folders of one opened store, and the environment of its server."""

    where: str
    interface: Interface
    root: Path
    prefix: Path
    port: int | None

    @classmethod
    def of(cls, where: str, name: str, interface: Interface, workspace: Path) -> Place:
        """Lay out the folders below `workspace`: state, home and tmp."""
        root = workspace.absolute() / name
        for part in ("state", "home", "tmp"):
            (root / part).mkdir(parents=True, exist_ok=True)
        needs_port = "{port}" in interface.model_dump_json()
        return cls(where, interface, root, prefix(name), free_port() if needs_port else None)

    @property
    def values(self) -> Mapping[str, Any]:
        """What every template may hold; {workspace} is the folder that the system writes into."""
        return {
            "workspace": str(self.root / "state"),
            "home": str(self.root / "home"),
            "prefix": str(self.prefix),
            "port": None if self.port is None else str(self.port),
            "python": sys.executable,
        }

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of the server: nothing of the user's but the PATH."""
        path = [
            str(self.prefix / "bin"),
            str(self.prefix / "node_modules" / ".bin"),
            os.environ.get("PATH", os.defpath),
        ]
        own: dict[str, str] = filled(self.interface.env, self.values)
        return {
            "PATH": os.pathsep.join(path),
            "HOME": self.values["home"],
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            **own,
        }

    @property
    def cwd(self) -> Path:
        return Path(filled(self.interface.cwd, self.values))

    def copy_in(self, replica: Path) -> None:
        """Make the state a copy of the folder `replica`; MemorySystemError where there is one already."""
        state = Path(self.values["workspace"])
        if any(state.iterdir()):
            raise MemorySystemError(
                f"{self.where}: there is a state already in {str(state)!r}, expected a fresh workspace"
            )
        try:
            shutil.copytree(replica, state, dirs_exist_ok=True, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise MemorySystemError(f"{self.where}: the replica {str(replica)!r} cannot be copied: {error}") from error

    def command(self) -> list[str]:
        """Return the server's command with its program found; MemorySystemError where it is not installed."""
        return self._located(filled(self.interface.command, self.values))

    def prepare(self) -> None:
        """Run what has to be run once in a new workspace; MemorySystemError with the last line of what it said."""
        for template in self.interface.before:
            command = self._located(filled(template, self.values))
            done = run(command, cwd=self.cwd, env=self.env, timeout_s=self.interface.start_s)
            if done.exit_status != 0:
                said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
                ended = "its time limit" if done.timed_out else f"exit status {done.exit_status}"
                last = said[-1][:_SHOWN] if said else "nothing"
                raise MemorySystemError(f"{self.where}: {command[0]!r}, which prepares it, ended with {ended}: {last}")

    def _located(self, command: list[str]) -> list[str]:
        found = shutil.which(command[0], path=self.env["PATH"])
        missing = next(
            (word for word in command if word.startswith(f"{self.prefix}{os.sep}") and not Path(word).exists()), None
        )
        if found is None or missing is not None:
            raise MemorySystemError(
                f"{self.where}: {missing or command[0]!r} is not there, expected the system to be installed in "
                f"{str(self.prefix)!r}; install it with `nox -s build`, or name the folder of its prefix in {SYSTEMS}"
            )
        return [found, *command[1:]]
