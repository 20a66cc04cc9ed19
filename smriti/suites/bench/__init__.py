"""SMRITI-Bench: does memory make the agent better? The whole matrix as the runner sees it."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from smriti.errors import MemorySystemError
from smriti.protocols import Agent, HookRunner, Keep, MemorySystem
from smriti.sandbox.fixture import Fixtures
from smriti.sandbox.none import missing_commands
from smriti.score import planned_cases
from smriti.suites.bench.stores import StorePool
from smriti.suites.bench.trial import Setting, Trial
from smriti.types import Manifest, TaskFolder, TrialCase, TrialEvidence

_STORE_FAULTS = {"plant_failed", "memory_error", "forget_failed", "infra_error"}
"""After one of these nobody knows what a store holds: it is closed and not lent again."""


class BenchSuite:
    """The bench. Only protocols come in: the systems and the agent are whatever the caller chose."""

    def __init__(
        self,
        manifest: Manifest,
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
        self._missing = {folder.task.id: missing_commands(folder.task.requires) for folder in tasks}
        self._trials = scratch / "trials"
        self._setting = Setting(manifest, agent, run_hook, Fixtures(scratch / "fixtures"))
        self._memory_stores = StorePool(memory, scratch / "stores" / "memory")
        self._file_stores = StorePool(file_memory, scratch / "stores" / "file")

    def cases(self) -> list[TrialCase]:
        """Return the whole matrix in its seeded order."""
        return planned_cases(self.manifest)

    def step(self, case: TrialCase, keep: Keep) -> TrialEvidence:
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
                lease.reusable = trial.fault is None or trial.fault.status not in _STORE_FAULTS
        except MemorySystemError as error:
            trial.end("memory_error", "prepare", f"the memory system could not be opened or closed: {error}")
        finally:
            _remove(root)
        return trial.evidence()

    def open_once(self) -> None:
        """Open the memory system and put it back, so that one that cannot be opened is found before anything runs."""
        with self._memory_stores.borrow():
            pass

    def close(self) -> None:
        """Close every store."""
        self._memory_stores.close()
        self._file_stores.close()


def _remove(root: Path) -> None:
    """Remove a trial's directories, also where the agent took permissions away."""

    def allow_and_retry(remove: Callable[[str], object], path: str, _error: object) -> None:
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        remove(path)

    if root.exists():
        shutil.rmtree(root, onerror=allow_and_retry)
