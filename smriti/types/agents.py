"""How an agent gets the memory, and what its run was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from smriti.types.faults import Fault
from smriti.types.stored import Stored


@dataclass(frozen=True, slots=True)
class Hook:
    """A command that the agent runs at an event, in the common hook protocol (JSON on stdin, JSON on stdout)."""

    event: Literal["SessionStart", "UserPromptSubmit"]
    command: tuple[str, ...]
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Attachment:
    """How the agent gets the memory, or under off is kept from it."""

    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Relative path in the repository → text appended to that file (a context file such as AGENTS.md)."""
    prefix: str = ""
    """Text put before the prompt."""
    mcp_servers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hooks: tuple[Hook, ...] = ()
    session_id: str | None = None


Tokens = Annotated[int, Field(ge=0, le=10**12)]


class Usage(Stored):
    """Tokens of one agent run, by kind; a kind that nobody counted is None, never 0."""

    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    source: Literal["wire", "agent", "estimated"] | None = None

    @property
    def total(self) -> int | None:
        """All four kinds added up; None as soon as one of them is unknown."""
        total = 0
        for kind in (self.input_tokens, self.output_tokens, self.cache_read_tokens, self.cache_write_tokens):
            if kind is None:
                return None
            total += kind
        return total


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended. `exit_status` is None after a timeout, and negative (-signal) after a signal."""

    exit_status: int | None
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    truncated: bool = False
    """Some output was over the bound and was thrown away."""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What an agent did: JSON lines of its transcript, what it said in its own words, and what it cost."""

    transcript: bytes
    said: str
    usage: Usage
    seconds: float
    turns: int | None
    exit_status: int | None
    session_id: str | None
    fault: Fault | None = None
