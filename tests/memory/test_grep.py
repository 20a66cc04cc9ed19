"""The `grep` memory: how many words of the query a whole text holds."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.datasets import locomo
from smriti.errors import MemorySystemError, UsageError
from smriti.memory import grep
from smriti.types import Hit, Memory
from tests.shared import shared

REALM, OTHER = "project:gatehouse", "project:boathouse"

characters = st.one_of(st.sampled_from("aab9AZ İ\N{KELVIN SIGN}é-\0"), st.text(min_size=1, max_size=1))
texts = st.lists(characters, min_size=1, max_size=60).map("".join)


def searched(contents: Sequence[str], query: str, k: int | None = None) -> list[Hit]:
    """The hits of a fresh store that holds `contents`; the source of each is its position."""
    store = grep.create(None).open(Path("unused"))
    store.remember(
        [
            Memory(content=content, type="episode", role="distractor", source_id=str(at))
            for at, content in enumerate(contents)
        ],
        REALM,
    )
    return store.search(query, REALM, len(contents) if k is None else k)


def expected(contents: Sequence[str], query: str) -> list[tuple[str, float]]:
    words = set(re.findall("[a-z0-9]+", query.lower()))
    scores = [sum(word in content.lower() for word in words) for content in contents]
    order = sorted(range(len(contents)), key=lambda at: -scores[at])
    return [(str(at), scores[at]) for at in order if scores[at]]


def found(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.source_ids[0], hit.score) for hit in hits]


@given(st.lists(texts, min_size=1, max_size=8), st.data())
def test_each_text_scores_the_distinct_words_of_the_query_that_it_holds(
    contents: list[str], data: st.DataObject
) -> None:
    """Also where a word begins at the very start of a text, ends at its end, or would only be found across two."""
    joined = "".join(contents)
    parts = st.tuples(st.integers(0, len(joined)), st.integers(0, 20)).map(lambda cut: joined[cut[0] : sum(cut)])
    query = " ".join(data.draw(st.lists(st.one_of(parts, st.text(max_size=3)), max_size=6)))
    assert found(searched(contents, query)) == expected(contents, query)


@pytest.mark.parametrize("size", [*range(1, 20), 100])
def test_a_word_of_any_size_is_found_wherever_it_stands_and_one_that_differs_in_one_letter_is_not(size: int) -> None:
    word = "".join(chr(ord("a") + at % 26) for at in range(size))
    others = ["." * at + word[:cut] + "0" + word[cut + 1 :] for at in range(9) for cut in (0, size // 2, size - 1)]
    holding = ["." * at + word + "." * after for at in range(9) for after in (0, 3)]
    hits = searched([*others, *holding], word.upper())
    assert [int(hit.source_ids[0]) - len(others) for hit in hits] == list(range(len(holding)))


def test_real_conversations_are_ranked_as_by_the_plain_loop() -> None:
    reading = locomo.read(shared("locomo10.json"), "turn")
    for corpus in reading.corpora[:3]:
        contents = [document.content for document in corpus.documents]
        for question in corpus.questions[:15]:
            assert found(searched(contents, question.text)) == expected(contents, question.text)


def test_a_word_counts_once_however_often_it_is_asked_for_and_occurs() -> None:
    assert found(searched(["gate gate gate", "gate quay"], "gate gate GATE quay")) == [("1", 2), ("0", 1)]


def test_a_word_is_found_inside_of_another_whatever_its_case() -> None:
    assert found(searched(["The GATEHOUSE.", "A fence."], "gate")) == [("0", 1)]


def test_the_earlier_text_comes_first_among_equals_and_k_cuts_after_the_best() -> None:
    contents = ["a quay", "a gate", "a red gate", "one gate", "a red quay by the gate"]
    assert [at for at, _ in found(searched(contents, "red gate"))] == ["2", "4", "1", "3"]
    assert [at for at, _ in found(searched(contents, "red gate", 3))] == ["2", "4", "1"]


def test_a_text_without_a_word_of_the_query_does_not_come_back() -> None:
    assert searched(["The gate."], "quay") == []
    assert searched(["The gate."], "") == searched(["The gate."], "?! …") == []


def test_scores_are_floats_so_that_they_are_written_as_those_of_other_systems() -> None:
    [hit] = searched(["The gate."], "gate")
    assert hit == Hit("grep-0", "The gate.", 1.0, ("0",))
    assert type(hit.score) is float


def test_realms_are_kept_apart_and_what_was_forgotten_is_not_found() -> None:
    store = grep.create(None).open(Path("unused"))
    gate = Memory(content="The gate.", type="episode", role="distractor", source_id="m1")
    [mine], [theirs] = store.remember([gate], REALM), store.remember([gate], OTHER)
    assert [hit.id for hit in store.search("gate", REALM, 5)] == [mine]
    store.forget([mine])
    assert store.search("gate", REALM, 5) == []
    assert [hit.id for hit in store.search("gate", OTHER, 5)] == [theirs]


def test_two_stores_of_one_system_share_nothing_and_write_nothing(tmp_path: Path) -> None:
    system = grep.create(None)
    one, two = system.open(tmp_path), system.open(tmp_path)
    one.remember([Memory(content="The gate.", type="episode", role="distractor", source_id="m1")], REALM)
    assert two.search("gate", REALM, 5) == []
    assert list(tmp_path.iterdir()) == []


def test_a_replica_and_an_argument_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MemorySystemError, match="no stored form to replicate"):
        grep.create(None).open(tmp_path, tmp_path / "replica")
    with pytest.raises(UsageError, match="'grep' takes no argument, found 'x'"):
        grep.create("x")


def test_the_identity_names_tokeniser_score_and_tie_rule() -> None:
    identity = grep.create(None).identity()
    assert identity.name == "grep"
    assert identity.detail["tokeniser"] == "[a-z0-9]+ of the lower-cased query"
    assert identity.detail["ties"] == "input order"
    assert "part of the lower-cased text" in identity.detail["score"]


@pytest.mark.parametrize("name", ["grep", "bm25"])
def test_numpy_is_imported_when_a_store_is_opened_and_neither_before_nor_in_the_time_of_what_is_remembered(
    name: str,
) -> None:
    code = f"import sys; from smriti.memory import {name}; system = {name}.create(None); system.identity()"
    seen = "before = 'numpy' in sys.modules; system.open(None); sys.exit((before, 'numpy' in sys.modules) != (0, 1))"
    assert subprocess.run([sys.executable, "-c", f"{code}; {seen}"], check=False).returncode == 0
