"""Every noun of the project: frozen pydantic where it touches disk, frozen dataclasses elsewhere."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from smriti.errors import UsageError

MemoryType = Literal["wisdom", "belief", "episode", "correction"]
MemoryRole = Literal["convention", "stale", "correction", "distractor", "poison"]
Family = Literal["convention", "exploration", "misleading"]
Split = Literal["visible", "holdout"]
EvidenceClass = Literal["measured", "rehearsal", "component", "development"]
Phase = Literal["prepare", "plant", "attach", "agent", "confirm", "grade", "forget", "teardown"]
Status = Literal[
    "passed",
    "failed",
    "skipped",
    "plant_failed",
    "agent_timeout",
    "agent_error",
    "token_limit",
    "check_timeout",
    "check_error",
    "forget_failed",
    "memory_error",
    "infra_error",
]
"""How a trial ended: `passed` and `failed` are the check's verdicts, `skipped` was not tried, the rest are faults."""

VERDICTS: frozenset[Status] = frozenset({"passed", "failed"})
AGENT_FAULTS: frozenset[Status] = frozenset({"agent_timeout", "agent_error", "token_limit"})
"""Faults that are the agent's own doing: the attempt failed as surely as one that the check refused."""

OWN_REALM = "project:self"
"""How a task names the trial's own realm; any other `project:<name>` is an adjacent project of the same trial."""


class Stored(BaseModel):
    """Anything that touches disk: immutable, and no unknown key is let through."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


# What is planted and what comes back


class Memory(Stored):
    """One thing to be remembered."""

    content: str = Field(min_length=1)
    type: MemoryType
    role: MemoryRole
    source_id: str = Field(min_length=1)
    realm: str = OWN_REALM


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result, best first; empty `source_ids` says that provenance was lost."""

    id: str
    content: str
    score: float
    source_ids: tuple[str, ...] = ()


# What is asked of an agent


class Task(Stored):
    """A task as its `task.json` states it; tasks/README.md says what each field means."""

    id: str
    version: int = Field(ge=1)
    family: Family
    split: Split
    repo_fixture: str = "repo_fixture"
    prompt: str = Field(min_length=1)
    check_cmd: tuple[str, ...] = Field(min_length=1)
    visible_cmd: tuple[str, ...] = Field(min_length=1)
    planted_memories: tuple[Memory, ...] = Field(min_length=1)
    tags: tuple[str, ...] = ()
    deducible: bool
    deliverables: tuple[str, ...] = Field(min_length=1)
    leak_terms: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    timeout_s: Annotated[float, Field(gt=0, le=120)]
    expected_tokens_budget: int = Field(gt=0)


@dataclass(frozen=True, slots=True)
class File:
    """A regular file's bytes and whether it may be executed; nothing else of its mode matters here."""

    content: bytes
    executable: bool = False


FileTree = Mapping[str, File]
"""Relative POSIX path → file."""


@dataclass(frozen=True)
class TaskFolder:
    """A task with all its parts in memory, read once, so that a trial cannot see a file that changed meanwhile."""

    task: Task
    folder: Path
    sha256: str
    """Of every part: names, modes and bytes."""
    fixture: FileTree
    hidden: FileTree
    solution: FileTree
    naive: FileTree
    history: bytes | None = None
    """A `git fast-import` stream whose tip is `fixture`, or None for a task without a git history."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Every command that running the task needs: `requires`, and git where it has a history."""
        return self.task.requires if self.history is None else (*self.task.requires, "git")


@dataclass(frozen=True, slots=True)
class Condition:
    """One arm of the experiment; `lane` is given for `ablate` alone, and may be `all`."""

    kind: Literal["off", "on", "handed", "placebo", "file", "ablate"]
    lane: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `off`, `on`, `handed`, `placebo`, `file` or `ablate:<lane>`; UsageError on anything else."""
        match text.split(":"):
            case [("off" | "on" | "handed" | "placebo" | "file") as kind]:
                return cls(kind)
            case ["ablate", lane] if re.fullmatch(r"[a-z][a-z0-9_-]*", lane):
                return cls("ablate", lane)
        raise UsageError(f"condition {text!r} is not one of off, on, handed, placebo, file, ablate:<lane>, ablate:all")

    def __str__(self) -> str:
        return self.kind if self.lane is None else f"{self.kind}:{self.lane}"


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


class Fault(Stored):
    """Why a case has no verdict: the status it ends in, the phase that failed, and what was found there."""

    status: Status
    phase: Phase
    message: str


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


# Trials


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


# Scores and receipts


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


class SystemIdentity(Stored):
    """A system or agent under test, as far as it can be told apart from another build of the same name."""

    name: str
    version: str
    detail: dict[str, Any] = Field(default_factory=dict)


class CodeIdentity(Stored):
    """Which smriti ran: `commit` and `dirty` are None outside a checkout and a wheel built from one."""

    version: str
    commit: str | None
    dirty: bool | None
    sha256: str
    """Of the package's Python files as installed."""


class TaskIdentity(Stored):
    """A task as the manifest names it; `sha256` is over all of its parts."""

    id: str
    version: int
    family: Family
    split: Split
    sha256: str


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


# Questions and corpora


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a corpus, with its gold evidence. Systems see no more than `text` and `date`."""

    id: str
    text: str
    type: str
    date: str | None
    """As the set gives it; None where it gives none."""
    gold: tuple[str, ...]
    """Distinct source ids of the documents that hold the evidence; empty where nothing can be scored."""
    answerable: bool
    """False where the set says that the corpus holds no answer: such a question has null metrics."""
    groups: tuple[str, ...] = ("all",)
    """The groups of scores that the question counts in."""
    group_gold: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Group → gold, for the groups that are scored against other evidence than `gold`."""

    def gold_in(self, group: str) -> tuple[str, ...]:
        """Return the gold evidence that `group` is scored against."""
        return self.group_gold.get(group, self.gold)


@dataclass(frozen=True, slots=True)
class Document:
    """One memory of a corpus as systems see it: `source_id` says nothing about what is asked."""

    source_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is ingested at once, and the questions that are asked of it; `id` may be seen by systems."""

    id: str
    documents: Sequence[Document]
    """In the order of the set. May be read from disk on each iteration; its length is always at hand."""
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DatasetReading:
    """A data set, wholly validated, and what was found in it."""

    corpora: Sequence[Corpus]
    counts: Mapping[str, int]
    """For the manifest: what the set holds, and what the reader decided about it."""
    flags: tuple[str, ...] = ()
    """What a reader of the scores must know first."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Group → the name to print for it, where that says more than the group's own."""
