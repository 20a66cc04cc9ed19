"""What is asked of an agent, and under which condition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from smriti.errors import UsageError
from smriti.types.memory import Memory
from smriti.types.stored import Stored

Family = Literal["convention", "exploration", "misleading"]

Split = Literal["visible", "holdout"]


class Task(Stored):
    """A task as its `task.json` states it; tasks/README.md says what each field means."""

    id: str
    version: int = Field(ge=1)
    family: Family
    split: Split
    repo_fixture: str = "repo_fixture"
    prompt: str = Field(min_length=1)
    check_cmd: tuple[str, ...] = Field(min_length=1)
    visible_cmd: tuple[str, ...] = Field(min_length=1)
    planted_memories: tuple[Memory, ...] = Field(min_length=1)
    tags: tuple[str, ...] = ()
    deducible: bool
    deliverables: tuple[str, ...] = Field(min_length=1)
    leak_terms: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    timeout_s: Annotated[float, Field(gt=0, le=120)]
    expected_tokens_budget: int = Field(gt=0)


@dataclass(frozen=True, slots=True)
class File:
    """A regular file's bytes and whether it may be executed; nothing else of its mode matters here."""

    content: bytes
    executable: bool = False


FileTree = Mapping[str, File]
"""Relative POSIX path → file."""


@dataclass(frozen=True)
class TaskFolder:
    """A task with all its parts in memory, read once, so that a trial cannot see a file that changed meanwhile."""

    task: Task
    folder: Path
    sha256: str
    """Of every part: names, modes and bytes."""
    fixture: FileTree
    hidden: FileTree
    solution: FileTree
    naive: FileTree
    history: bytes | None = None
    """A `git fast-import` stream whose tip is `fixture`, or None for a task without a git history."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Every command that running the task needs: `requires`, and git where it has a history."""
        return self.task.requires if self.history is None else (*self.task.requires, "git")


@dataclass(frozen=True, slots=True)
class Condition:
    """One arm of the experiment; `lane` is given for `ablate` alone, and may be `all`."""

    kind: Literal["off", "on", "handed", "placebo", "file", "ablate"]
    lane: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `off`, `on`, `handed`, `placebo`, `file` or `ablate:<lane>`; UsageError on anything else."""
        match text.split(":"):
            case [("off" | "on" | "handed" | "placebo" | "file") as kind]:
                return cls(kind)
            case ["ablate", lane] if re.fullmatch(r"[a-z][a-z0-9_-]*", lane):
                return cls("ablate", lane)
        raise UsageError(f"condition {text!r} is not one of off, on, handed, placebo, file, ablate:<lane>, ablate:all")

    def __str__(self) -> str:
        return self.kind if self.lane is None else f"{self.kind}:{self.lane}"


class TaskIdentity(Stored):
    """A task as the manifest names it; `sha256` is over all of its parts."""

    id: str
    version: int
    family: Family
    split: Split
    sha256: str
