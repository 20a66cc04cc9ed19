"""The list of memories that `grep` and `bm25` keep for each realm."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from smriti.errors import MemorySystemError
from smriti.memory._ranked import RankedStore
from smriti.types import Attachment, Condition, Hit, Memory

REALM, OTHER = "project:gatehouse", "project:boathouse"


class Newest:
    """An index that ranks the newest first, whatever is asked."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)

    def rank(self, query: str, k: int) -> tuple[list[int], list[float]]:
        del query
        order = list(range(len(self.texts)))[::-1][:k]
        return order, [float(at) for at in order]


class Indexing:
    """Makes an index, and remembers of which texts."""

    def __init__(self) -> None:
        self.made: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Newest:
        self.made.append(list(texts))
        return Newest(texts)


@pytest.fixture
def indexing() -> Indexing:
    return Indexing()


@pytest.fixture
def store(indexing: Indexing) -> RankedStore:
    return RankedStore("flat", indexing)


def memories(*contents: str) -> list[Memory]:
    return [
        Memory(content=content, type="wisdom", role="convention", source_id=f"of {content}") for content in contents
    ]


def found(store: RankedStore, realm: str = REALM, k: int = 10) -> list[str]:
    return [hit.content for hit in store.search("?", realm, k)]


def test_hits_have_the_memory_s_id_text_and_source_and_the_score_of_the_index(store: RankedStore) -> None:
    store.remember(memories("One.", "Two."), REALM)
    hits = store.search("?", REALM, 10)
    assert hits == [Hit("flat-1", "Two.", 1.0, ("of Two.",)), Hit("flat-0", "One.", 0.0, ("of One.",))]
    assert [type(hit.score) for hit in hits] == [float, float]
    assert hash(hits[0]) == hash(Hit("flat-1", "Two.", 1.0, ("of Two.",)))


def test_at_most_k_hits_come_back(store: RankedStore) -> None:
    store.remember(memories("One.", "Two.", "Three."), REALM)
    assert [found(store, k=k) for k in (-1, 0, 1, 2, 9)] == [
        [],
        [],
        ["Three."],
        ["Three.", "Two."],
        ["Three.", "Two.", "One."],
    ]


def test_texts_are_indexed_as_they_are_remembered_and_by_a_search_only_after_some_were_forgotten(
    store: RankedStore, indexing: Indexing
) -> None:
    ids = store.remember(memories("One.", "Two."), REALM)
    store.remember(memories("Three."), OTHER)
    assert indexing.made == [["One.", "Two."], ["Three."]]
    for _ in range(2):
        assert found(store) == ["Two.", "One."]
        assert found(store, OTHER) == ["Three."]
    assert indexing.made == [["One.", "Two."], ["Three."]]
    store.remember(memories("Four."), REALM)
    store.forget(ids[:1])
    for _ in range(2):
        assert found(store) == ["Four.", "Two."]
        assert found(store, OTHER) == ["Three."]
    assert indexing.made[2:] == [["One.", "Two.", "Four."], ["Two.", "Four."]]


def test_nothing_is_indexed_for_a_realm_without_memories(store: RankedStore, indexing: Indexing) -> None:
    store.remember([], REALM)
    assert found(store) == []
    assert indexing.made == []
    store.forget(store.remember(memories("One."), REALM))
    assert found(store) == []
    assert indexing.made == [["One."]]


def test_an_id_named_twice_is_forgotten_once(store: RankedStore) -> None:
    [gone, _] = store.remember(memories("One.", "Two."), REALM)
    store.forget([gone, gone])
    assert found(store) == ["Two."]


def test_with_an_unknown_id_among_them_none_is_forgotten(store: RankedStore) -> None:
    [known] = store.remember(memories("One."), REALM)
    with pytest.raises(MemorySystemError, match="flat: no memory has the id 'flat-9'; nothing was forgotten"):
        store.forget([known, "flat-9"])
    assert found(store) == ["One."]


def test_a_layer_is_refused(store: RankedStore) -> None:
    with pytest.raises(MemorySystemError, match="flat: has no layer 'kw'"):
        store.search("?", REALM, 10, "kw")


@pytest.mark.parametrize("condition", ["off", "on", "handed", "placebo", "file", "ablate:all"])
def test_nothing_is_attached_under_any_condition(store: RankedStore, condition: str) -> None:
    store.remember(memories("One."), REALM)
    assert store.attach(REALM, Condition.parse(condition)) == Attachment()


def test_it_cannot_tell_what_reached_an_agent(store: RankedStore) -> None:
    store.remember(memories("One."), REALM)
    # The type says that it is None; what is asked here is that it is not a list that could read as "nothing".
    assert store.injected("session", (0, 2**53)) is None  # type: ignore[func-returns-value]


def test_a_restart_keeps_the_memories_and_a_close_ends_them(store: RankedStore) -> None:
    ids = store.remember(memories("One."), REALM)
    store.restart()
    assert found(store) == ["One."]
    store.close()
    assert found(store) == []
    with pytest.raises(MemorySystemError, match="no memory has the id"):
        store.forget(ids)
