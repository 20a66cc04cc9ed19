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
from smriti.memory.embedded import finding, hook, ledger, store, vector
from smriti.memory.embedded.finding import LAYERS, Found
from smriti.memory.embedded.journal import Journal, Sighting
from smriti.memory.embedded.lanes import LANES
from smriti.memory.embedded.store import Draft, MemoryFile
from smriti.types import (
    Action,
    Attachment,
    Condition,
    Hit,
    Hook,
    Memory,
    Observation,
    Recalled,
    RecallForm,
    SystemIdentity,
)


class EmbeddedMemory:
    """SQLite with FTS5, six lanes and agent hooks, without a server."""

    name = "embedded"
    lanes = tuple(LANES)
    layers = tuple(layer for layer in LAYERS if layer != "xr")
    """What searches a realm alone; `search` takes xr as well, the lane that is there to ask other projects."""
    capabilities = frozenset(
        {
            "supersede",
            "update",
            "expand",
            "capture",
            "actions",
            "budget",
            "layers",
            "projects",
            "global",
            "provenance",
            "restart",
        }
    )

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
        """Return at most `k` hits of a layer, or of the memories; empty where nothing matches.

        No layer but xr returns what belongs to another project; see finding.py.
        """
        with self._turn:
            return list(map(_hit, finding.search(self._memories, query, realm, k, layer)))

    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        """Store `memory` in the place of one of the same realm; whatever its type, it is stored as a correction."""
        with self._turn:
            draft = Draft(memory.content, "correction", memory.source_id)
            return self._memories.remember([draft], realm, [memory_id])[0]

    def update(self, memory_id: str, content: str) -> str:
        """Change what a memory says; it keeps its id."""
        with self._turn:
            self._memories.update(memory_id, content)
        return memory_id

    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        """Search the memories, with contents cut to 80 characters and `…`."""
        with self._turn:
            found = finding.search(self._memories, query, realm, k)
        return [_hit(finding.compacted(hit)) for hit in found]

    def expand(self, memory_id: str) -> str:
        with self._turn:
            return finding.expand(self._memories, memory_id).content

    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        """Store observations in order, all or none; the layer `observations` finds them, and a recall."""
        sightings = [Sighting(seen.session_id, seen.tool, seen.content, seen.source_id) for seen in observations]
        with self._turn:
            return Journal(self._memories).capture(sightings, realm)

    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        with self._turn:
            return Journal(self._memories).act(title, memory_ids, realm)

    def actions(self, realm: str) -> list[Action]:
        with self._turn:
            deeds = Journal(self._memories).actions(realm)
        return [Action(id=deed.id, title=deed.title, memory_ids=deed.memory_ids) for deed in deeds]

    def recall(self, query: str, realm: str, form: RecallForm, budget: int, layer: str | None = None) -> Recalled:
        """Disclose what matches in at most `budget` tokens of four characters; see finding.py."""
        with self._turn:
            disclosed = finding.recall_within(self._memories, query, realm, form=form, budget=budget, layer=layer)
        return Recalled(tuple(map(_hit, disclosed.hits)), disclosed.text, disclosed.cut)

    def forget(self, ids: Sequence[str]) -> None:
        with self._turn:
            Journal(self._memories).forget(ids)

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


def _hit(found: Found) -> Hit:
    recorded = found.recorded
    return Hit(id=recorded.id, content=recorded.content, score=found.score, source_ids=(recorded.source_id,))


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
