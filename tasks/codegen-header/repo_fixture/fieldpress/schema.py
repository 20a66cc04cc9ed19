"""Schemas and the manifest, read and checked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

TYPES = ("text", "integer", "decimal", "boolean", "date")
LANGUAGES = ("python", "typescript", "sql")


class SchemaError(Exception):
    """A schema or manifest that cannot be used; the message begins with its path."""


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    name: str
    about: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Record:
    """A schema with the files to be made of it, as the manifest lists them."""

    source: str
    schema: Schema
    targets: dict[str, str]


def read_manifest(path: Path) -> list[Record]:
    """Read a manifest and the schemas that it names, relative to itself."""
    records = []
    for entry in _load(path).get("records", []):
        for language in entry["targets"]:
            if language not in LANGUAGES:
                raise SchemaError(f"{path}: {language!r} is not one of {', '.join(LANGUAGES)}")
        records.append(Record(entry["schema"], read_schema(path.parent / entry["schema"]), entry["targets"]))
    return records


def read_schema(path: Path) -> Schema:
    """Read a schema; raise SchemaError if a name or a type is not as the README says."""
    content = _load(path)
    fields = tuple(Field(**field) for field in content["fields"])
    if not re.fullmatch(r"([A-Z][a-z0-9]*)+", content["name"]):
        raise SchemaError(f"{path}: {content['name']!r} is not in CamelCase")
    for field in fields:
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", field.name):
            raise SchemaError(f"{path}: {field.name!r} is not in snake_case")
        if field.type not in TYPES:
            raise SchemaError(f"{path}: {field.name} has the type {field.type!r}, not one of {', '.join(TYPES)}")
    return Schema(content["name"], content["about"], fields)


def _load(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise SchemaError(f"{path}: {error}") from None
