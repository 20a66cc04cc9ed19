"""A document, and the record that is kept of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


class ArchiveError(Exception):
    """Something about the archive or a request that its user can put right."""


@dataclass(frozen=True, order=True)
class Document:
    """One document; sorts by id."""

    id: str
    title: str
    year: int
    file: str
    """Path of the stored file, relative to the archive."""

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Document:
        """Read a record; ValueError or TypeError if it is not one."""
        return cls(**json.loads(text))
