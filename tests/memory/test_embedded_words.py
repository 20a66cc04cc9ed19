"""How the embedded memory cuts texts into words."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.memory.embedded.words import telling, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Retries of the LIMIT", ["retry", "of", "the", "limit"]),
        ("class status of buses", ["class", "status", "of", "buse"]),
        ("max_page-size=84", ["max", "page", "size", "84"]),
        ("parseConfig HTTPServer", ["parseconfig", "parse", "config", "httpserver"]),
        ("“naïve” – ＷＩＤＥ e\u0301", ["naïve", "wide", "é"]),
        ("स्मृति 🦦 数据库", ["स्मृति", "🦦", "数据库"]),
        ("%!", ["u25", "u21"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("other", ["pages", "Page", "PAGE", "page."])
def test_spellings_of_one_word_are_one_word(other: str) -> None:
    assert words(other) == words("page")


def test_function_words_and_repetitions_tell_nothing() -> None:
    assert telling(words("Please use the page size of the page")) == ["page", "size"]


def test_function_words_count_where_there_is_nothing_else() -> None:
    assert telling(words("To be or not")) == ["to", "be", "or", "not"]


@given(st.text())
def test_every_text_but_the_empty_one_has_words(text: str) -> None:
    assert bool(words(text)) == bool(text)


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_the_index_takes_each_word_as_one_token(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE found USING fts5 (words, tokenize = 'ascii')")
        connection.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab (found, 'row')")
        connection.execute("INSERT INTO found VALUES (?)", (" ".join(words(text)),))
        assert {row[0] for row in connection.execute("SELECT term FROM tokens")} == set(words(text))
    finally:
        connection.close()
