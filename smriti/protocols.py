"""The interfaces that suites see: memory systems, agents, engines, suites. No code."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from smriti.types import (
    AgentRun,
    Attachment,
    Completed,
    Condition,
    Hit,
    Hook,
    Manifest,
    Memory,
    SystemIdentity,
    TaskFolder,
    TrialCase,
    TrialEvidence,
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
    def capabilities(self) -> frozenset[str]: ...

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


class Suite(Protocol):
    """What the runner runs: a plan of cases and one step for each."""

    @property
    def manifest(self) -> Manifest: ...

    def cases(self) -> Sequence[TrialCase]:
        """The whole plan, in the order in which it starts."""

    def step(self, case: TrialCase, keep: Keep) -> TrialEvidence:
        """Attempt one case, handing `keep` what the evidence names by digest.

        Faults of the case come back in its evidence; anything raised stops the run.
        """

    def close(self) -> None: ...


T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Where steps run."""

    @property
    def name(self) -> str: ...

    def map(self, step: Callable[[T], R], cases: Iterable[T]) -> Generator[R, None, None]:
        """Yield the result of each case as it ends. Closing the iterator early starts no further case."""
