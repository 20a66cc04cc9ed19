"""Memory systems that try to earn figures without remembering anything well. Each takes what it can get."""

from __future__ import annotations

import random as chance
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from smriti.memory.off import OffStore
from smriti.protocols import MemorySystem
from smriti.types import Hit, Memory
from tests.suites.retrieval.fakes import System, answering, hit_of


def random(seed: int = 0) -> System:
    """Ranks at random: the same order for the same seed and query."""

    def search(memories: list[Memory], query: str, k: int) -> list[Hit]:
        drawn = chance.Random(f"{seed}/{query}").sample(memories, len(memories))
        return [hit_of(memory, -float(rank)) for rank, memory in enumerate(drawn)][:k]

    return answering(search)


def dump_all() -> System:
    """Gives one hit, which claims to be of every source."""
    return answering(lambda memories, _query, _k: [Hit("all", "", 1.0, tuple(memory.source_id for memory in memories))])


def all_alike() -> System:
    """Gives every document the same, highest score, so that each is tied for the first rank."""
    return answering(lambda memories, _query, k: [hit_of(memory, 1.0) for memory in memories][:k])


def label_reader() -> System:
    """Puts first what bears a label of the data set, wherever in what it is given that stands."""

    def labelled(memory: Memory) -> bool:
        given = memory.model_dump_json().replace(" ", "").replace("\\", "")
        return '"has_answer":true' in given or '"answer' in given

    return _first(labelled)


def prefix_ranker() -> System:
    """Puts first what has an id that begins with `answer`, as evidence has in LongMemEval's files."""
    return _first(lambda memory: memory.source_id.startswith("answer"))


def id_guesser(known: Mapping[str, Collection[str]]) -> System:
    """Gives, without having been given them, the ids that are `known` to be gold of a query, and likely others."""

    def search(_memories: list[Memory], query: str, _k: int) -> list[Hit]:
        guessed = [*known.get(query, ()), "answer_0", "answer_1", "gold"]
        return [Hit(f"guess-{source_id}", "", 1.0, (source_id,)) for source_id in guessed]

    return answering(search)


def overflow() -> System:
    """Gives more hits than were asked for: everything, twice, so that nothing is left out."""
    return answering(lambda memories, _query, _k: [hit_of(memory) for memory in memories] * 2)


def failing_on_hard(honest: MemorySystem, gold: Mapping[str, Collection[str]], k: int) -> System:
    """Does as `honest`, and fails where that would not put all of the `gold` of a query into the first k hits."""

    class Choosy(OffStore):
        def __init__(self, workspace: Path) -> None:
            self._store = honest.open(workspace)

        def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
            return self._store.remember(memories, realm)

        def search(self, query: str, realm: str, most: int, layer: str | None = None) -> list[Hit]:
            hits = self._store.search(query, realm, most, layer)
            found = {source_id for hit in hits[:k] for source_id in hit.source_ids}
            if not found.issuperset(gold[query]):
                raise TimeoutError("try again")
            return hits

    return System(Choosy)


def _first(likely: Callable[[Memory], bool]) -> System:
    def search(memories: list[Memory], _query: str, k: int) -> list[Hit]:
        ranked = sorted(memories, key=likely, reverse=True)
        return [hit_of(memory, float(likely(memory))) for memory in ranked][:k]

    return answering(search)
