"""No memory at all: the null system, whose on is its off. A run of it measures the harness's own noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smriti.errors import MemorySystemError, UsageError
from smriti.types import Attachment, Condition, Hit, Memory, SystemIdentity


def create(argument: str | None) -> OffMemory:
    """Make the system; UsageError if an argument is given."""
    if argument is not None:
        raise UsageError(f"memory system 'off' takes no argument, found {argument!r}")
    return OffMemory()


class OffMemory:
    """Accepts memories, and lets nothing come back."""

    name = "off"
    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version)

    def open(self, workspace: Path, replica: Path | None = None) -> OffStore:
        del workspace, replica
        return OffStore()


class OffStore:
    """Knows which ids it gave out, and nothing else."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._given = 0

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        del realm
        ids = [f"off-{self._given + index}" for index in range(len(memories))]
        self._given += len(memories)
        self._ids.update(ids)
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        del query, realm, k, layer
        return []

    def forget(self, ids: Sequence[str]) -> None:
        unknown = sorted(set(ids) - self._ids)
        if unknown:
            raise MemorySystemError(f"off: no memory has the id {unknown[0]!r}; nothing was forgotten")
        self._ids.difference_update(ids)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        del realm, condition
        return Attachment()

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str]:
        del session_id, window
        return []

    def restart(self) -> None:
        """Nothing to restart."""

    def close(self) -> None:
        """Nothing to close."""
