"""The interfaces that suites see: memory systems, agents, engines, suites. No code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from smriti.types import (
    Action,
    AgentRun,
    Attachment,
    Completed,
    Condition,
    Coverage,
    Evidence,
    Hit,
    Hook,
    Manifest,
    Memory,
    Observation,
    Recalled,
    RecallForm,
    Record,
    Score,
    SystemIdentity,
    TaskFolder,
)


class Store(Protocol):
    """A private, opened memory store. Every method raises MemorySystemError when it cannot do what it promises."""

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        """Store `memories` in order and return their ids, one each; all of them are searchable on return."""

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Return at most `k` hits, best first; empty where nothing matches."""

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, and confirm that each is gone."""

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Say how an agent gets what `realm` holds under `condition`; under off and ablate:all it must get nothing."""

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        """Return the ids that reached the agent by the system's own ledger; None where it cannot tell.

        `window` is the agent's run in ms since the epoch, for systems whose ledger knows no session.
        """

    def restart(self) -> None:
        """Stop and start whatever serves the store; what was remembered and forgotten stays so."""

    def close(self) -> None:
        """Stop everything that `open` started."""


# What a store can do beyond that, each with the capability by which its system declares it. A system that declares none
# of these and does not have the method is `unsupported` where it is asked for, never passed.


class Correcting(Protocol):
    """Capability `supersede`."""

    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        """Store `memory` in the place of another, which no search returns any more; return the new id."""


class Updating(Protocol):
    """Capability `update`."""

    def update(self, memory_id: str, content: str) -> str:
        """Change what a memory says; return the id under which it is found now, which may be the same."""


class Expanding(Protocol):
    """Capability `expand`."""

    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        """Search like `search`, and return hits whose content may be shortened."""

    def expand(self, memory_id: str) -> str:
        """Return the whole content of a hit."""


class Capturing(Protocol):
    """Capability `capture`: the store keeps observations beside memories, in a layer of their own."""

    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        """Store observations in order and return their ids, one each; all of them are searchable on return."""


class Acting(Protocol):
    """Capability `actions`."""

    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        """Record something to be done with the memories that it follows from, and return its id."""

    def actions(self, realm: str) -> list[Action]:
        """Return what is recorded, oldest first."""


class Recalling(Protocol):
    """Capability `budget`."""

    def recall(self, query: str, realm: str, form: RecallForm, budget: int, layer: str | None = None) -> Recalled:
        """Return what matches in one form, in at most `budget` tokens, and say how much was cut."""


class Layered(Protocol):
    """Capability `layers`, of a system and not of its stores."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names that `search` takes as a layer; what is not told apart is searched with None."""


class MemorySystem(Protocol):
    """A memory system under test."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def lanes(self) -> tuple[str, ...]:
        """Retrieval lanes that can be ablated one by one; empty for a system without lanes."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What its stores can do.

        `supersede`, `update`, `expand`, `capture`, `actions`, `budget` and `layers` as above; `projects` (a realm is
        searched by itself), `global` (the realm "" is no project, and is found from every one), `provenance` (hits name
        their sources), `restart` (what was remembered survives one), `rest` and `mcp` (how it is reached).
        """

    def identity(self) -> SystemIdentity:
        """Name, version and whatever else tells this build apart."""

    def open(self, workspace: Path, replica: Path | None = None) -> Store:
        """Open a store with home, state and ports inside `workspace`; nothing of the user's own is read or written."""


class Cage(Protocol):
    """Where one trial's commands run: a working directory, a private HOME and TMPDIR, an allow-listed environment."""

    @property
    def workdir(self) -> Path: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    def run(
        self,
        command: Sequence[str],
        *,
        timeout_s: float,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        max_output_bytes: int = ...,
    ) -> Completed:
        """Run `command` in the cage and reap its whole process group; `env` is added to the cage's own.

        FileNotFoundError when there is no such command.
        """


@dataclass(frozen=True)
class AgentJob:
    """What an agent is given for one trial. Only scripted agents may look at `task`."""

    prompt: str
    cage: Cage
    attachment: Attachment
    session_id: str
    timeout_s: float
    max_tokens: int | None
    task: TaskFolder
    seed: str
    """Different for each trial and the same on every run of it: the only source of an agent's own chance."""


class Agent(Protocol):
    """A coding agent under test."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def scripted(self) -> bool:
        """True for an agent that solves by script: its receipts are rehearsals."""

    @property
    def channels(self) -> frozenset[str]:
        """What of an attachment the agent takes: env, files, prefix, hooks, mcp."""

    def identity(self) -> SystemIdentity: ...

    def run(self, job: AgentJob) -> AgentRun:
        """Work on the repository in the cage. What goes wrong comes back as the run's fault, or as AgentError."""


class HookRunner(Protocol):
    """Runs one hook in the common protocol, with `env` added to the cage's, and returns the context that it adds."""

    def __call__(self, hook: Hook, cage: Cage, session_id: str, prompt: str, env: Mapping[str, str]) -> str: ...


class Keep(Protocol):
    """Stores a transcript, a diff or a check's output, and returns the sha256 of what was stored."""

    def __call__(self, kind: Literal["transcripts", "diffs", "checks"], content: bytes) -> str: ...


StepT = TypeVar("StepT")
ResultT = TypeVar("ResultT")
EvidenceT = TypeVar("EvidenceT", bound=Evidence)
EvidenceT_co = TypeVar("EvidenceT_co", bound=Evidence, covariant=True)
RecordT = TypeVar("RecordT", bound=Record)


class Case(Protocol):
    """One attempt of a plan."""

    @property
    def id(self) -> str: ...

    @property
    def order(self) -> int:
        """Its place in the plan, from 0."""


class Scoring(Protocol[EvidenceT, RecordT]):
    """How the evidence of one run becomes records, and its records figures. Pure: the same rows give the same bits."""

    @property
    def evidence_type(self) -> type[EvidenceT]: ...

    @property
    def record_type(self) -> type[RecordT]: ...

    def plan(self) -> Sequence[Case]:
        """Lay out every case of the run, in the order in which they start."""

    def record(self, evidence: EvidenceT, evidence_sha256: str) -> RecordT:
        """Score one attempt from its evidence line, whose digest the record carries."""

    def coverage(self, records: Sequence[RecordT]) -> Coverage:
        """Count what the records say of the plan."""

    def scores(self, records: Sequence[RecordT]) -> tuple[Score, ...]:
        """Compute every figure; the order of records is irrelevant."""

    def flags(self, records: Sequence[RecordT], scores: Sequence[Score]) -> tuple[str, ...]:
        """Say, most important first, what must be known before any figure is read; each flag is `name: sentence`."""


class Suite(Protocol[StepT, ResultT, EvidenceT_co]):
    """What the runner runs: steps, each of which attempts some cases of the plan."""

    @property
    def manifest(self) -> Manifest: ...

    def steps(self, done: Collection[str]) -> Sequence[StepT]:
        """Lay out what is left of the plan when the cases in `done` are, in the order in which it starts."""

    def work(self, keep: Keep) -> Callable[[StepT], ResultT]:
        """Return what attempts the cases of one step, maybe in another process; it hands `keep` files to be stored.

        Faults of a case come back in its result; anything raised stops the run.
        """

    def evidence(self, result: ResultT) -> Sequence[EvidenceT_co]:
        """Return a row for each case of the step that brought `result`."""

    def close(self) -> None: ...


class Engine(Protocol[StepT, ResultT]):
    """Where steps run."""

    @property
    def name(self) -> str: ...

    def map(self, work: Callable[[StepT], ResultT], steps: Iterable[StepT]) -> Generator[ResultT, None, None]:
        """Yield the result of each step when it has ended. Closing the iterator early starts no further step."""
