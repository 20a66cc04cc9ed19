"""The TOML file that describes an agent: its fields, what is refused in it, and how its command is filled in."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, StrictInt, ValidationError

from smriti.agents.command.jsonpath import JsonPath
from smriti.errors import UsageError
from smriti.types import Stored

PLACEHOLDERS = ("prompt", "prompt_file", "workdir", "session_id", "hooks_file", "result_file")

MAX_COUNT = 10**12
"""Tokens or turns above this are a mistake."""

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][\w-]*)\}")
"""Any word in braces, so that a misspelt one is found; `${NAME}` is the shell's, and JSON has no such words."""
_CAGE_OWN = re.compile(r"HOME|TMPDIR|XDG_\w+")


class ResultPlace(Stored):
    """Where the agent's JSON result stands, and the paths of what is read from it besides usage."""

    source: Literal["stdout", "file"]
    format: Literal["json", "ndjson-last"]
    session_id: str | None = None
    turns: str | None = None
    said: str | None = None


class UsagePaths(Stored):
    """Where each kind of token stands in the result; a whole number stands for itself; None is unknown."""

    input_tokens: str | StrictInt | None = None
    output_tokens: str | StrictInt | None = None
    cache_read_tokens: str | StrictInt | None = None
    cache_write_tokens: str | StrictInt | None = None


class Template(Stored):
    """An agent's TOML file."""

    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    command: tuple[str, ...] = Field(min_length=1)
    env: Mapping[str, str] = Field(default_factory=dict)
    pass_env: tuple[str, ...] = ()
    """Names of variables that are copied from the user's environment; their values are written nowhere."""
    scripted: bool = False
    result: ResultPlace | None = None
    usage: UsagePaths = UsagePaths()

    @property
    def placeholders(self) -> frozenset[str]:
        """Every name in braces in the command, known or not."""
        return frozenset(name for part in self.command for name in _PLACEHOLDER.findall(part))

    def filled(self, values: Mapping[str, str]) -> list[str]:
        """Return the command with each placeholder's value, in one pass: braces in a value stay as they are."""
        return [_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in self.command]


def read(file: str, content: bytes) -> Template:
    """Read the template that `content` of `file` describes; UsageError names everything that is wrong with it."""
    try:
        table = tomllib.loads(content.decode())
    except ValueError as error:
        raise UsageError(f"agent file {file!r} is no TOML: {error}; expected a TOML file in UTF-8") from error
    try:
        template = Template.model_validate(table)
    except ValidationError as error:
        raise UsageError(f"agent file {file!r}: {'; '.join(_broken_fields(error))}") from error
    if problems := [*_broken_command(template), *_broken_paths(template)]:
        raise UsageError(f"agent file {file!r}: {'; '.join(problems)}")
    return _located(file, template)


def _broken_fields(error: ValidationError) -> Iterator[str]:
    sections: dict[str | int, type[Stored]] = {"usage": UsagePaths, "result": ResultPlace}
    for problem in error.errors():
        where = ".".join(map(str, problem["loc"]))
        section = sections.get(problem["loc"][0], Template) if len(problem["loc"]) > 1 else Template
        if problem["type"] == "extra_forbidden":
            yield f"unknown key {where!r}, expected one of {', '.join(section.model_fields)}"
        elif problem["type"] == "missing":
            yield f"there is no {where!r}, expected one: {where} = …"
        else:
            yield f"{where} is {problem['input']!r:.100}: {problem['msg']}"


def _broken_command(template: Template) -> Iterator[str]:
    for unknown in sorted(template.placeholders - set(PLACEHOLDERS)):
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        yield f"command has the placeholder {{{unknown}}}, expected one of {known}"
    for name in filter(_CAGE_OWN.fullmatch, (*template.env, *template.pass_env)):
        yield f"{name} is in env or pass_env, but each trial has its own: leave it out"
    for name in template.pass_env:
        if name not in os.environ:
            yield f"pass_env names {name}, which your environment does not have: set it, or leave it out"


def _broken_paths(template: Template) -> Iterator[str]:
    place = template.result
    if place is None and template.usage != UsagePaths():
        yield "there is [usage] but no [result] for its paths to lead into, expected [result] with source and format"
    if place is not None and place.source == "file" and "result_file" not in template.placeholders:
        yield "result.source is 'file' but command does not say {result_file}, expected it where the agent takes it"
    if place is not None:
        for name in ("session_id", "turns", "said"):
            yield from _broken_path(f"result.{name}", getattr(place, name))
    for kind, path in template.usage:
        yield from _broken_path(f"usage.{kind}", path)


def _broken_path(where: str, path: str | int | None) -> Iterator[str]:
    if isinstance(path, int) and not 0 <= path <= MAX_COUNT:
        yield f"{where} is {path}, expected a path or a whole number from 0 to {MAX_COUNT}"
    if isinstance(path, str):
        try:
            JsonPath.parse(path)
        except ValueError as error:
            yield f"{where} is {path!r}, {error}"


def _located(file: str, template: Template) -> Template:
    """Give the program's absolute path, since a trial runs elsewhere and with another PATH.

    A relative path is one from the file's folder; a bare name is looked up on the user's PATH.
    """
    program, *rest = template.command
    if program.startswith("{"):
        return template
    found = str(Path(file).parent / program) if "/" in program else shutil.which(program)
    if found is None:
        raise UsageError(
            f"agent file {file!r}: command runs {program!r}, which is not on your PATH; install it, or give its path"
        )
    return template.model_copy(update={"command": (str(Path(found).absolute()), *rest)})
