"""Memory systems that record what they are given or misbehave in one way, and small corpora to try them on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

from smriti.memory.off import OffStore
from smriti.protocols import MemorySystem, Store
from smriti.suites.retrieval import RetrievalSuite
from smriti.suites.retrieval.attempt import Step
from smriti.types import (
    CodeIdentity,
    Corpus,
    CorpusPlan,
    Document,
    Hit,
    Memory,
    Question,
    QuestionEvidence,
    RetrievalConfig,
    RetrievalManifest,
    SystemIdentity,
)

NAMES = "abcdefgh"


def question(name: str = "q1", gold: Sequence[str] = ("a",), **fields: Any) -> Question:
    """Make a question in which everything that is not given is unremarkable."""
    stated: dict[str, Any] = {
        "id": name,
        "text": f"{name}?",
        "type": "plain",
        "date": None,
        "gold": tuple(gold),
        "answerable": True,
        "groups": ("all", "plain"),
    }
    return Question(**{**stated, **fields})


def corpus(name: str = "c1", *questions: Question, documents: Sequence[str] = NAMES) -> Corpus:
    """Make a corpus of a document for each name, in which it says nothing but its name."""
    return Corpus(
        name,
        tuple(Document(source_id, f"text of {source_id}") for source_id in documents),
        questions or (question(f"{name}/q1"),),
    )


def plan(
    systems: Sequence[str], corpora: Sequence[Corpus], k: Sequence[int] = (5,), **fields: Any
) -> RetrievalManifest:
    """Make the manifest of a run of `systems` over `corpora`."""
    asked = sum(len(corpus.questions) for corpus in corpora)
    stated: dict[str, Any] = {
        "suite": "locomo",
        "evidence_class": "component",
        "run_id": "run",
        "config": RetrievalConfig(memory=tuple(systems), k=tuple(k), options={}),
        "code": CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64),
        "packages": {},
        "systems": tuple(SystemIdentity(name=system, version="1") for system in systems),
        "artifacts": {},
        "engine": "processes",
        "datasets": {"locomo10": "5" * 64},
        "selection": {"stratify": None, "limit": None, "selected": asked, "of": asked},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": len(systems) * asked,
        "started": "2026-01-01T00:00:00+00:00",
        "counts": {},
        "notes": (),
        "labels": {},
        "corpora": tuple(
            CorpusPlan(id=c.id, documents=len(c.documents), questions=tuple(q.id for q in c.questions)) for c in corpora
        ),
    }
    return RetrievalManifest(**{**stated, **fields})


def attempt(
    systems: Mapping[str, MemorySystem], corpora: Sequence[Corpus], k: Sequence[int] = (5,)
) -> list[QuestionEvidence]:
    """Put every question to every system, and return the evidence in the order of the plan.

    As a run does, but for the other process: what goes there and comes back is pickled all the same.
    """
    suite = RetrievalSuite(plan(list(systems), corpora, k), corpora, systems.__getitem__, nobodys)
    work = suite.work(no_files)
    steps: list[Step] = [sent(step) for step in suite.steps(())]
    return [row for step in steps for row in suite.evidence(sent(work(step)))]


def nobodys(_system: str) -> bool:
    """Let no system be one that comes with smriti."""
    return False


def sent(value: Any) -> Any:
    """Return what arrives of `value` in another process."""
    return pickle.loads(pickle.dumps(value))


def no_files(kind: Literal["transcripts", "diffs", "checks"], content: bytes) -> NoReturn:
    del kind, content
    raise AssertionError("nothing of a question is kept in a file")


class System:
    """A memory system whose stores are made by a function of their workspace."""

    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()

    def __init__(self, make: Callable[[Path], Store], name: str = "fake") -> None:
        self.name = name
        self._make = make

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version)

    def open(self, workspace: Path, replica: Path | None = None) -> Store:
        del replica
        return self._make(workspace)


class Remembering(OffStore):
    """A store that keeps what it was given, and whose search gives back everything in that order."""

    def __init__(self) -> None:
        self.memories: list[Memory] = []

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        del realm
        self.memories += memories
        return [f"m{number}" for number in range(len(memories))]

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        del query, realm, layer
        return [hit_of(memory, -float(rank)) for rank, memory in enumerate(self.memories)][:k]


def hit_of(memory: Memory, score: float = 0.0) -> Hit:
    return Hit(f"m-{memory.source_id}", memory.content, score, (memory.source_id,))


@dataclass(frozen=True)
class Call:
    """One method of a store or system as it was called."""

    name: str
    arguments: tuple[Any, ...]


@dataclass
class Recording:
    """A system that writes down everything that it is given, and does as `Remembering`."""

    calls: list[Call] = field(default_factory=list)
    workspaces: list[Path] = field(default_factory=list)

    def system(self) -> System:
        return System(self._open)

    def _open(self, workspace: Path) -> Store:
        self.calls.append(Call("open", (workspace,)))
        self.workspaces.append(workspace)
        assert list(workspace.iterdir()) == []
        (workspace / "mine").write_text("kept")
        return _Recorded(self.calls)


class _Recorded(Remembering):
    def __init__(self, calls: list[Call]) -> None:
        super().__init__()
        self._calls = calls

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        self._calls.append(Call("remember", (tuple(memories), realm)))
        return super().remember(memories, realm)

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        self._calls.append(Call("search", (query, realm, k, layer)))
        return super().search(query, realm, k, layer)

    def close(self) -> None:
        self._calls.append(Call("close", ()))


def answering(search: Callable[[list[Memory], str, int], Any]) -> System:
    """Make a system that remembers as it should, and searches with `search(memories, query, k)`."""

    class Store(Remembering):
        def search(self, query: str, realm: str, k: int, layer: str | None = None) -> Any:
            del realm, layer
            return search(self.memories, query, k)

    return System(lambda _: Store())
