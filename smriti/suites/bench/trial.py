"""One trial from end to end: prepare, plant, attach, run the agent, confirm, grade, forget."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from smriti.errors import AgentError, MemorySystemError, SmritiError
from smriti.protocols import Agent, AgentJob, Cage, HookRunner, Keep, Store
from smriti.sandbox.filetree import unified_diff
from smriti.sandbox.fixture import Fixtures
from smriti.sandbox.grading import altered_checks, read_work, run_check, select_deliverables
from smriti.sandbox.none import command_path, make_cage
from smriti.suites.bench.boundary import run_agent
from smriti.suites.bench.delivery import Delivery, deliver, without_laid_files
from smriti.types import (
    OWN_REALM,
    AgentRun,
    BenchManifest,
    Condition,
    Fault,
    FileTree,
    Memory,
    Phase,
    PhaseSeconds,
    Planted,
    Status,
    TaskFolder,
    TrialCase,
    TrialEvidence,
    Usage,
    trial_realm,
    trial_session_id,
)

_PLANTING_KINDS = {"on", "file", "ablate"}


@dataclass(frozen=True)
class Setting:
    """What all trials of a run share."""

    manifest: BenchManifest
    manifest_sha256: str
    """Of the receipt's manifest.json."""
    agent: Agent
    run_hook: HookRunner
    fixtures: Fixtures
    gradings: Path
    """Where each trial's graded copy gets a folder whose name nobody can foresee."""
    cores: threading.Semaphore
    """As many checks as the machine has cores, so that no time limit is met for want of one."""


@dataclass
class Trial:
    """What is known of one trial so far; becomes its evidence."""

    setting: Setting
    task: TaskFolder
    case: TrialCase
    grading: Path | None = None
    """The folder of the graded copy; there is none before the agent has ended."""
    cage: Cage | None = None
    planted: list[Planted] = field(default_factory=list)
    injected_ids: tuple[str, ...] | None = None
    delivery: Delivery | None = None
    attached_ms: int = 0
    """Since the epoch: from here on memory could reach the agent."""
    run: AgentRun | None = None
    check_exit_status: int | None = None
    transcript_sha256: str | None = None
    diff_sha256: str | None = None
    check_output_sha256: str | None = None
    left_out: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    forgotten: bool = False
    """The store has confirmed that nothing that was planted is left, whatever else went wrong."""
    fault: Fault | None = None

    def __post_init__(self) -> None:
        self.condition = Condition.parse(self.case.condition)
        self.realm = trial_realm(self.setting.manifest.run_id, self.case)
        self.session_id = trial_session_id(self.realm)

    def attempt(self, store: Store, root: Path, keep: Keep) -> None:
        """Take the trial through the protocol's steps, with the agent in a fresh directory below `root`.

        A fault ends it, but what the agent did is kept and what was planted is forgotten all the same.
        """
        started = time.monotonic()
        self._do("prepare", lambda: self._prepare(root / "agent"))
        self._do("plant", lambda: self._plant(store))
        self._do("attach", lambda: self._attach(store))
        self._do("agent", lambda: self._run_agent(store))
        if self.run is not None:
            self._do("grade", lambda: self._grade(root, keep), after_fault=True)
        self._do("forget", lambda: self._forget(store), after_fault=True)
        self.seconds["total"] = time.monotonic() - started

    def end(self, status: Status, phase: Phase, message: str) -> None:
        """Record a fault. The first one is the cause; what comes while cleaning up after it is its consequence."""
        if self.fault is None:
            readable = message.encode(errors="backslashreplace").decode()
            self.fault = Fault(status=status, phase=phase, message=readable)

    def evidence(self) -> TrialEvidence:
        """State what is known now as an evidence row."""
        run = self.run
        return TrialEvidence(
            case=self.case.id,
            run_id=self.setting.manifest.run_id,
            manifest_sha256=self.setting.manifest_sha256,
            task_id=self.case.task_id,
            task_sha256=self.task.sha256,
            family=self.task.task.family,
            split=self.task.task.split,
            condition=self.case.condition,
            trial=self.case.trial,
            order=self.case.order,
            realm=self.realm,
            session_id=self._agent_session_id(),
            delivery=self.delivery.channel if self.delivery else "none",
            planted=tuple(self.planted),
            injected_ids=self.injected_ids,
            echoed_ids=self._echoed_ids(),
            agent_exit_status=run.exit_status if run else None,
            check_exit_status=self.check_exit_status,
            usage=run.usage if run else Usage(),
            turns=run.turns if run else None,
            seconds=PhaseSeconds(**self.seconds),
            transcript_sha256=self.transcript_sha256,
            diff_sha256=self.diff_sha256,
            check_output_sha256=self.check_output_sha256,
            left_out=self.left_out,
            fault=self.fault,
        )

    def _do(self, phase: Phase, step: Callable[[], None], *, after_fault: bool = False) -> None:
        """Time one phase, and turn what goes wrong in it into the trial's fault."""
        if self.fault is not None and not after_fault:
            return
        memory_fault: dict[Phase, Status] = {"plant": "plant_failed", "forget": "forget_failed"}
        started = time.monotonic()
        try:
            step()
        except MemorySystemError as error:
            self.end(memory_fault.get(phase, "memory_error"), phase, str(error))
        except AgentError as error:
            self.end("agent_error", phase, str(error))
        except OSError as error:
            self.end("infra_error", phase, str(error))
        if phase in PhaseSeconds.model_fields:
            self.seconds[phase] = time.monotonic() - started

    def _prepare(self, root: Path) -> None:
        self.cage = make_cage(root, command_path(self.task.task.requires))
        try:
            self.setting.fixtures.materialize(self.task, self.cage.workdir)
        except SmritiError as error:  # git did not import the history
            self.end("infra_error", "prepare", str(error))

    def _plant(self, store: Store) -> None:
        """Plant the task's memories in their order; those of an adjacent project go to a realm beside the trial's."""
        if self.condition.kind not in _PLANTING_KINDS:
            return
        for realm, memories in _by_realm_in_order(self.task.task.planted_memories):
            planting_realm = self.realm if realm == OWN_REALM else f"{self.realm}-{realm.removeprefix('project:')}"
            ids = store.remember(memories, planting_realm)
            self.planted += [
                Planted(id=id_, source_id=memory.source_id, role=memory.role)
                for id_, memory in zip(ids, memories, strict=False)
            ]
            if len(ids) != len(memories) or len({planted.id for planted in self.planted}) != len(self.planted):
                raise MemorySystemError(f"{len(memories)} memories were planted, and {len(set(ids))} new ids came back")

    def _attach(self, store: Store) -> None:
        assert self.cage is not None
        self.attached_ms = _epoch_ms()
        self.delivery = deliver(
            store.attach(self.realm, self.condition),
            condition=self.condition,
            task=self.task,
            agent=self.setting.agent,
            cage=self.cage,
            run_hook=self.setting.run_hook,
            session_id=self.session_id,
            seed=f"{self.setting.manifest.seed}/{self.case.id}",
        )

    def _run_agent(self, store: Store) -> None:
        assert self.cage is not None
        assert self.delivery is not None
        config = self.setting.manifest.config
        job = AgentJob(
            prompt=self.task.task.prompt,
            cage=self.cage,
            attachment=self.delivery.attachment,
            session_id=self.session_id,
            timeout_s=config.timeout_s,
            max_tokens=config.max_tokens,
            task=self.task,
            seed=f"{config.seed}/{self.case.id}",
        )
        self.run = run_agent(self.setting.agent, job)
        if fault := self.run.fault:
            self.end(fault.status, fault.phase, fault.message)
        used = self.run.usage.total
        if config.max_tokens is not None and used is not None and used > config.max_tokens:
            self.end("token_limit", "agent", f"{used} tokens used, {config.max_tokens} allowed")
        try:
            injected = store.injected(self._agent_session_id(), (self.attached_ms, _epoch_ms()))
        except MemorySystemError as error:
            self.end("memory_error", "confirm", str(error))
        else:
            self.injected_ids = None if injected is None else tuple(injected)

    def _grade(self, root: Path, keep: Keep) -> None:
        """Keep the transcript and the diff of whatever was done; check it if nothing has gone wrong so far."""
        assert self.cage is not None
        assert self.delivery is not None
        assert self.run is not None
        self.transcript_sha256 = keep("transcripts", self.run.transcript)
        read, irregular = read_work(self.cage.workdir, root)
        worked = without_laid_files(read, self.delivery.attachment, self.task.fixture)
        self.diff_sha256 = keep("diffs", unified_diff(self.task.fixture, worked))
        deliverables = select_deliverables(self.task, worked, irregular)
        self.left_out = deliverables.left_out
        if self.fault is None:
            self._check(deliverables.tree, keep)

    def _check(self, graded: FileTree, keep: Keep) -> None:
        """Run the check over `graded`, and refuse a verdict that the check did not come to by itself."""
        self.grading = Path(tempfile.mkdtemp(prefix="grade-", dir=self.setting.gradings))
        try:
            with self.setting.cores:
                checked = run_check(self.task, graded, self.grading)
        except FileNotFoundError as error:
            self.end("check_error", "grade", str(error))
            return
        self.seconds["check"] = checked.seconds
        self.check_output_sha256 = keep("checks", checked.stdout + checked.stderr)
        self.check_exit_status = checked.exit_status
        if checked.exit_status is None:
            self.end("check_timeout", "grade", f"no verdict within {self.task.task.timeout_s:g} s")
        elif checked.exit_status < 0:
            self.end("check_error", "grade", f"the check was ended by signal {-checked.exit_status}")
        elif altered := altered_checks(self.task, self.grading):
            self.end("check_error", "grade", f"of the check's own files these were altered: {', '.join(altered)}")
        elif checked.exit_status == 0 and graded == self.task.fixture:
            self.end("check_error", "grade", "passed without any change to the fixture")

    def _forget(self, store: Store) -> None:
        if self.planted:
            store.forget([planted.id for planted in self.planted])
        self.forgotten = True

    def _agent_session_id(self) -> str:
        """Return the session that memory was delivered to: the agent's own, unless the harness ran the hooks for it."""
        if self.run is None or self.delivery is None or self.delivery.channel == "prompt":
            return self.session_id
        return self.run.session_id or self.session_id

    def _echoed_ids(self) -> tuple[str, ...]:
        said = " ".join(self.run.said.split()) if self.run else ""
        texts = {memory.source_id: " ".join(memory.content.split()) for memory in self.task.task.planted_memories}
        return tuple(planted.id for planted in self.planted if texts[planted.source_id] in said)


def _by_realm_in_order(memories: Sequence[Memory]) -> Iterator[tuple[str, list[Memory]]]:
    for realm, run in groupby(memories, key=lambda memory: memory.realm):
        yield realm, list(run)


def _epoch_ms() -> int:
    return time.time_ns() // 1_000_000
