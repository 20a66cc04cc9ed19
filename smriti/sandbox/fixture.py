"""Lay a task's fixture into a working directory, with its git history where it has one."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from smriti import process
from smriti.errors import SmritiError
from smriti.sandbox.filetree import lay
from smriti.sandbox.none import command_path
from smriti.types import TaskFolder

_GIT_TIMEOUT_S = 30.0


class Fixtures:
    """Materializes fixtures; a history is imported once for each task and copied from then on. Safe from any thread."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._lock = threading.Lock()

    def materialize(self, task: TaskFolder, workdir: Path) -> None:
        """Lay the fixture into `workdir`, which exists and is empty. OSError when the disk refuses."""
        lay(task.fixture, workdir)
        if task.history is not None:
            shutil.copytree(self._git_dir(task, task.history), workdir / ".git")

    def _git_dir(self, task: TaskFolder, history: bytes) -> Path:
        template = self._cache / task.sha256
        with self._lock:
            if not template.exists():
                partial = template.with_suffix(".partial")
                shutil.rmtree(partial, ignore_errors=True)
                import_history(task, history, partial)
                partial.rename(template)
        return template / ".git"


def import_history(task: TaskFolder, history: bytes, repository: Path) -> None:
    """Make a git repository at `repository` whose branch `main` is the tip of `history`, checked out and clean."""
    repository.mkdir(parents=True)
    _git(task, repository, b"", "init", "--quiet", "--template=", "--initial-branch=main")
    _git(task, repository, history, "fast-import", "--quiet")
    _git(task, repository, b"", "reset", "--quiet", "--hard", "main")


def _git(task: TaskFolder, repository: Path, stdin: bytes, *arguments: str) -> None:
    env = {"PATH": command_path(["git"]), "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    done = process.run(["git", *arguments], cwd=repository, env=env, timeout_s=_GIT_TIMEOUT_S, stdin=stdin)
    if done.exit_status != 0:
        raise SmritiError(
            f"task {task.task.id}: git {arguments[0]} of history.fast-import ended with {done.exit_status}: "
            f"{done.stderr.decode(errors='replace').strip()}"
        )
