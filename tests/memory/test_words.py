"""Texts as words in bytes, and lists of words."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.memory import _words
from smriti.memory._words import SEPARATOR, WordList, words_of

PIECES = ["gate", "GATE", "İ", "\N{KELVIN SIGN}9", "é", "ß", "🦦", "\ud800", "\0", " ", "-", "\r\n", "K", "Σ", "7"]
PARTS = ["a", "b", "abcdefgh", "abcdefgH", "bbcdefgh", "x" * 8, "y" * 8]
"""Of these are words made that differ only in their first 8 bytes, only in the next, or only behind them."""

word_lists = st.lists(st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join), max_size=12))


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4))).map("".join))
def test_words_are_what_the_regular_expression_finds_in_the_lower_cased_text(text: str) -> None:
    words = [word.decode() for word in words_of(text).split(SEPARATOR) if word]
    assert words == re.findall("[a-z0-9]+", text.lower())


def test_no_other_letters_than_those_that_are_looked_for_are_lower_cased_to_ascii() -> None:
    letters = [chr(code) for code in range(128, 0x110000) if re.search("[a-z0-9]", chr(code).lower())]
    assert letters == list(_words._LOWERED_TO_ASCII)


@given(word_lists)
def test_each_word_is_counted_in_each_text_and_told_from_every_other(texts: list[list[str]]) -> None:
    listed = WordList([" ".join(words).encode().replace(b" ", SEPARATOR) for words in texts], empty_words=False)
    assert listed.lengths.tolist() == [len(words) for words in texts]
    for word in {word for words in texts for word in words} | {"a", "x" * 8, "x" * 16, "x" * 17, "nowhere"}:
        assert listed.frequencies(word.encode()).tolist() == [words.count(word) for words in texts]


@pytest.mark.parametrize("marks", [1, 40, 2**22])
@given(texts=word_lists)
def test_words_are_counted_by_how_many_texts_hold_them(marks: int, texts: list[list[str]]) -> None:
    listed = WordList([" ".join(words).encode().replace(b" ", SEPARATOR) for words in texts], empty_words=False)
    held_by = Counter(Counter(word for words in texts for word in set(words)).values())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_words, "_MARKS", marks)
        counts = listed.words_held_by()
    assert {texts: words for texts, words in enumerate(counts) if words} == held_by


def test_a_word_may_be_held_by_more_texts_than_a_byte_can_count() -> None:
    listed = WordList([b"gate"] * 700 + [b"quay"] * 300, empty_words=False)
    assert {texts: words for texts, words in enumerate(listed.words_held_by()) if words} == {300: 1, 700: 1}


def test_words_of_many_spellings_are_all_told_apart_though_their_hashes_meet() -> None:
    words = [f"{number:x}".encode() for number in range(5_000)]
    listed = WordList([SEPARATOR.join(words), SEPARATOR.join(words[:2_000])], empty_words=False)
    assert listed.words_held_by() == [0, 3_000, 2_000]


def test_an_empty_word_counts_where_it_is_asked_for() -> None:
    texts = [b"", b"a\0", b"a\0\0b", b"ab"]
    assert WordList(texts, empty_words=True).lengths.tolist() == [1, 2, 3, 1]
    assert WordList(texts, empty_words=True).frequencies(b"").tolist() == [1, 1, 1, 0]
    assert WordList(texts, empty_words=False).lengths.tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("held", "asked"),
    [("abcdefgh", "abcdefghijklmnopq"), ("abcdefghi", "abcdefgh"), ("abcdefghijklmnopq", "abcdefghijklmnopr")],
)
def test_a_word_is_not_taken_for_one_that_begins_alike(held: str, asked: str) -> None:
    assert WordList([held.encode()], empty_words=False).frequencies(asked.encode()).tolist() == [0]
