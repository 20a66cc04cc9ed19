"""Trials of the bench: case, evidence, record; and the manifest of a run of them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from smriti.types.agents import Usage
from smriti.types.faults import Fault, Status
from smriti.types.memory import MemoryRole, SystemIdentity
from smriti.types.receipts import Config, Evidence, Manifest, Record
from smriti.types.stored import Stored
from smriti.types.tasks import Family, Split, TaskIdentity


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


class TrialEvidence(Evidence):
    """What a trial's record is computed from."""

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

    @property
    def blobs(self) -> Mapping[str, str]:
        digests = {
            "transcripts": self.transcript_sha256,
            "diffs": self.diff_sha256,
            "checks": self.check_output_sha256,
        }
        return {f"{kind}/{digest}.gz": digest for kind, digest in digests.items() if digest is not None}


class TrialRecord(Record):
    """A trial, scored."""

    task_id: str
    task_sha256: str
    family: Family
    split: Split
    condition: str
    trial: int = Field(ge=1)
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

    @property
    def tokens(self) -> int | None:
        """All tokens of the agent's run; None where somebody did not count."""
        return self.usage.total


class BenchConfig(Config):
    """What one bench run is asked to do, as resolved."""

    memory: str
    agent: str
    conditions: tuple[str, ...]
    trials: int = Field(ge=1)
    timeout_s: float = Field(gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    flake: float = Field(default=0.0, ge=0, le=1)
    seed: int


class BenchManifest(Manifest):
    """What a run of the bench is about to do."""

    suite: Literal["bench"]
    config: BenchConfig
    agents: tuple[SystemIdentity, ...]
    scripted: bool
    """The agent solves by script: whatever it is called, its receipt is a rehearsal."""
    delivery: str
    """How memory goes to the agent under on: hooks, prompt (the hooks' text before it), mcp, files, prefix, none.

    Native and prompt delivery are different experiments.
    """
    tasks: tuple[TaskIdentity, ...]
