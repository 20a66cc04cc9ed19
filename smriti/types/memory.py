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


class Observation(Stored):
    """What one call of an agent's tool gave, captured while the agent worked."""

    session_id: str = Field(min_length=1)
    tool: str = Field(min_length=1)
    content: str = Field(min_length=1)
    source_id: str = Field(min_length=1)


class Action(Stored):
    """Something to be done, and the memories that it follows from."""

    id: str
    title: str
    memory_ids: tuple[str, ...]


RecallForm = Literal["full", "compact", "narrative"]
"""Hits with their whole text; with the beginning of it; one text to be put before a model."""


class Recalled(NamedTuple):
    """What a recall disclosed within its budget."""

    hits: tuple[Hit, ...]
    text: str
    """The hits as they would be put before a model; empty where the system has no such form."""
    cut: int | None
    """Hits that matched and were left out or shortened for the budget; None where the system does not say."""


class SystemIdentity(Stored):
    """A system or agent under test, as far as it can be told apart from another build of the same name."""

    name: str
    version: str
    detail: dict[str, Any] = Field(default_factory=dict)
