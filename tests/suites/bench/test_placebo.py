"""The placebo: as many words as the memory, and nothing of use in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smriti.corpus import load_corpus
from smriti.suites.bench.placebo import NOTES, placebo_notes

SEEDS = st.text(max_size=20)


@given(st.integers(0, 2000), SEEDS)
def test_it_has_exactly_as_many_words_as_are_asked_for(words: int, seed: str) -> None:
    notes = placebo_notes(words, seed)
    assert sum(len(note.split()) for note in notes) == words
    assert len(" ".join(notes).split()) == words


@given(st.integers(0, 2000), SEEDS)
def test_each_note_is_one_of_the_known_ones_and_only_the_last_may_be_cut(words: int, seed: str) -> None:
    *whole, last = [*placebo_notes(words, seed)] or [""]
    assert set(whole) <= set(NOTES)
    assert any(note.startswith(last) for note in NOTES)


@given(st.integers(0, 500), SEEDS)
def test_the_same_seed_gives_the_same_notes(words: int, seed: str) -> None:
    assert placebo_notes(words, seed) == placebo_notes(words, seed)


def test_another_seed_gives_other_notes() -> None:
    assert len({tuple(placebo_notes(200, str(seed))) for seed in range(20)}) == 20


def test_no_words_are_no_notes() -> None:
    assert placebo_notes(0, "seed") == []


def test_no_note_says_anything_that_a_task_asks_for() -> None:
    text = "\n".join(NOTES).lower()
    for folder in load_corpus():
        assert not [term for term in folder.task.leak_terms if term.lower() in text], folder.task.id
        assert not [m for m in folder.task.planted_memories if m.content.lower() in text], folder.task.id
