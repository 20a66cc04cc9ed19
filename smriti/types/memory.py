"""What is remembered, and what a search gives back."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import Field

from smriti.types.stored import Stored

MemoryType = Literal["wisdom", "belief", "episode", "correction"]

MemoryRole = Literal["convention", "stale", "correction", "distractor", "poison"]

OWN_REALM = "project:self"
"""How a task names the trial's own realm; any other `project:<name>` is an adjacent project of the same trial."""


class Memory(Stored):
    """One thing to be remembered."""

    content: str = Field(min_length=1)
    type: MemoryType
    role: MemoryRole
    source_id: str = Field(min_length=1)
    realm: str = OWN_REALM


class Hit(NamedTuple):
    """One search result; empty `source_ids` says that provenance was lost.

    A tuple because a run of a retrieval suite makes millions of them.
    """

    id: str
    content: str
    score: float
    source_ids: tuple[str, ...] = ()


class SystemIdentity(Stored):
    """A system or agent under test, as far as it can be told apart from another build of the same name."""

    name: str
    version: str
    detail: dict[str, Any] = Field(default_factory=dict)
