"""Trials of the bench: case, evidence, record."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from pydantic import Field

from smriti.types.agents import Usage
from smriti.types.faults import Fault, Status
from smriti.types.memory import MemoryRole
from smriti.types.stored import Stored
from smriti.types.tasks import Family, Split


@dataclass(frozen=True, slots=True)
class TrialCase:
    """One cell of the matrix, with its place in the seeded order of the whole run."""

    task_id: str
    condition: str
    trial: int
    """From 1."""
    order: int
    """From 0 over the whole run."""

    @property
    def id(self) -> str:
        return f"{self.task_id}/{self.condition}/t{self.trial}"


def trial_realm(run_id: str, case: TrialCase) -> str:
    """Name the realm of one trial, used once and never again: `project:smriti-<task>-<run>-<condition>-t<trial>`."""
    return f"project:smriti-{case.task_id}-{run_id}-{case.condition.replace(':', '-')}-t{case.trial}"


def trial_session_id(realm: str) -> str:
    """Give the session id of the trial that owns `realm`: a UUID, the same on every call."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, realm))


class Planted(Stored):
    """A memory as it stands in the store during a trial."""

    id: str
    source_id: str
    role: MemoryRole


class PhaseSeconds(Stored):
    """Wall time of each phase of a trial; None for a phase that was not reached."""

    prepare: float | None = None
    plant: float | None = None
    agent: float | None = None
    grade: float | None = None
    check: float | None = None
    """The check command alone; part of `grade`."""
    forget: float | None = None
    total: float | None = None


class TrialEvidence(Stored):
    """What a trial's score is computed from; one line of evidence.ndjson."""

    case: str
    run_id: str
    manifest_sha256: str
    """Of the receipt's manifest.json: a row belongs to that run as it was planned, and to no other plan."""
    task_id: str
    task_sha256: str
    family: Family
    split: Split
    condition: str
    trial: int = Field(ge=1)
    order: int = Field(ge=0)
    realm: str
    session_id: str
    delivery: str
    """How memory was to reach the agent: none, hooks, prompt (the hooks' text before it), mcp, files or prefix."""
    planted: tuple[Planted, ...]
    injected_ids: tuple[str, ...] | None
    """By the system's own ledger, joined by session id; None where the system cannot tell."""
    echoed_ids: tuple[str, ...]
    """Planted ids whose whole text the agent repeated in its own words."""
    agent_exit_status: int | None
    check_exit_status: int | None
    usage: Usage
    turns: int | None
    seconds: PhaseSeconds
    transcript_sha256: str | None
    diff_sha256: str | None
    check_output_sha256: str | None
    left_out: tuple[str, ...]
    """What the agent changed and grading did not take, each with its reason."""
    fault: Fault | None


class TrialRecord(Stored):
    """A trial, scored; one line of scores.ndjson. Every field follows from the evidence line that it names."""

    case: str
    run_id: str
    task_id: str
    task_sha256: str
    family: Family
    split: Split
    condition: str
    trial: int = Field(ge=1)
    order: int = Field(ge=0)
    status: Status
    passed: bool | None
    """The check's verdict; None where there is none."""
    usage: Usage
    planted_ids: tuple[str, ...]
    injected_ids: tuple[str, ...] | None
    injected_confirmed: bool | None
    """A memory planted for this trial reached the agent; None where the system cannot tell."""
    contaminated: bool | None
    """A memory that was not planted for this trial reached the agent; None where the system cannot tell."""
    echoed: bool
    seconds: PhaseSeconds
    transcript_sha256: str | None
    diff_sha256: str | None
    fault: Fault | None
    evidence_sha256: str

    @property
    def tokens(self) -> int | None:
        """All tokens of the agent's run; None where somebody did not count."""
        return self.usage.total
