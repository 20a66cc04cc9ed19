"""SMRITI-Bench: does memory make the agent better? The whole matrix as the runner sees it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from smriti import process
from smriti.errors import MemorySystemError
from smriti.protocols import Agent, HookRunner, Keep, MemorySystem
from smriti.receipts.writer import stated
from smriti.sandbox.filetree import unlock
from smriti.sandbox.fixture import Fixtures
from smriti.sandbox.none import missing_commands
from smriti.score.bench import planned_cases
from smriti.suites.bench.stores import StorePool
from smriti.suites.bench.trial import Setting, Trial
from smriti.types import BenchManifest, TaskFolder, TrialCase, TrialEvidence

_STORE_FAULTS = {"plant_failed", "memory_error", "forget_failed", "infra_error"}
"""After one of these nobody knows what a store holds: it is closed and not lent again."""


class BenchSuite:
    """The bench. Only protocols come in: the systems and the agent are whatever the caller chose."""

    def __init__(
        self,
        manifest: BenchManifest,
        tasks: Sequence[TaskFolder],
        *,
        memory: MemorySystem,
        file_memory: MemorySystem,
        agent: Agent,
        run_hook: HookRunner,
        scratch: Path,
    ) -> None:
        self.manifest = manifest
        self._tasks = {folder.task.id: folder for folder in tasks}
        self._missing = {folder.task.id: missing_commands(folder.commands) for folder in tasks}
        self._trials = scratch / "trials"
        self._setting = Setting(
            manifest=manifest,
            manifest_sha256=hashlib.sha256(stated(manifest)).hexdigest(),
            agent=agent,
            run_hook=run_hook,
            fixtures=Fixtures(scratch / "fixtures"),
            gradings=scratch,
            cores=threading.Semaphore(os.cpu_count() or 1),
        )
        self._memory_stores = StorePool(memory, scratch / "stores" / "memory")
        self._file_stores = StorePool(file_memory, scratch / "stores" / "file")

    def steps(self, done: Collection[str]) -> list[TrialCase]:
        """Return what is left of the matrix, in its seeded order: a step is a trial."""
        return [case for case in planned_cases(self.manifest) if case.id not in done]

    def work(self, keep: Keep) -> Callable[[TrialCase], TrialEvidence]:
        return lambda case: self._attempt(case, keep)

    def evidence(self, result: TrialEvidence) -> list[TrialEvidence]:
        return [result]

    def _attempt(self, case: TrialCase, keep: Keep) -> TrialEvidence:
        """Attempt one trial; nothing of it is left on the disk but what `keep` stored."""
        trial = Trial(self._setting, self._tasks[case.task_id], case)
        missing = self._missing[case.task_id]
        if missing:
            trial.end("skipped", "prepare", f"not on this machine: {', '.join(missing)}")
            return trial.evidence()
        stores = self._file_stores if trial.condition.kind == "file" else self._memory_stores
        root = self._trials / uuid.uuid4().hex
        try:
            with stores.borrow() as lease:
                trial.attempt(lease.store, root, keep)
                unsure = trial.fault is not None and trial.fault.status in _STORE_FAULTS
                lease.reusable = trial.forgotten and not unsure
        except MemorySystemError as error:
            trial.end("memory_error", "prepare", f"the memory system could not be opened or closed: {error}")
        except OSError as error:
            trial.end("infra_error", "prepare", f"no place for the memory system's store: {error}")
        finally:
            _tear_down(trial, root)
        return trial.evidence()

    def close(self) -> None:
        """Close every store."""
        with contextlib.closing(self._memory_stores), contextlib.closing(self._file_stores):
            pass


def _tear_down(trial: Trial, root: Path) -> None:
    for directory in filter(None, (trial.grading, root)):
        try:
            _remove(directory)
        except OSError as error:
            trial.end("infra_error", "teardown", f"something of the trial is left on the disk: {error}")


def _remove(root: Path) -> None:
    """Remove a trial's directories, also where the agent took permissions away."""
    if not root.exists():
        return
    try:
        shutil.rmtree(root)
    except RecursionError:  # Python 3.11 and 3.12 go down a tree by calling themselves
        process.run(["rm", "-rf", str(root)], cwd=root.parent, env={"PATH": os.defpath}, timeout_s=60)
        if root.exists():
            raise OSError(f"{root.name} is nested too deep to be removed") from None
    except PermissionError:
        unlock(root)
        shutil.rmtree(root)
