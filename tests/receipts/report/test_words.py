"""What cannot be seen is written out, and figures are written as they are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.receipts.report import words
from smriti.types import Score

SCORE = Score(metric="sr", system="s", condition="on", group="all", value=None, n=0, excluded=1)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("\u2066iso\u2069", "⟨U+2066⟩iso⟨U+2069⟩"),
        ("two\nlines\tand – as it is ✓", "two\nlines\tand – as it is ✓"),
    ],
)
def test_controls_and_directions_are_written_out(text: str, seen: str) -> None:
    assert words.visible(text) == seen


@given(st.text(st.characters()))
def test_no_control_format_or_half_of_a_character_is_left(text: str) -> None:
    found = words.visible(text)
    assert words.visible(found) == found
    for sign in found:
        kept = sign in "\n\t\u200c\u200d" or unicodedata.category(sign) not in {"Cc", "Cs", "Zl", "Zp"}
        assert kept, hex(ord(sign))
    assert not set(found) & set(
        "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
    )


def test_what_cannot_be_said_is_a_dash_and_never_0() -> None:
    assert words.value(SCORE).text == words.interval(SCORE).text == words.value(None).text == words.DASH


def test_a_count_that_is_not_known_is_a_dash_and_0_is_0() -> None:
    assert words.count(None).spans[0].text == words.DASH
    assert words.count(0).spans[0].text == "0"


@pytest.mark.parametrize(
    ("found", "text"),
    [(None, words.DASH), (True, "yes"), (False, "no"), ({}, words.DASH), ({"a": [1, None]}, "a 1, –"), (0, "0")],
)
def test_settings_are_written_in_words(found: object, text: str) -> None:
    assert words.described(found) == text
