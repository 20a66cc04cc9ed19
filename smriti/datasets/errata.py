"""Errata overlays: the evidence of a data set as an audit corrects it, beside the official one and never instead."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from smriti.datasets.fields import shown
from smriti.datasets.lock import Identity, identify
from smriti.errors import UsageError
from smriti.resources import resource
from smriti.types import Stored


class Erratum(Stored):
    """One question whose evidence is corrected."""

    question: str = Field(min_length=1)
    """The question's id, as the data set's reader makes it."""
    cited: tuple[str, ...]
    """The evidence exactly as the data file has it, whatever its shape."""
    corrected: tuple[str, ...]
    """Ids of the evidence that should stand there; empty where the audit found none in the whole corpus."""


class Overlay(Stored):
    """The TOML file of an overlay."""

    schema_: Literal["smriti.errata/1"] = Field(alias="schema")
    data: str = Field(min_length=1)
    """The name that the data file has in datasets.lock."""
    data_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    source: str = Field(min_length=1)
    """Where the audit is published."""
    revision: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    entries: tuple[Erratum, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Errata:
    """A validated overlay, with the identity of its file."""

    path: Path
    identity: Identity
    overlay: Overlay
    entries: Mapping[str, Erratum]
    """Question id → entry, in the order of the file."""

    def check_data(self, path: Path) -> None:
        """Raise UsageError where the data file at `path` is not the one that the overlay was made for."""
        found = identify(path).sha256
        if found != self.overlay.data_sha256:
            raise UsageError(
                f"errata overlay {str(self.path)!r} is for other data than {str(path)!r}: found sha256 {found}; "
                f"expected {self.overlay.data_sha256}, which is {self.overlay.data}. Read this file without it"
            )

    def corrected(self, question_id: str, evidence: Sequence[str], known: Collection[str]) -> tuple[str, ...] | None:
        """Return the corrected evidence of a question; None where no entry is about it.

        UsageError where its entry cites other evidence than the data file does, or corrects it to an id not in `known`.
        """
        entry = self.entries.get(question_id)
        if entry is None:
            return None
        if entry.cited != tuple(evidence):
            expected = f"{shown(list(evidence))}, as the data file has it"
            raise _bad(self.path, f"entry {question_id!r}, field cited", shown(list(entry.cited)), expected)
        for i, source_id in enumerate(entry.corrected):
            if source_id not in known:
                where = f"entry {question_id!r}, field corrected[{i}]"
                raise _bad(self.path, where, repr(source_id), "an id of that question's corpus")
        return entry.corrected

    def check_questions(self, question_ids: Collection[str]) -> None:
        """Raise UsageError where an entry is about a question that the data file does not have."""
        for number, question_id in enumerate(self.entries):
            if question_id not in question_ids:
                where = f"entry {number}, field question"
                raise _bad(self.path, where, repr(question_id), f"the id of a question of {self.overlay.data}")


def folder() -> Path:
    """Return the folder of the overlays that came with smriti: inside the package, or beside it in a checkout."""
    return resource("eval", "errata")


def shipped(data_sha256: str) -> Errata | None:
    """Return the overlay that came with smriti for the data file of this digest; None where there is none."""
    if not folder().is_dir():
        raise UsageError(f"no errata overlays: {str(folder())!r} is not there; install smriti from a wheel")
    overlays = map(read, sorted(folder().glob("*.toml")))
    return next((errata for errata in overlays if errata.overlay.data_sha256 == data_sha256), None)


def read(path: Path) -> Errata:
    """Read and validate the overlay in `path`; UsageError, naming entry and field, for anything not as it must be."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"errata overlay {str(path)!r} cannot be read: {error.strerror}; expected a TOML file"
        ) from error
    try:
        table = tomllib.loads(content.decode())
    except ValueError as error:
        raise UsageError(f"errata overlay {str(path)!r} is no TOML: {error}; expected a TOML file in UTF-8") from error
    try:
        overlay = Overlay.model_validate(table)
    except ValidationError as error:
        raise _broken(path, table, error) from None
    entries: dict[str, Erratum] = {}
    for number, entry in enumerate(overlay.entries):
        _check(path, f"entry {number} ({entry.question})", entry, entries)
        entries[entry.question] = entry
    identity = Identity(f"errata/{path.stem}", hashlib.sha256(content).hexdigest(), len(content))
    return Errata(path, identity, overlay, entries)


def _check(path: Path, where: str, entry: Erratum, before: Collection[str]) -> None:
    if entry.question in before:
        raise _bad(path, f"{where}, field question", repr(entry.question), "one entry for each question")
    if len(set(entry.corrected)) < len(entry.corrected):
        raise _bad(path, f"{where}, field corrected", shown(list(entry.corrected)), "each id once")
    if set(entry.corrected) == set(entry.cited):
        raise _bad(path, f"{where}, field corrected", shown(list(entry.corrected)), "other evidence than is cited")


def _broken(path: Path, table: Mapping[str, object], error: ValidationError) -> UsageError:
    """Say what the first problem is, with the entry's number and question where it is one of an entry."""
    first = error.errors(include_url=False)[0]
    steps, model, where = list(first["loc"]), "the file", ""
    if len(steps) > 1 and isinstance(number := steps[1], int):
        model, where = "an entry", f"entry {number}{_named(table, number)}, "
        steps = steps[2:]
    field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    where = f"{where}field {field}" if field else where.removesuffix(", ")
    if first["type"] == "extra_forbidden":
        return _bad(path, where, shown(first["input"]), f"no such key: {model} has none of that name")
    if first["type"] == "missing":
        return _bad(path, where, "nothing", "a value")
    return _bad(path, where, shown(first["input"]), first["msg"].removeprefix("Input should be "))


def _named(table: Mapping[str, object], number: int) -> str:
    entries = table.get("entries")
    entry = entries[number] if isinstance(entries, list) else None
    question = entry.get("question") if isinstance(entry, dict) else None
    return f" ({question})" if isinstance(question, str) else ""


def _bad(path: Path, where: str, found: str, expected: str) -> UsageError:
    return UsageError(f"errata overlay {str(path)!r} cannot be used: {where}: found {found}; expected {expected}")
