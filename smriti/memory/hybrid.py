"""Memories ranked by words and by meaning at once: reciprocal rank fusion of `bm25` and `vector`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import bm25, vector
from smriti.protocols import MemorySystem, Store
from smriti.types import Attachment, Condition, Hit, Memory, SystemIdentity

K = 60
"""The constant of Cormack, Clarke and Büttcher, Reciprocal Rank Fusion, SIGIR 2009."""


def create(argument: str | None) -> HybridMemory:
    """Make the system; UsageError if an argument is given, and without the packages of `smriti[vector]`."""
    if argument is not None:
        raise UsageError(f"memory system 'hybrid' takes no argument, found {argument!r}")
    return HybridMemory(bm25.create(None), vector.create(None))


def sources(argument: str | None) -> dict[str, str]:
    """Return the digests of the model and of its tokeniser."""
    return vector.sources(argument)


class HybridMemory:
    """Asks both systems for the whole realm and adds up what each rank is worth."""

    name = "hybrid"
    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def __init__(self, *systems: MemorySystem) -> None:
        self._systems = systems

    def identity(self) -> SystemIdentity:
        fusion = f"sum of 1 / ({K} + rank); equal scores of one system share a rank"
        parts = {system.name: system.identity().model_dump() for system in self._systems}
        return SystemIdentity(
            name=self.name, version=self.version, detail={"fusion": fusion, "ties": "input order", **parts}
        )

    def open(self, workspace: Path, replica: Path | None = None) -> HybridStore:
        """Open an empty store of each; MemorySystemError for a replica, which they do not have."""
        if replica is not None:
            raise MemorySystemError("hybrid: there is no stored form to replicate")
        with contextlib.ExitStack() as opened:
            stores = []
            for system in self._systems:
                stores.append(system.open(workspace / system.name))
                opened.callback(stores[-1].close)
            opened.pop_all()
        return HybridStore(stores)


@dataclass(frozen=True, slots=True)
class _Remembered:
    memory: Memory
    realm: str
    part_ids: tuple[str, ...]
    """Its id in each of the stores."""


class HybridStore:
    """Each memory under an id of its own, and in every one of `stores`."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self._given = 0
        self._memories: dict[str, _Remembered] = {}

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        """Remember in every store, or where one fails in none."""
        in_stores: list[list[str]] = []
        with contextlib.ExitStack() as undo:
            for store in self._stores:
                in_stores.append(store.remember(memories, realm))
                undo.callback(store.forget, in_stores[-1])
            undo.pop_all()
        ids = [f"hybrid-{self._given + index}" for index in range(len(memories))]
        self._given += len(memories)
        for id_, memory, *part_ids in zip(ids, memories, *in_stores, strict=True):
            self._memories[id_] = _Remembered(memory, realm, tuple(part_ids))
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Rank the realm by the fused score; the older comes first among equals."""
        if layer is not None:
            raise MemorySystemError(f"hybrid: has no layer {layer!r}")
        held = {id_: remembered for id_, remembered in self._memories.items() if remembered.realm == realm}
        rankings = [ranks(store.search(query, realm, len(held))) for store in self._stores]
        scores = {
            id_: fused(ranking.get(part_id) for ranking, part_id in zip(rankings, remembered.part_ids, strict=True))
            for id_, remembered in held.items()
        }
        best = sorted((id_ for id_ in held if scores[id_] > 0), key=lambda id_: -scores[id_])[:k]
        return [Hit(id_, held[id_].memory.content, scores[id_], (held[id_].memory.source_id,)) for id_ in best]

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, all or none."""
        unknown = [id_ for id_ in ids if id_ not in self._memories]
        if unknown:
            raise MemorySystemError(f"hybrid: no memory has the id {unknown[0]!r}; nothing was forgotten")
        gone = [self._memories.pop(id_) for id_ in dict.fromkeys(ids)]
        for index, store in enumerate(self._stores):
            store.forget([remembered.part_ids[index] for remembered in gone])

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Return nothing: neither system has hooks, nor a file that an agent reads."""
        del realm, condition
        return Attachment()

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        """Return None: it is not told what reached an agent."""
        del session_id, window

    def restart(self) -> None:
        for store in self._stores:
            store.restart()

    def close(self) -> None:
        self._memories.clear()
        with contextlib.ExitStack() as closing:
            for store in self._stores:
                closing.callback(store.close)


def ranks(hits: Sequence[Hit]) -> Mapping[str, int]:
    """Return id → rank from 1; equal scores share the best rank of theirs.

    BM25 gives 0 to all that share no word with the query: by their places, the oldest of those would be worth most.
    """
    ranking: dict[str, int] = {}
    rank, score = 0, None
    for place, hit in enumerate(hits, start=1):
        if hit.score != score:
            rank, score = place, hit.score
        ranking[hit.id] = rank
    return ranking


def fused(ranks_of_one: Iterable[int | None]) -> float:
    """Add up what the ranks of one memory are worth; None, where a system did not return it, is worth nothing."""
    return sum(1 / (K + rank) for rank in ranks_of_one if rank is not None)
