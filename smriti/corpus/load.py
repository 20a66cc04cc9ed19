"""Find, load and select tasks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from smriti.corpus.shape import DESCRIPTION, SHAPE_RULES, read_folder
from smriti.errors import UsageError
from smriti.sandbox.filetree import IGNORED_NAMES
from smriti.types import TaskFolder

_PACKAGE = Path(__file__).resolve().parent.parent
SPLITS = ("visible", "holdout", "all")


def tasks_root() -> Path:
    """Return the folder of the tasks that came with smriti: inside the package, or beside it in a checkout."""
    packaged, beside = _PACKAGE / "tasks", _PACKAGE.parent / "tasks"
    if packaged.is_dir():
        return packaged
    if (_PACKAGE.parent / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise UsageError(
        f"no tasks: neither {packaged} is there, nor {beside} beside a pyproject.toml; "
        "install smriti from a wheel, or name the folder of the tasks"
    )


def task_folders(root: Path) -> list[Path]:
    """Return every folder below `root`, by name; each of them is expected to be a task. UsageError if there is none."""
    if not root.is_dir():
        raise UsageError(f"tasks folder {str(root)!r} is not there; expected a folder that holds one folder a task")
    found = sorted(
        entry
        for entry in root.iterdir()
        if entry.is_dir() and entry.name not in IGNORED_NAMES and not entry.name.startswith(".")
    )
    if not found:
        raise UsageError(f"tasks folder {str(root)!r} holds no task; expected one folder a task")
    return found


def load_task(folder: Path) -> TaskFolder:
    """Read a task and all of its parts; UsageError, with everything that was found, where its shape is not a task's."""
    if not folder.is_dir():
        raise UsageError(f"task {str(folder)!r} is not there; expected a folder with {DESCRIPTION}")
    reading = read_folder(folder.absolute())
    findings = [finding for rule in SHAPE_RULES.values() for finding in rule(reading)]
    task = reading.task
    if findings or task is None:
        told = "; ".join(f"{finding.file or 'folder'}: {finding.message}" for finding in findings)
        raise UsageError(f"task {str(folder)!r} cannot be used: {told}. tasks/README.md says what a task holds")
    if task.task.id != task.folder.name:
        raise UsageError(f"task {str(folder)!r} has the id {task.task.id!r}; expected the folder's name")
    return task


def load_corpus(root: Path | None = None) -> list[TaskFolder]:
    """Load every task below `root` (by default those that came with smriti), by id; UsageError at the first bad one."""
    return [load_task(folder) for folder in task_folders(tasks_root() if root is None else root)]


def select(corpus: Sequence[TaskFolder], ids: Iterable[str] = (), split: str = "all") -> list[TaskFolder]:
    """Return the tasks named by `ids` (all, if none is named) that are of `split`, in the corpus's order.

    UsageError for an unknown id or split, for a named task of another split, and when nothing is left.
    """
    if split not in SPLITS:
        raise UsageError(f"split {split!r} is not one of {', '.join(SPLITS)}{_did_you_mean(split, SPLITS)}")
    wanted, known = set(ids), {task.task.id: task for task in corpus}
    for unknown in sorted(wanted - known.keys()):
        choices = ", ".join(sorted(known))
        raise UsageError(f"no task {unknown!r}{_did_you_mean(unknown, known)}; the tasks are {choices}")
    for name in sorted(wanted):
        if split not in (known[name].task.split, "all"):
            raise UsageError(f"task {name!r} is of split {known[name].task.split!r}, but {split!r} was asked for")
    selected = [task for task in corpus if (not wanted or task.task.id in wanted) and split in (task.task.split, "all")]
    if not selected:
        raise UsageError(f"no task is of split {split!r}; there are {len(corpus)} tasks in all")
    return selected


def _did_you_mean(given: str, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(given, list(choices), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
