"""What `grep` and `bm25` share: a list of memories for each realm, and an index of it once it is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Protocol

from smriti.errors import MemorySystemError
from smriti.types import Attachment, Condition, Hit, Memory


class Index(Protocol):
    """An index of the texts of one realm."""

    def rank(self, query: str, k: int) -> tuple[list[int], list[float]]:
        """Return the positions of at most `k` texts, best first, and their scores."""


class RankedStore:
    """A list of memories for each realm, searched whole through what `index` makes of their texts.

    The index is made when something is remembered, so that no search is charged with it, and by the first search after
    something was forgotten.
    """

    def __init__(self, name: str, index: Callable[[Sequence[str]], Index]) -> None:
        import numpy as np  # noqa: PLC0415  # here, so that no time of remembering or searching has its import in it

        del np
        self._name = name
        self._index = index
        self._realms: dict[str, dict[str, Memory]] = {}
        self._realm_of: dict[str, str] = {}
        self._indexed: dict[str, _Indexed] = {}
        self._given = 0

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        ids = [f"{self._name}-{number}" for number in range(self._given, self._given + len(memories))]
        self._given += len(memories)
        self._realms.setdefault(realm, {}).update(zip(ids, memories, strict=True))
        self._realm_of.update(zip(ids, repeat(realm)))
        if memories:
            self._indexed[realm] = _Indexed(self._realms[realm], self._index)
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Rank the memories of the realm; those of other realms change nothing, and a realm without any has no hits."""
        if layer is not None:
            raise MemorySystemError(f"{self._name}: has no layer {layer!r}")
        memories = self._realms.get(realm)
        if not memories or k < 1:
            return []
        indexed = self._indexed.get(realm)
        if indexed is None:
            indexed = self._indexed[realm] = _Indexed(memories, self._index)
        return indexed.search(query, k)

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, all or none."""
        unknown = [id_ for id_ in ids if id_ not in self._realm_of]
        if unknown:
            raise MemorySystemError(f"{self._name}: no memory has the id {unknown[0]!r}; nothing was forgotten")
        for id_ in set(ids):
            realm = self._realm_of.pop(id_)
            del self._realms[realm][id_]
            self._indexed.pop(realm, None)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Return an empty attachment: there is nothing here by which an agent could search."""
        del realm, condition
        return Attachment()

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        """Return None: there is no ledger."""
        del session_id, window

    def restart(self) -> None:
        """Nothing to restart."""

    def close(self) -> None:
        self._realms.clear()
        self._realm_of.clear()
        self._indexed.clear()


class _Indexed:
    """The memories of one realm as columns, with their index."""

    def __init__(self, memories: dict[str, Memory], index: Callable[[Sequence[str]], Index]) -> None:
        self._ids = list(memories)
        self._contents = [memory.content for memory in memories.values()]
        self._sources = [(memory.source_id,) for memory in memories.values()]
        self._index = index(self._contents)

    def search(self, query: str, k: int) -> list[Hit]:
        order, scores = self._index.rank(query, k)
        columns = (self._ids, self._contents, self._sources)
        ids, contents, sources = (map(column.__getitem__, order) for column in columns)
        return list(map(Hit._make, zip(ids, contents, scores, sources, strict=True)))
