"""Ask every admission rule of every task, and list all problems at once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from smriti import process
from smriti.corpus.behaviour import BEHAVIOUR_RULES, observe
from smriti.corpus.history import read_history
from smriti.corpus.load import task_folders
from smriti.corpus.shape import SHAPE_RULES, Finding, Problem, Reading, read_folder
from smriti.corpus.static import STATIC_RULES, Candidate
from smriti.errors import UsageError
from smriti.sandbox.none import missing_commands

RULES: Mapping[str, Callable[[Any], Iterator[Finding]]] = {**SHAPE_RULES, **STATIC_RULES, **BEHAVIOUR_RULES}
"""Every rule by its name; the docstring states it."""

NEEDED_TO_ASK_MORE = frozenset({"schema", "parts"})
"""Rules without which no further one is asked: there is no task to ask about."""
NEEDED_TO_RUN = frozenset({"path", "deliverables", "requires"})
"""Rules without which nothing is run: it would be unsafe, or fail for a reason that is known already."""
NEEDS_GIT = frozenset({"history", "leak"})

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Rules that could not be asked here, because the task requires commands that this machine lacks."""

    task: str
    missing: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CorpusCheck:
    """What was asked of which tasks, and with what result; a task in `unchecked` is not known to be fine."""

    tasks: tuple[str, ...]
    problems: tuple[Problem, ...]
    unchecked: tuple[Unchecked, ...]


def check_corpus(root: Path, scratch: Path, jobs: int = 1) -> CorpusCheck:
    """Check every task below `root`, `jobs` at a time; UsageError where there is none."""
    return check_folders(task_folders(root), scratch, jobs)


def check_task(folder: Path, scratch: Path) -> CorpusCheck:
    """Check one task."""
    return check_folders([folder], scratch)


def check_folders(folders: Sequence[Path], scratch: Path, jobs: int = 1) -> CorpusCheck:
    """Check the tasks in `folders`, `jobs` at a time, each run in a fresh folder below `scratch` that is removed."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"task {str(folder)!r} is not there; expected a folder")
    scratch.mkdir(parents=True, exist_ok=True)
    readings = [read_folder(folder.absolute()) for folder in folders]
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        checks = list(pool.map(lambda reading: _check(reading, _namesakes(reading, readings), scratch), readings))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        process.end_all()
        raise
    finally:
        pool.shutdown()
    return CorpusCheck(
        tasks=tuple(task for check in checks for task in check.tasks),
        problems=tuple(problem for check in checks for problem in check.problems),
        unchecked=tuple(unchecked for check in checks for unchecked in check.unchecked),
    )


def _check(reading: Reading, namesakes: tuple[str, ...], scratch: Path) -> CorpusCheck:
    name = reading.folder.name
    own_scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch.resolve()))
    try:
        problems, unchecked = _ask(reading, namesakes, own_scratch)
    finally:
        shutil.rmtree(own_scratch, ignore_errors=True)
    return CorpusCheck((name,), tuple(problems), tuple(unchecked))


def _ask(reading: Reading, namesakes: tuple[str, ...], scratch: Path) -> tuple[list[Problem], list[Unchecked]]:
    name = reading.folder.name
    problems = _problems(name, SHAPE_RULES, reading)
    task = reading.task
    if task is None or _any(problems, NEEDED_TO_ASK_MORE):
        return problems, []
    missing = missing_commands(task.commands)
    no_git = "git" in missing
    candidate = Candidate(
        task=task,
        history=None if task.history is None or no_git else read_history(task.history, scratch),
        irregular=frozenset(path.removeprefix("repo_fixture/") for path in reading.irregular),
        namesakes=namesakes,
    )
    problems += _problems(name, STATIC_RULES, candidate)
    if missing:
        left_out = [rule for rule in RULES if rule in BEHAVIOUR_RULES or (no_git and rule in NEEDS_GIT)]
        return problems, [Unchecked(name, tuple(missing), tuple(left_out))]
    if not _any(problems, NEEDED_TO_RUN):
        problems += _problems(name, BEHAVIOUR_RULES, observe(task, reading, scratch))
    return problems, []


def _problems(
    task: str, rules: Mapping[str, Callable[[Subject], Iterable[Finding]]], subject: Subject
) -> list[Problem]:
    return [
        Problem(task, name, finding.file, finding.message) for name, rule in rules.items() for finding in rule(subject)
    ]


def _any(problems: Iterable[Problem], rules: frozenset[str]) -> bool:
    return any(problem.rule in rules for problem in problems)


def _namesakes(reading: Reading, readings: Sequence[Reading]) -> tuple[str, ...]:
    return tuple(
        other.folder.name
        for other in readings
        if other is not reading and reading.spec and other.spec and other.spec.id == reading.spec.id
    )
