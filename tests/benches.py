"""A bench in small: tiny tasks, a run of the suite over them, and agents and memory systems that misbehave.

The functions that take `argument` are memory systems for the command line, as `tests.benches:<name>`.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from smriti import registry, runner
from smriti.agents.hooks import run_hook
from smriti.engine.local import LocalEngine
from smriti.errors import MemorySystemError
from smriti.protocols import Agent, AgentJob, MemorySystem, Store
from smriti.receipts.writer import EVIDENCE, SCORES, ReceiptWriter
from smriti.sandbox.filetree import digest
from smriti.suites.bench import BenchSuite
from smriti.types import (
    OWN_REALM,
    AgentRun,
    Attachment,
    BenchConfig,
    Condition,
    Family,
    Hit,
    Memory,
    MemoryRole,
    Summary,
    SystemIdentity,
    Task,
    TaskFolder,
    TaskIdentity,
    TrialEvidence,
    TrialRecord,
)
from tests.strategies import manifest, tree, usage

# Tasks

PLAIN_CHECK = """
import pathlib, sys
answer = pathlib.Path("answer.txt")
sys.exit(0 if answer.is_file() and answer.read_text().strip() == {value!r} else 1)
"""
HANGING_CHECK = "import threading; threading.Event().wait()\n"
DYING_CHECK = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
WRONG = "nobody knows\n"

README = "The office of a harbour.\n"
FIXTURE = {"README.md": README, **{f"office/desk_{number}.py": "berth = 'free'\n" * 60 for number in range(9)}}
"""Exploring it costs far more than 1.5 × the tokens of acting on a memory."""


def mooring_code(id_: str) -> str:
    """The value that only a memory of the task names."""
    return f"kelp-{id_}"


def fact(id_: str) -> str:
    """The memory that a task needs."""
    return f"The mooring code of harbour {id_} is {mooring_code(id_)}, as agreed with the pilots."


def planted(content: str, role: MemoryRole = "convention", *, source_id: str = "m1", realm: str = OWN_REALM) -> Memory:
    """One memory to be planted."""
    kind: Literal["correction", "wisdom"] = "correction" if role == "correction" else "wisdom"
    return Memory(content=content, type=kind, role=role, source_id=source_id, realm=realm)


def tiny_task(
    id_: str = "alpha",
    *,
    family: Family = "convention",
    deducible: bool = False,
    memories: Sequence[Memory] | None = None,
    check: str = PLAIN_CHECK,
    check_cmd: Sequence[str] = ("python3", "-I", "grader/check.py"),
    requires: Sequence[str] = ("python3",),
    deliverables: Sequence[str] = ("answer.txt",),
    fixture: Mapping[str, str] | None = None,
    timeout_s: float = 20.0,
) -> TaskFolder:
    """A task that is solved by the right word in answer.txt; it is not written to the disk."""
    task = Task(
        id=id_,
        version=1,
        family=family,
        split="visible",
        prompt=f"Write the mooring code of harbour {id_} into answer.txt.",
        check_cmd=tuple(check_cmd),
        visible_cmd=("true",),
        planted_memories=tuple([planted(fact(id_))] if memories is None else memories),
        deducible=deducible,
        deliverables=tuple(deliverables),
        requires=tuple(requires),
        timeout_s=timeout_s,
        expected_tokens_budget=1000,
    )
    parts = {
        "fixture": tree(FIXTURE if fixture is None else fixture),
        "hidden": tree({"grader/check.py": check.format(value=mooring_code(id_))}),
        "solution": tree({"answer.txt": mooring_code(id_) + "\n"}),
        "naive": tree({"answer.txt": WRONG}),
    }
    sha256 = digest({f"{part}/{path}": file for part, files in parts.items() for path, file in files.items()})
    return TaskFolder(task=task, folder=Path("/nowhere"), sha256=sha256, history=None, **parts)


# A run


@dataclass(frozen=True)
class Ran:
    """What a run of the bench left behind."""

    summary: Summary
    directory: Path
    """The receipt."""
    scratch: Path
    records: tuple[TrialRecord, ...]
    evidence: tuple[TrialEvidence, ...]

    def trial(self, condition: str = "on", trial: int = 1, task: str = "alpha") -> TrialEvidence:
        """The evidence of one trial."""
        (found,) = [row for row in self.evidence if row.case == f"{task}/{condition}/t{trial}"]
        return found

    def record(self, condition: str = "on", trial: int = 1, task: str = "alpha") -> TrialRecord:
        """The score line of one trial."""
        (found,) = [row for row in self.records if row.case == f"{task}/{condition}/t{trial}"]
        return found

    def value(self, metric: str, condition: str = "on", group: str = "all") -> float | None:
        """One figure of the summary."""
        (found,) = [s for s in self.summary.scores if (s.metric, s.condition, s.group) == (metric, condition, group)]
        return found.value

    def kept(self, kind: Literal["transcripts", "diffs", "checks"], sha256: str | None) -> str:
        """What the receipt keeps under a digest."""
        return gzip.decompress((self.directory / kind / f"{sha256}.gz").read_bytes()).decode()

    def prompt(self, condition: str, trial: int = 1, task: str = "alpha") -> str:
        """The prompt as the rehearsal agent got it."""
        transcript = self.kept("transcripts", self.trial(condition, trial, task).transcript_sha256)
        (text,) = [event["text"] for event in map(json.loads, transcript.splitlines()) if event["type"] == "user"]
        assert isinstance(text, str)
        return text


def run_bench(
    tmp_path: Path,
    tasks: Sequence[TaskFolder],
    *,
    memory: MemorySystem | None = None,
    agent: Agent | None = None,
    conditions: Sequence[str] = ("off", "on"),
    trials: int = 1,
    jobs: int = 1,
    timeout_s: float = 20.0,
    max_tokens: int | None = None,
) -> Ran:
    """Run the matrix over `tasks` with a real receipt, in a folder of its own below `tmp_path`."""
    root = Path(tempfile.mkdtemp(dir=tmp_path))
    memory = memory or registry.load("memory", "embedded")
    agent = agent or registry.load("agents", "rehearsal")
    config = BenchConfig(
        memory=memory.name,
        agent=agent.name,
        conditions=tuple(conditions),
        trials=trials,
        timeout_s=timeout_s,
        max_tokens=max_tokens,
        seed=0,
    )
    plan = manifest(
        [folder.task.id for folder in tasks],
        list(conditions),
        trials,
        config=config,
        systems=(memory.identity(),),
        agents=(agent.identity(),),
        jobs=jobs,
        scripted=agent.scripted,
        delivery="hooks",
    ).model_copy(update={"tasks": tuple(map(_identity, tasks))})
    suite = BenchSuite(
        plan,
        tasks,
        memory=memory,
        file_memory=registry.load("memory", "file"),
        agent=agent,
        run_hook=run_hook,
        scratch=root / "scratch",
    )
    with closing(ReceiptWriter.create(root / "receipt", plan)) as receipt, closing(suite):
        summary = runner.run(suite, LocalEngine(jobs), receipt, lambda _record: None)
    return Ran(
        summary,
        root / "receipt",
        root / "scratch",
        tuple(TrialRecord.model_validate_json(line) for line in _lines(root / "receipt" / SCORES)),
        tuple(TrialEvidence.model_validate_json(line) for line in _lines(root / "receipt" / EVIDENCE)),
    )


def _identity(folder: TaskFolder) -> TaskIdentity:
    task = folder.task
    return TaskIdentity(id=task.id, version=1, family=task.family, split=task.split, sha256=folder.sha256)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


# Agents


@dataclass(frozen=True)
class Acting:
    """An agent in process that does what the function says, and has used 10 tokens."""

    act: Callable[[AgentJob], None]
    channels: frozenset[str] = frozenset({"env", "files", "prefix", "hooks"})

    name = "acting"
    version = "1"
    scripted = True

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version)

    def run(self, job: AgentJob) -> AgentRun:
        self.act(job)
        return AgentRun(
            transcript=b"acted\n",
            said="",
            usage=usage(10),
            seconds=0.0,
            turns=1,
            exit_status=0,
            session_id=job.session_id,
        )


def command_agent(tmp_path: Path, code: str, *, arguments: Sequence[str] = (), **tables: Mapping[str, Any]) -> Agent:
    """The shipped `command` agent over a Python script."""
    agent: Agent = registry.load("agents", f"command:{command_file(tmp_path, code, arguments=arguments, **tables)}")
    return agent


def command_file(tmp_path: Path, code: str, *, arguments: Sequence[str] = (), **tables: Mapping[str, Any]) -> Path:
    """A TOML file that makes a Python script an agent; `tables` are further tables of it."""
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    script = folder / "agent.py"
    script.write_text(code)
    lines = ['name = "scripted-command"', 'version = "1"', "scripted = true"]
    lines.append(f"command = {json.dumps(['python3', '-I', str(script), *arguments])}")
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    file = folder / "agent.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


# Memory systems


class StoreAround:
    """A store that hands everything on; what is over it is one misbehaviour."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        return self.inner.remember(memories, realm)

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        return self.inner.search(query, realm, k, layer)

    def forget(self, ids: Sequence[str]) -> None:
        self.inner.forget(ids)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        return self.inner.attach(realm, condition)

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        return self.inner.injected(session_id, window)

    def restart(self) -> None:
        self.inner.restart()

    def close(self) -> None:
        self.inner.close()


@dataclass
class SystemAround:
    """A memory system whose stores are those of `inner`, each wrapped by `around`."""

    around: Callable[[Store], Store] = StoreAround
    inner: MemorySystem = field(default_factory=lambda: registry.load("memory", "embedded"))
    opened: list[Path] = field(default_factory=list)
    """The workspace of each store that was opened."""

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> str:
        return self.inner.version

    @property
    def lanes(self) -> tuple[str, ...]:
        return self.inner.lanes

    @property
    def capabilities(self) -> frozenset[str]:
        return self.inner.capabilities

    def identity(self) -> SystemIdentity:
        return self.inner.identity()

    def open(self, workspace: Path, replica: Path | None = None) -> Store:
        self.opened.append(workspace)
        return self.around(self.inner.open(workspace, replica))


@dataclass
class Watched:
    """Notes what is asked of the stores of one system; before one is closed, looks what it still holds."""

    inner: MemorySystem = field(default_factory=lambda: registry.load("memory", "embedded"))
    remembered: list[tuple[str, str]] = field(default_factory=list)
    """Realm and content."""
    forgotten: list[str] = field(default_factory=list)
    left: list[Hit] = field(default_factory=list)
    closed: int = 0

    @property
    def system(self) -> SystemAround:
        return SystemAround(lambda store: _WatchedStore(store, self), self.inner)


class _WatchedStore(StoreAround):
    def __init__(self, inner: Store, watched: Watched) -> None:
        super().__init__(inner)
        self._watched = watched

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        self._watched.remembered += [(realm, memory.content) for memory in memories]
        return self.inner.remember(memories, realm)

    def forget(self, ids: Sequence[str]) -> None:
        self.inner.forget(ids)
        self._watched.forgotten += ids

    def close(self) -> None:
        for realm, content in self._watched.remembered:
            self._watched.left += self.inner.search(content, realm, 5)
        self._watched.closed += 1
        self.inner.close()


class RemembersNothing(StoreAround):
    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        raise MemorySystemError(f"no room for {len(memories)} memories in {realm[:7]}")


class LosesOne(StoreAround):
    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        return super().remember(memories, realm)[1:]


class RepeatsAnId(StoreAround):
    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        ids = super().remember(memories, realm)
        return [ids[0]] * len(ids)


class ForgetsNothing(StoreAround):
    def forget(self, ids: Sequence[str]) -> None:
        raise MemorySystemError(f"{len(ids)} memories are still there")


class CannotTell(StoreAround):
    """Its ledger is broken, which is not the same as having none."""

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        del session_id, window
        raise MemorySystemError("the ledger is torn")


class NeverHeard(StoreAround):
    """It has no ledger, and says so."""

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        del session_id, window
        return None


class MisroutesBareRealms(StoreAround):
    """Files and looks up what has no colon in its realm under `global`, and has no lane across realms to make up."""

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        return super().remember(memories, _routed(realm))

    def attach(self, realm: str, condition: Condition) -> Attachment:
        attachment = super().attach(realm, condition)
        env = dict(attachment.env)
        env["SMRITI_MEM_REALM"] = _routed(self.handed_out(env["SMRITI_MEM_REALM"]))
        env.setdefault("SMRITI_MEM_ABLATE_LANES", "xr")
        return dataclasses.replace(attachment, env=env)

    def handed_out(self, realm: str) -> str:
        """The realm as the agent gets it."""
        return realm


class HandsOutBareRealms(MisroutesBareRealms):
    """The same, and it gives the agent the name of the realm without its `project:`."""

    def handed_out(self, realm: str) -> str:
        return realm.removeprefix("project:")


def _routed(realm: str) -> str:
    return realm if ":" in realm else "global"


class IgnoresAblation(StoreAround):
    """Its hook never sees which lanes are ablated."""

    def attach(self, realm: str, condition: Condition) -> Attachment:
        attachment = super().attach(realm, condition)
        kept = {name: value for name, value in attachment.env.items() if name != "SMRITI_MEM_ABLATE_LANES"}
        return dataclasses.replace(attachment, env=kept)


class LeaksItsNeighbours(StoreAround):
    """Every trial's ledger also names a memory of somebody else."""

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        return [*(super().injected(session_id, window) or []), "a-memory-of-somebody-else"]


def hands_out_bare_realms(argument: str | None) -> MemorySystem:
    del argument
    return SystemAround(HandsOutBareRealms)


def ignores_ablation(argument: str | None) -> MemorySystem:
    del argument
    return SystemAround(IgnoresAblation)


def cannot_be_opened(argument: str | None) -> MemorySystem:
    del argument

    def refuse(store: Store) -> Store:
        store.close()
        raise MemorySystemError("its server does not answer")

    return SystemAround(refuse)
