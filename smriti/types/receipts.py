"""What a receipt says of its run, and of its figures."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from smriti.types.memory import SystemIdentity
from smriti.types.stored import Stored
from smriti.types.tasks import TaskIdentity

EvidenceClass = Literal["measured", "rehearsal", "component", "development"]


class Interval(Stored):
    """An uncertainty interval, with how it was made."""

    low: float
    high: float
    level: float
    method: str


class Score(Stored):
    """One figure: `value` is None where nothing can be said; `excluded` counts what `n` leaves out."""

    metric: str
    system: str
    condition: str
    group: str
    value: float | None
    n: int = Field(ge=0)
    excluded: int = Field(ge=0)
    interval: Interval | None = None


class Coverage(Stored):
    """planned = completed (a verdict) + failed (a fault) + skipped."""

    planned: int
    completed: int
    failed: int
    skipped: int


class FileSeal(Stored):
    """What a file of a receipt held when the receipt was sealed."""

    sha256: str
    rows: int | None
    """Lines of an ndjson file; None for any other."""


class Summary(Stored):
    """summary.json, the seal of a receipt."""

    schema_: Literal["smriti.summary/1"] = Field(default="smriti.summary/1", alias="schema")
    coverage: Coverage
    scores: tuple[Score, ...]
    flags: tuple[str, ...]
    evidence_class: EvidenceClass
    files: dict[str, FileSeal]
    finished: str

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Seam(Stored):
    """Where an interrupted run was taken up again; one line of seams.ndjson."""

    resumed: str
    after_rows: int = Field(ge=0)
    """Score lines that stood then."""


class CodeIdentity(Stored):
    """Which smriti ran: `commit` and `dirty` are None outside a checkout and a wheel built from one."""

    version: str
    commit: str | None
    dirty: bool | None
    sha256: str
    """Of the package's Python files as installed."""


class BenchConfig(Stored):
    """What one bench run is asked to do, as resolved."""

    memory: str
    agent: str
    conditions: tuple[str, ...]
    trials: int = Field(ge=1)
    timeout_s: float = Field(gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    flake: float = Field(default=0.0, ge=0, le=1)
    seed: int


class Manifest(Stored):
    """manifest.json, written before any work: what is about to be run, fingerprinted."""

    schema_: Literal["smriti.manifest/1"] = Field(default="smriti.manifest/1", alias="schema")
    suite: Literal["bench"]
    evidence_class: EvidenceClass
    run_id: str
    config: BenchConfig
    code: CodeIdentity
    packages: dict[str, str]
    systems: tuple[SystemIdentity, ...]
    agents: tuple[SystemIdentity, ...]
    scripted: bool
    """The agent solves by script: whatever it is called, its receipt is a rehearsal."""
    delivery: str
    """How memory goes to the agent under on: hooks, prompt (the hooks' text before it), mcp, files, prefix, none.

    Native and prompt delivery are different experiments.
    """
    artifacts: dict[str, str]
    """File name → sha256 of what was installed for the systems and agents under test."""
    engine: str
    datasets: dict[str, str]
    tasks: tuple[TaskIdentity, ...]
    selection: dict[str, Any]
    """How the tasks were chosen: which flags, and how many of how many."""
    seed: int
    sandbox: str
    jobs: int
    host: dict[str, Any]
    planned: int
    started: str

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
