"""A task's folder as it was found, and the rules on its shape: without it no other rule can be asked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from smriti.sandbox.filetree import digest, read_tree
from smriti.types import FileTree, Task, TaskFolder

DESCRIPTION = "task.json"
HISTORY = "history.fast-import"
FOLDERS = ("repo_fixture", "hidden", "solution", "naive")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a task out of the corpus."""

    task: str
    """The name of the task's folder."""
    rule: str
    file: str | None
    """Relative to the task's folder; None where no single file is at fault."""
    message: str

    def __str__(self) -> str:
        where = self.task if self.file is None else f"{self.task}/{self.file}"
        return f"{where}: {self.rule}: {self.message}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found; it becomes a Problem under the rule's name."""

    file: str | None
    message: str


@dataclass(frozen=True)
class Reading:
    """All that stands in a task's folder, read once, whether or not it makes a task."""

    folder: Path
    tree: FileTree
    """Every regular file, by its path in the folder."""
    irregular: Mapping[str, str]
    """Path → why it cannot be a part: links, special files, `.git`, names that are no text."""

    @cached_property
    def parts(self) -> dict[str, FileTree]:
        """The four trees, each with paths of its own; empty where there is none."""
        return {
            name: {path[len(name) + 1 :]: file for path, file in self.tree.items() if path.startswith(name + "/")}
            for name in FOLDERS
        }

    @cached_property
    def description(self) -> bytes | None:
        return self.tree[DESCRIPTION].content if DESCRIPTION in self.tree else None

    @cached_property
    def parsed(self) -> tuple[Task | None, list[Finding]]:
        return parse_task(self.description) if self.description else (None, [])

    @property
    def spec(self) -> Task | None:
        return self.parsed[0]

    @property
    def task(self) -> TaskFolder | None:
        """The task, as far as its folder makes one."""
        if self.spec is None or not all(self.parts.values()):
            return None
        history = self.tree.get(HISTORY)
        return TaskFolder(
            task=self.spec,
            folder=self.folder,
            sha256=digest(self.tree),
            fixture=self.parts["repo_fixture"],
            hidden=self.parts["hidden"],
            solution=self.parts["solution"],
            naive=self.parts["naive"],
            history=None if history is None else history.content,
        )


def read_folder(folder: Path) -> Reading:
    """Read every file of `folder`; what interpreters leave behind does not count."""
    tree, reports = read_tree(folder)
    irregular = dict(report.rsplit(": ", 1) for report in reports)
    for directory, folders, files in os.walk(folder):
        if ".git" in (*folders, *files):
            irregular[Path(directory, ".git").relative_to(folder).as_posix()] = "a git repository inside a task"
    unprintable = [path for path in tree if not _is_text(path)]
    irregular.update({path.encode(errors="replace").decode(): "its name is not UTF-8" for path in unprintable})
    return Reading(
        folder=folder,
        tree={path: file for path, file in tree.items() if path not in unprintable},
        irregular=dict(sorted(irregular.items())),
    )


def parse_task(description: bytes) -> tuple[Task | None, list[Finding]]:
    """Read task.json strictly: a task, or every reason why it is none."""
    try:
        repeated = _repeated_keys(description)
    except ValueError as error:
        return None, [Finding(DESCRIPTION, f"is not JSON: {error}")]
    findings = [Finding(DESCRIPTION, f"key {key!r} stands twice in one object") for key in repeated]
    try:
        task = Task.model_validate_json(description, strict=True)
    except ValidationError as error:
        findings += [Finding(DESCRIPTION, _said(problem)) for problem in error.errors(include_url=False)]
        return None, findings
    return (None if findings else task), findings


def schema(reading: Reading) -> Iterator[Finding]:
    """task.json is JSON without repeated keys, and has each field of tasks/README.md, of its type, and no other."""
    yield from reading.parsed[1]


def parts(reading: Reading) -> Iterator[Finding]:
    """task.json, repo_fixture/, hidden/, solution/, naive/ are there, not empty; besides, only history.fast-import."""
    irregular_tops = {path.split("/")[0] for path in reading.irregular}
    if not reading.description and DESCRIPTION not in irregular_tops:
        yield Finding(DESCRIPTION, "is missing or empty")
    for name in FOLDERS:
        if name in reading.tree:
            yield Finding(name, "is a file; expected a folder")
        elif not reading.parts[name] and name not in irregular_tops:
            yield Finding(name, "is missing, or holds no file")
    known = {DESCRIPTION, HISTORY, *FOLDERS}
    for top in sorted({path.split("/")[0] for path in reading.tree} - known):
        yield Finding(top, f"is no part of a task; expected only {', '.join(sorted(known))}")
    if reading.spec is not None and reading.spec.repo_fixture != FOLDERS[0]:
        yield Finding(DESCRIPTION, f"repo_fixture is {reading.spec.repo_fixture!r}; expected {FOLDERS[0]!r}")


def path(reading: Reading) -> Iterator[Finding]:
    """Nothing leaves the task: no link, special file, `.git`; no absolute path or `..` in deliverables or commands."""
    for where, reason in reading.irregular.items():
        yield Finding(where, reason)
    if reading.folder.is_symlink():
        yield Finding(None, "the task's folder is a symbolic link")
    if reading.spec is None:
        return
    for field in ("deliverables", "check_cmd", "visible_cmd"):
        for word in getattr(reading.spec, field):
            if leaves_the_task(word):
                yield Finding(DESCRIPTION, f"{field} has {word!r}; expected paths inside the task alone")


SHAPE_RULES = {"schema": schema, "parts": parts, "path": path}


def leaves_the_task(word: str) -> bool:
    """Tell whether a word of a command, or a glob, is or assigns an absolute path, or climbs by `..`."""
    return re.search(r"^(?:[^/\s]*=)?/|(?:^|[/=\s])\.\.(?:/|$)", word) is not None


def _repeated_keys(description: bytes) -> list[str]:
    repeated: list[str] = []

    def note_repeated(pairs: Iterable[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)

    json.loads(description, object_pairs_hook=note_repeated)
    return repeated


def _said(problem: Any) -> str:
    location = ".".join(str(step) for step in problem["loc"]) or "the whole"
    found = "" if problem["type"] in {"missing", "json_invalid"} else f" (found {_shortened(problem['input'])})"
    return f"{location}: {problem['msg']}{found}"


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
