"""A memory system that can do everything, and the ways in which one breaks: each in one thing, all else being right."""

from __future__ import annotations

import pickle
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn

from smriti.memory.off import OffStore
from smriti.protocols import MemorySystem, Store
from smriti.score.lifecycle import LifecycleScoring
from smriti.suites.lifecycle import LifecycleSuite
from smriti.suites.lifecycle.checks import Checks, checks_path, read_checks
from smriti.types import (
    LIFECYCLE_CHECKS,
    Action,
    CodeIdentity,
    Hit,
    LifecycleConfig,
    LifecycleEvidence,
    LifecycleManifest,
    LifecycleRecord,
    Memory,
    Observation,
    Recalled,
    RecallForm,
    SystemIdentity,
)

EVERYTHING = frozenset(
    {
        "supersede", "update", "expand", "capture", "actions", "budget", "layers", "projects", "global", "provenance",
        "restart",
    }
)  # fmt: skip

_WORD = re.compile(r"\w+")
_TIME = re.compile(r"\d\d:\d\d")


@dataclass(frozen=True)
class Kept:
    """One thing in a store."""

    id: str
    realm: str
    layer: str
    content: str
    source_id: str


@dataclass
class Disk:
    """What outlives a restart."""

    kept: dict[str, Kept] = field(default_factory=dict)
    actions: list[tuple[str, Action]] = field(default_factory=list)
    given: int = 0
    turn: threading.RLock = field(default_factory=threading.RLock)


class Able(OffStore):
    """A store that keeps every promise. It takes a text that differs in a time of day for the same fact, changed."""

    def __init__(self) -> None:
        super().__init__()
        self.disk = Disk()

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        with self.disk.turn:
            return [self.one(memory, realm) for memory in memories]

    def one(self, memory: Memory, realm: str) -> str:
        for kept in self.same_fact(memory, realm):
            del self.disk.kept[kept.id]
        return self.put(memory.content, memory.source_id, realm, "memories")

    def same_fact(self, memory: Memory, realm: str) -> list[Kept]:
        fact = _TIME.sub("", memory.content)
        return [
            kept
            for kept in self.disk.kept.values()
            if fact != memory.content and kept.realm == realm and _TIME.sub("", kept.content) == fact
        ]

    def put(self, content: str, source_id: str, realm: str, layer: str) -> str:
        self.disk.given += 1
        id_ = f"m{self.disk.given}"
        self.disk.kept[id_] = Kept(id_, realm, layer, content, source_id)
        return id_

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        return self.found(query, self.in_reach(realm), k, layer or "memories")

    def in_reach(self, realm: str) -> list[Kept]:
        with self.disk.turn:
            return [kept for kept in self.disk.kept.values() if kept.realm in {realm, ""}]

    def found(self, query: str, among: Iterable[Kept], k: int, layer: str) -> list[Hit]:
        asked = words(query)
        scored = [(len(asked & words(kept.content)), kept) for kept in among if layer in {kept.layer, "all"}]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [self.hit(kept, float(score)) for score, kept in best[:k]]

    def hit(self, kept: Kept, score: float) -> Hit:
        return Hit(kept.id, kept.content, score, (kept.source_id,))

    def forget(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            del self.disk.kept[id_]

    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        del self.disk.kept[memory_id]
        return self.put(memory.content, memory.source_id, realm, "memories")

    def update(self, memory_id: str, content: str) -> str:
        self.disk.kept[memory_id] = replace(self.disk.kept[memory_id], content=content)
        return memory_id

    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        hits = Able.search(self, query, realm, k)
        return [hit._replace(content=f"{hit.content[:80]}…" if len(hit.content) > 80 else hit.content) for hit in hits]

    def expand(self, memory_id: str) -> str:
        return self.disk.kept[memory_id].content

    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        return [self.put(each.content, each.source_id, realm, "observations") for each in observations]

    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        id_ = f"a{len(self.disk.actions) + 1}"
        self.disk.actions.append((realm, Action(id=id_, title=title, memory_ids=tuple(memory_ids))))
        return id_

    def actions(self, realm: str) -> list[Action]:
        return [action for of, action in self.disk.actions if of == realm]

    def recall(self, query: str, realm: str, form: RecallForm, budget: int, layer: str | None = None) -> Recalled:
        del budget
        hits = tuple(self.found(query, self.in_reach(realm), 10, layer or "all"))
        text = "\n".join(hit.content for hit in hits)
        return Recalled(() if form == "narrative" else hits, text, 0)

    def restart(self) -> None:
        """All of it is on the disk."""


def words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


class System:
    """A memory system whose stores are made by `make`."""

    version = "1"
    lanes: tuple[str, ...] = ()
    layers: tuple[str, ...] = ("memories", "observations")

    def __init__(
        self, make: Callable[[], Store] = Able, name: str = "able", capabilities: frozenset[str] = EVERYTHING
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self._make = make

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version)

    def open(self, workspace: Path, replica: Path | None = None) -> Store:
        del replica
        assert list(workspace.iterdir()) == []
        (workspace / "mine").write_text("kept")
        return self._make()


@cache
def own_checks() -> Checks:
    return read_checks(checks_path())


def plan(*systems: System, checks: Checks | None = None, timeout_s: float = 20.0, **fields: Any) -> LifecycleManifest:
    """Make the manifest of a run of `systems`, in which no field is empty that could hold something."""
    scripts = (checks or own_checks()).checks
    stated: dict[str, Any] = {
        "suite": "lifecycle",
        "evidence_class": "component",
        "run_id": "run",
        "config": LifecycleConfig(memory=tuple(system.name for system in systems), timeout_s=timeout_s),
        "code": CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64),
        "packages": {"pydantic": "2.9"},
        "systems": tuple(system.identity() for system in systems),
        "artifacts": {"able.py": "4" * 64},
        "engine": "processes",
        "datasets": {LIFECYCLE_CHECKS: "5" * 64},
        "selection": {"selected": len(scripts), "of": len(scripts)},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {"cpus": 2},
        "planned": len(systems) * len(scripts),
        "started": "2026-01-01T00:00:00+00:00",
        "capabilities": {system.name: tuple(sorted(system.capabilities)) for system in systems},
        "layers": {
            system.name: tuple(sorted(system.layers)) if "layers" in system.capabilities else () for system in systems
        },
        "checks": scripts,
    }
    return LifecycleManifest(**{**stated, **fields})


def attempt(system: System, *, timeout_s: float = 20.0, only: Iterable[str] | None = None) -> list[LifecycleEvidence]:
    """Ask a system every check, or `only` some, as a run does; what goes to another process is pickled all the same."""
    manifest = plan(system, timeout_s=timeout_s)
    suite = LifecycleSuite(manifest, own_checks().texts, lambda _: system)
    asked = {f"{system.name}/{check}" for check in only} if only is not None else None
    work = suite.work(no_files)
    steps = [sent(step) for step in suite.steps(()) if asked is None or step.case in asked]
    return [row for step in steps for row in suite.evidence(sent(work(step)))]


def records(system: System, **options: Any) -> dict[str, LifecycleRecord]:
    """Return check → record of a run of `system`."""
    scoring = LifecycleScoring(plan(system))
    return {row.check: scoring.record(row, "0" * 64) for row in attempt(system, **options)}


def sent(value: Any) -> Any:
    """Return what arrives of `value` in another process."""
    return pickle.loads(pickle.dumps(value))


def no_files(kind: Literal["transcripts", "diffs", "checks"], content: bytes) -> NoReturn:
    del kind, content
    raise AssertionError("nothing of a case is kept in a file")


def protocol(system: System) -> MemorySystem:
    """Have the type checker tell that the fake is what a suite is given."""
    return system
