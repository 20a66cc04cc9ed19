"""The embedded memory system as suites see it."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import RLock

from smriti.errors import MemorySystemError
from smriti.memory.embedded import hook, ledger, store, vector
from smriti.memory.embedded.lanes import LANES, Question, recall, recall_from
from smriti.memory.embedded.store import Draft, MemoryFile
from smriti.types import Attachment, Condition, Hit, Hook, Memory, SystemIdentity


class EmbeddedMemory:
    """SQLite with FTS5, six lanes and agent hooks, without a server."""

    name = "embedded"
    lanes = tuple(LANES)
    capabilities = frozenset({"supersede", "projects", "provenance", "layers", "restart"})

    @property
    def version(self) -> str:
        try:
            return version("smriti")
        except PackageNotFoundError as error:
            raise MemorySystemError(
                "smriti is not installed in this environment, so its hooks would not start; `pip install` it"
            ) from error

    def identity(self) -> SystemIdentity:
        detail = {"lanes": list(self.lanes), "vectoriser": vector.NAME, "sqlite": sqlite3.sqlite_version}
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> EmbeddedStore:
        """Open the store in `workspace`/embedded, as a private copy of the store in `replica` if that is given."""
        home = workspace.absolute() / "embedded"
        if replica is not None:
            _copy(replica, home)
        return EmbeddedStore(home)


class EmbeddedStore:
    """An opened store; threads may share it, and take turns."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._turn = RLock()
        self._memories = self._opened()

    def remember(self, memories: Sequence[Memory], realm: str, supersedes: Sequence[str] = ()) -> list[str]:
        """Store `memories` in order, all or none; `supersedes` names what a correction, given alone, replaces."""
        with self._turn:
            drafts = [Draft(memory.content, memory.type, memory.source_id) for memory in memories]
            return self._memories.remember(drafts, realm, supersedes)

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Return at most `k` hits of the fusion, or of the lane `layer` alone; empty where nothing matches."""
        if layer is not None and layer not in LANES:
            raise MemorySystemError(
                f"layer {layer!r} is not a lane of the embedded memory; its lanes are {', '.join(LANES)}"
            )
        with self._turn:
            question = Question(self._memories, query, realm, k)
            found = recall(question) if layer is None else recall_from(layer, question)
        return [
            Hit(id=memory.id, content=memory.content, score=score, source_ids=(memory.source_id,))
            for memory, score, _ in found
        ]

    def forget(self, ids: Sequence[str]) -> None:
        with self._turn:
            self._memories.forget(ids)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Give hooks under on and ablate, else none and the kill switch for any that are configured elsewhere."""
        env = {"SMRITI_MEM_HOME": str(self.home), "SMRITI_MEM_REALM": realm}
        if condition.kind not in ("on", "ablate"):
            return Attachment(env=env | {"SMRITI_MEM_HEADLESS": "1"})
        if condition.kind == "ablate":
            env["SMRITI_MEM_ABLATE_LANES"] = _ablated(condition)
        command = (sys.executable, "-I", "-m", "smriti.memory.embedded", "hook")
        return Attachment(env=env, hooks=(Hook(hook.EVENT, command),))

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str]:
        """Return what the ledger says was injected into the session, which it knows by id: `window` is not needed."""
        del window
        return ledger.injected_ids(str(self.home), session_id)

    def restart(self) -> None:
        with self._turn:
            self._memories.close()
            self._memories = self._opened()

    def close(self) -> None:
        with self._turn:
            self._memories.close()

    def _opened(self) -> MemoryFile:
        return MemoryFile.open(str(self.home), durable=False)


def _ablated(condition: Condition) -> str:
    if condition.lane == "all":
        return ",".join(LANES)
    if condition.lane not in LANES:
        raise MemorySystemError(
            f"condition {condition} names no lane of the embedded memory; its lanes are {', '.join(LANES)}"
        )
    return condition.lane


def _copy(replica: Path, home: Path) -> None:
    """Copy a store's files; the copy of a store that is being written to would be torn, so close it before."""
    if (home / store.FILE_NAME).exists():
        raise MemorySystemError(
            f"{home}: there is a store already, and {replica} would be copied over it; expected a fresh workspace"
        )
    if not (replica / store.FILE_NAME).is_file():
        raise MemorySystemError(
            f"{replica}: the replica has no {store.FILE_NAME}; expected the directory of an embedded store"
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name in (store.FILE_NAME, f"{store.FILE_NAME}-wal", ledger.FILE_NAME):
            if (replica / name).exists():
                shutil.copyfile(replica / name, home / name)
    except OSError as error:
        raise MemorySystemError(f"{replica}: the replica cannot be copied to {home}: {error}") from error
