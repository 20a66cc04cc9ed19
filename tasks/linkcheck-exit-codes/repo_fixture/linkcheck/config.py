"""What the configuration file may say."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from linkcheck.errors import CannotCheck


@dataclass(frozen=True)
class Config:
    ignore: tuple[str, ...] = ()
    """Pages that are not checked."""
    allow: tuple[str, ...] = ()
    """Link targets that are taken as they are."""


def load(path: Path) -> Config:
    """Read a configuration file; raise CannotCheck if that is not possible or a key is unknown."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CannotCheck(f"configuration {path}: {error.strerror}") from None
    except ValueError as error:
        raise CannotCheck(f"configuration {path}: {error}") from None
    if not isinstance(content, dict):
        raise CannotCheck(f"configuration {path}: expected an object")
    known = {field.name for field in fields(Config)}
    for key, globs in content.items():
        if key not in known:
            raise CannotCheck(f"configuration {path}: unknown key {key!r}")
        if not isinstance(globs, list) or not all(isinstance(glob, str) for glob in globs):
            raise CannotCheck(f"configuration {path}: {key!r} is not a list of globs")
    return Config(**{key: tuple(globs) for key, globs in content.items()})
