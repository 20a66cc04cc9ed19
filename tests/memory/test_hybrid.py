"""The `hybrid` memory: fusion with two systems played by hand, and the real two where the model is installed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import bm25, hybrid, vector
from smriti.memory.hybrid import HybridMemory, HybridStore, fused, ranks
from smriti.types import Attachment, Condition, Hit, Memory, SystemIdentity

REALM, OTHER = "project:gatehouse", "project:boathouse"


class Scored:
    """A store that scores each text as a test says, and leaves out what it does not name."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores
        self.held: dict[str, tuple[str, Memory]] = {}
        self.asked: list[tuple[str, str, int]] = []
        self.calls: list[str] = []
        self.broken = False
        self._given = 0

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        if self.broken:
            raise MemorySystemError("out of order")
        ids = [f"id-{self._given + index}" for index in range(len(memories))]
        self._given += len(ids)
        self.held.update({id_: (realm, memory) for id_, memory in zip(ids, memories, strict=True)})
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        assert layer is None
        self.asked.append((query, realm, k))
        hits = [
            Hit(id_, memory.content, self.scores[memory.content])
            for id_, (in_realm, memory) in self.held.items()
            if in_realm == realm and memory.content in self.scores
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def forget(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            del self.held[id_]

    def attach(self, realm: str, condition: Condition) -> Attachment:
        raise NotImplementedError

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        raise NotImplementedError

    def restart(self) -> None:
        self.calls.append("restart")

    def close(self) -> None:
        self.calls.append("close")


class System:
    """A system that opens the store it was given, or fails to."""

    version = "7"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()

    def __init__(self, name: str, store: Scored | None) -> None:
        self.name = name
        self._store = store

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version, detail={"made": "by hand"})

    def open(self, workspace: Path, replica: Path | None = None) -> Scored:
        del workspace, replica
        if self._store is None:
            raise MemorySystemError("cannot be opened")
        return self._store


def memories(*contents: str) -> list[Memory]:
    return [
        Memory(content=content, type="wisdom", role="convention", source_id=f"m{number}")
        for number, content in enumerate(contents)
    ]


def both(words: Mapping[str, float], meaning: Mapping[str, float]) -> tuple[HybridStore, Scored, Scored]:
    one, other = Scored(words), Scored(meaning)
    return HybridStore([one, other]), one, other


def found(store: HybridStore, realm: str = REALM, k: int = 10) -> list[str]:
    return [hit.content for hit in store.search("?", realm, k)]


# Fusion


def test_the_score_is_the_sum_of_1_over_60_plus_rank() -> None:
    store, _, _ = both({"a": 9, "b": 5, "c": 1}, {"a": 0.1, "b": 0.3, "c": 0.2})
    store.remember(memories("a", "b", "c"), REALM)
    hits = store.search("?", REALM, 10)
    assert [(hit.content, hit.source_ids) for hit in hits] == [("b", ("m1",)), ("a", ("m0",)), ("c", ("m2",))]
    assert [hit.score for hit in hits] == pytest.approx([1 / 62 + 1 / 61, 1 / 61 + 1 / 63, 1 / 63 + 1 / 62])


def test_equals_keep_the_input_order_and_what_no_system_returns_does_not_come_back() -> None:
    store, _, _ = both({"a": 1, "b": 2, "d": 0}, {"a": 2, "b": 1})
    store.remember(memories("b", "a", "c", "d"), REALM)
    assert found(store) == ["b", "a", "d"]
    assert found(store, k=1) == ["b"]


def test_equal_scores_share_a_rank_so_that_being_the_oldest_of_many_zeros_is_worth_nothing() -> None:
    store, _, _ = both({"a": 0, "b": 0, "c": 0}, {"a": 0.1, "b": 0.2, "c": 0.3})
    store.remember(memories("a", "b", "c"), REALM)
    assert found(store) == ["c", "b", "a"]
    assert ranks([Hit("a", "", 2), Hit("b", "", 1), Hit("c", "", 1), Hit("d", "", 0)]) == {
        "a": 1,
        "b": 2,
        "c": 2,
        "d": 4,
    }


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_a_memory_that_both_rank_at_least_as_high_never_comes_after(scores: list[tuple[int, int]]) -> None:
    names = [f"t{number}" for number in range(len(scores))]
    store, _, _ = both(
        dict(zip(names, [words for words, _ in scores], strict=True)),
        dict(zip(names, [meaning for _, meaning in scores], strict=True)),
    )
    store.remember(memories(*names), REALM)
    order = [int(name[1:]) for name in found(store, k=99)]
    assert sorted(order) == list(range(len(scores)))
    for place, before in enumerate(order):
        for after in order[place + 1 :]:
            beaten = all(mine <= theirs for mine, theirs in zip(scores[before], scores[after], strict=True))
            assert not beaten or (scores[before] == scores[after] and before < after)


def test_a_missing_rank_is_worth_nothing() -> None:
    assert fused([None, 1]) == 1 / 61
    assert fused([None, None]) == 0
    assert math.isclose(fused([1, 1]), 2 / 61)


def test_each_system_is_asked_once_for_all_of_the_realm_and_nothing_of_another() -> None:
    store, words, meaning = both({"a": 1, "b": 2, "x": 9}, {"a": 1, "b": 2, "x": 9})
    store.remember(memories("a", "b"), REALM)
    store.remember(memories("x"), OTHER)
    assert found(store, k=1) == ["b"]
    assert words.asked == meaning.asked == [("?", REALM, 2)]
    assert found(store, OTHER) == ["x"]
    assert found(store, f"{REALM}0") == []


def test_a_layer_is_refused() -> None:
    with pytest.raises(MemorySystemError, match="hybrid: has no layer 'kw'"):
        HybridStore([]).search("?", REALM, 10, "kw")


# Both at once


def test_forget_takes_exactly_the_ids_given_out_of_both() -> None:
    store, words, meaning = both({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3})
    meaning.remember(memories("x"), OTHER)  # the two count their ids apart
    ids = store.remember(memories("a", "b", "c"), REALM)
    store.forget([ids[2], ids[0], ids[2]])
    assert found(store) == ["b"]
    assert [memory.content for _, memory in words.held.values()] == ["b"]
    assert [memory.content for _, memory in meaning.held.values()] == ["x", "b"]


def test_with_an_unknown_id_among_them_none_is_forgotten() -> None:
    store, words, _ = both({"a": 1}, {"a": 1})
    [known] = store.remember(memories("a"), REALM)
    with pytest.raises(MemorySystemError, match="no memory has the id 'hybrid-9'; nothing was forgotten"):
        store.forget([known, "hybrid-9"])
    assert found(store) == ["a"]
    assert len(words.held) == 1


def test_what_one_cannot_remember_is_in_neither() -> None:
    store, words, meaning = both({"a": 1, "b": 2}, {"a": 1, "b": 2})
    store.remember(memories("a"), REALM)
    meaning.broken = True
    with pytest.raises(MemorySystemError, match="out of order"):
        store.remember(memories("b"), REALM)
    assert [memory.content for _, memory in words.held.values()] == ["a"]
    assert found(store) == ["a"]


def test_restart_and_close_reach_both() -> None:
    store, words, meaning = both({"a": 1}, {"a": 1})
    store.remember(memories("a"), REALM)
    store.restart()
    assert found(store) == ["a"]
    store.close()
    assert words.calls == meaning.calls == ["restart", "close"]
    assert found(store) == []


def test_where_one_cannot_be_opened_the_other_is_closed(tmp_path: Path) -> None:
    opened = Scored({})
    with pytest.raises(MemorySystemError, match="cannot be opened"):
        HybridMemory(System("words", opened), System("meaning", None)).open(tmp_path)
    assert opened.calls == ["close"]


@pytest.mark.parametrize("condition", ["on", "off", "handed", "placebo", "file", "ablate:all"])
def test_nothing_is_attached_and_it_cannot_tell_what_reached_an_agent(condition: str) -> None:
    store, _, _ = both({"a": 1}, {"a": 1})
    store.remember(memories("a"), REALM)
    assert store.attach(REALM, Condition.parse(condition)) == Attachment()
    # The type says that it is None; what is asked here is that it is not a list that could read as "nothing".
    assert store.injected("session", (0, 2**53)) is None  # type: ignore[func-returns-value]


# The system


def test_a_replica_and_an_argument_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MemorySystemError, match="no stored form to replicate"):
        HybridMemory(System("words", Scored({}))).open(tmp_path, tmp_path / "replica")
    with pytest.raises(UsageError, match="'hybrid' takes no argument, found 'x'"):
        hybrid.create("x")


def test_the_identity_carries_the_fusion_and_both_identities() -> None:
    identity = HybridMemory(System("words", None), System("meaning", None)).identity()
    assert (identity.name, identity.version) == ("hybrid", "1")
    assert "1 / (60 + rank)" in identity.detail["fusion"]
    assert identity.detail["words"] == {"name": "words", "version": "7", "detail": {"made": "by hand"}}
    assert identity.detail["meaning"]["name"] == "meaning"


def test_it_is_made_of_bm25_and_vector_and_of_the_models_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def make(name: str) -> Any:
        def create(argument: str | None) -> System:
            asked.append((name, argument))
            return System(name, None)

        return create

    monkeypatch.setattr(bm25, "create", make("bm25"))
    monkeypatch.setattr(vector, "create", make("vector"))
    hybrid.create(None)
    assert asked == [("bm25", None), ("vector", None)]
    assert hybrid.sources(None) == vector.sources(None)


def test_words_and_meaning_both_bring_a_memory_up(tmp_path: Path) -> None:
    try:
        system = hybrid.create(None)
    except UsageError as error:
        if "is not installed" not in str(error):
            raise
        pytest.skip(str(error))
    store = system.open(tmp_path)
    store.remember(
        memories(
            "The build prints E4711 when the lock is held.",
            "Our cat sleeps on the warm windowsill.",
            "Invoices are paid within thirty days.",
            "The harbour opens at dawn.",
        ),
        REALM,
    )
    assert found_by(store, "What does E4711 mean?") == "The build prints E4711 when the lock is held."
    assert found_by(store, "Where would a kitten nap?") == "Our cat sleeps on the warm windowsill."
    assert set(system.identity().detail) == {"fusion", "ties", "bm25", "vector"}
    store.close()


def found_by(store: HybridStore, query: str) -> str:
    return store.search(query, REALM, 1)[0].content
