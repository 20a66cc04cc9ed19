"""What counts as a mention, an added line and a literal."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.corpus import mentions
from smriti.corpus.text import added_text, numbers, strings
from smriti.types import File

WORD = string.ascii_letters + string.digits + "_"
words = st.text(WORD, min_size=1, max_size=8)
terms = st.text(WORD + "-.:/*()[]\\$^", min_size=1, max_size=8)
texts = st.text(WORD + "-. :/*()[]\\$^\n", max_size=60)
edges = st.sampled_from(["", " ", "\n", "-", "'", "(", "é"])


@given(terms, texts, texts, edges, edges)
def test_a_term_between_blanks_or_signs_is_found(term: str, before: str, after: str, left: str, right: str) -> None:
    left = left or ("" if not before else " ")
    right = right or ("" if not after else " ")
    assert mentions(term, before + left + term + right + after)


@given(words, st.sampled_from(WORD), texts)
def test_a_part_of_a_longer_word_is_not_found(term: str, letter: str, text: str) -> None:
    rest = "".join(sign for sign in text if sign not in WORD)
    assert not mentions(term, f"{rest}{letter}{term}{rest}")
    assert not mentions(term, f"{rest}{term}{letter}{rest}")


@given(terms, texts)
def test_case_is_of_no_account(term: str, text: str) -> None:
    assert mentions(term, text) == mentions(term.upper(), text) == mentions(term, text.swapcase())


@given(terms, texts)
def test_a_slow_search_finds_the_same(term: str, text: str) -> None:
    lower, wanted = text.lower(), term.lower()
    starts = [at for at in range(len(lower)) if lower.startswith(wanted, at)]
    alone = [
        at
        for at in starts
        if lower[at - 1 : at] not in list(WORD) and lower[at + len(wanted) : at + len(wanted) + 1] not in list(WORD)
    ]
    assert mentions(term, text) == bool(alone)


@given(st.lists(words, min_size=2, max_size=4), st.sampled_from(["\n", "\t", "  ", "\r\n    "]))
def test_a_term_is_found_across_a_line_break(several: list[str], blank: str) -> None:
    assert mentions(" ".join(several), blank.join(several))


@pytest.mark.parametrize("text", ["12-17", "(17)", "status=17;", "17", "a 17\nb", "1.17"])
def test_a_number_is_a_word(text: str) -> None:
    assert mentions("17", text)


@pytest.mark.parametrize("text", ["117", "170", "0x17", "v17", "17_000", ""])
def test_a_number_inside_a_number_or_name_is_not(text: str) -> None:
    assert not mentions("17", text)


@given(st.lists(st.text("abc", max_size=3)), st.lists(st.text("abc", max_size=3)))
def test_added_lines_and_old_lines_make_up_the_new_text(old: list[str], new: list[str]) -> None:
    before = {"f": File("\n".join(old).encode())}
    added = added_text(before, {"f": File("\n".join(new).encode())}).split("\n")
    assert set(new) - set(old) - {""} <= set(added)
    assert set(added) <= set(new) | {""}
    assert not (set(old) >= set(new) and len(set(new)) == len(new) and any(added))


def test_an_unchanged_file_adds_nothing_and_a_new_one_its_name_too() -> None:
    tree = {"a.txt": File(b"one\ntwo\n")}
    assert added_text(tree, tree) == ""
    assert added_text({}, tree) == "a.txt\none\ntwo"


def test_strings_are_quoted_in_any_way_and_have_three_characters() -> None:
    assert strings('f("abc", \'de\', `fgh`, "", \'i"j k\', "l\\"m", \'   \')') == {"abc", "fgh", 'i"j k', 'l\\"m'}


def test_a_string_ends_with_its_line() -> None:
    assert strings("don't\nwon't") == set()


def test_numbers_have_two_digits_and_are_no_part_of_a_name() -> None:
    assert numbers("7 42 3.5 v10 0x11 90s '2024-05' 1.2.3 ends 88.") == {"42", "3.5", "2024", "05", "1.2.3", "88"}
