"""The checks as data: eval/lifecycle/checks.toml, validated, its templates written out."""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from smriti.errors import UsageError
from smriti.receipts.lifecycle import script_problems
from smriti.resources import resource
from smriti.types import (
    LIFECYCLE_CHECKS,
    LifecycleCheck,
    LifecycleStep,
    LifecycleText,
    MemoryType,
    PlannedMemory,
    Stored,
)


@dataclass(frozen=True, slots=True)
class Checks:
    """Every check, the texts of each by name, and the digest of the file that they are from."""

    checks: tuple[LifecycleCheck, ...]
    texts: Mapping[str, Mapping[str, LifecycleText]]
    """Check → name → text."""
    sha256: str


class _Written(Stored):
    """A memory as the file has it."""

    name: str = Field(min_length=1)
    text: str = Field(min_length=1)
    """With `count`, {n} in it stands for the number from 1."""
    needle: str = Field(min_length=1)
    type: MemoryType = "wisdom"
    command: str | None = None
    count: int | None = Field(default=None, ge=1)
    """How many are written out from this one as a template."""
    length: int | None = Field(default=None, ge=1)
    """Characters to which the text is drawn out by numbered sentences."""


class _Check(Stored):
    id: str = Field(pattern="^[a-z0-9-]+$")
    says: str = Field(min_length=1)
    needs: tuple[str, ...] = ()
    changes: tuple[str, str] | None = None
    memory: tuple[_Written, ...] = Field(min_length=1)
    steps: tuple[LifecycleStep, ...] = Field(min_length=1)


class _File(Stored):
    schema_: Literal["smriti.lifecycle/1"] = Field(alias="schema")
    check: tuple[_Check, ...] = Field(min_length=1)


def checks_path() -> Path:
    """Return the file that came with smriti: inside the package, or beside it in a checkout."""
    return resource("eval", "lifecycle", "checks.toml")


def read_checks(path: Path) -> Checks:
    """Read and validate the checks in `path`; UsageError, naming the check, for anything that is not as it must be."""
    try:
        content = path.read_bytes()
        file = _File.model_validate(tomllib.loads(content.decode()))
    except (OSError, ValueError) as error:  # a ValidationError, too, is a ValueError
        raise UsageError(f"{path}: {_said(error)}; expected the checks of {LIFECYCLE_CHECKS}") from error
    checks: list[LifecycleCheck] = []
    texts: dict[str, dict[str, LifecycleText]] = {}
    for written in file.check:
        own = dict(_texts(written))
        check = _planned(written, own)
        problems = [*script_problems(check), *_text_problems(own)]
        if written.id in texts:
            problems.append("it stands there twice")
        if problems:
            raise UsageError(f"{path}: check {written.id!r}: {problems[0]}")
        checks.append(check)
        texts[check.id] = own
    return Checks(tuple(checks), texts, hashlib.sha256(content).hexdigest())


def _said(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())


def _texts(check: _Check) -> Iterator[tuple[str, LifecycleText]]:
    for memory in check.memory:
        for n in range(1, (memory.count or 1) + 1):
            numbered = memory.count is not None
            name = f"{memory.name}-{n:03}" if numbered else memory.name
            text, needle = (
                each.replace("{n}", f"{n:03}") if numbered else each for each in (memory.text, memory.needle)
            )
            content = text if memory.length is None else _drawn_out(text, memory.length)
            yield (
                name,
                LifecycleText(
                    content=content,
                    needle=needle,
                    source_id=f"{check.id}/{name}",
                    type=memory.type,
                    command=memory.command,
                ),
            )


def _drawn_out(text: str, length: int) -> str:
    """Add numbered sentences, no two alike, until the text has exactly `length` characters."""
    parts = [text]
    size = len(text)
    for n in itertools.count(1):
        if size >= length:
            break
        parts.append(f" Step {n}: compare shard {n * 7 % 101} with its replica and write the difference to line {n}.")
        size += len(parts[-1])
    return "".join(parts)[: length - 1] + "."


def _planned(check: _Check, texts: Mapping[str, LifecycleText]) -> LifecycleCheck:
    def named(patterns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for pattern in patterns for name in (fnmatch.filter(texts, pattern) or [pattern]))

    return LifecycleCheck(
        id=check.id,
        says=check.says,
        needs=check.needs,
        changes=check.changes,
        memories={
            name: PlannedMemory(
                source_id=text.source_id,
                sha256=hashlib.sha256(text.content.encode()).hexdigest(),
                command=text.command,
            )
            for name, text in texts.items()
        },
        steps=tuple(
            step.model_copy(update={"memories": named(step.memories), "wanted": named(step.wanted)})
            for step in check.steps
        ),
    )


def _text_problems(texts: Mapping[str, LifecycleText]) -> Iterator[str]:
    for name, text in texts.items():
        for other, beside in texts.items():
            same = beside.content == text.content
            if (text.needle in beside.content) != (name == other or same):
                yield f"the needle {text.needle!r} of {name!r} does not tell it from {other!r}"
        if text.command is not None and f"`{text.command}`" not in text.content:
            yield f"{name!r} does not name its command {text.command!r}"
