"""The hashing vectoriser."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.memory.embedded.vector import cosine, pack, unpack, vectorise
from smriti.memory.embedded.words import telling, words


def vector(text: str) -> dict[int, float]:
    return vectorise(telling(words(text)))


def near(one: str, other: str) -> float:
    return cosine(vector(one), pack(vector(other)))


def test_a_text_has_the_same_vector_on_every_machine() -> None:
    digest = hashlib.sha256(pack(vector("The naïve client retries 3 times."))).hexdigest()
    assert digest == "242204c3c305d6dafe6c3290a1d87d797d78c83d75c5cd44dfc08f1690b9c70a"


def test_a_text_has_the_same_vector_in_every_process() -> None:
    code = "from smriti.memory.embedded.vector import pack, vectorise; print(pack(vectorise(['retry', 'limit'])).hex())"
    outputs = {subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}) for seed in "123"}
    assert outputs == {pack(vectorise(["retry", "limit"])).hex().encode() + b"\n"}


def test_other_spellings_are_nearer_than_other_words() -> None:
    assert near("normalise the colour", "normalised colours") > 0.5 > near("normalise the colour", "wooden spoon")


def test_statements_of_one_fact_are_nearer_than_statements_of_two() -> None:
    fact = "The HTTP timeout of the client is 30 seconds."
    assert near(fact, "The client's HTTP timeout was raised to 45 seconds.") > 0.45
    assert near(fact, "The client is released on Fridays.") < 0.45


@given(st.text(min_size=1))
def test_a_text_is_as_near_as_can_be_to_itself(text: str) -> None:
    assert near(text, text) == pytest.approx(1)


@given(st.text(), st.text())
def test_a_cosine_lies_between_0_and_1_and_is_symmetric(one: str, other: str) -> None:
    assert -1e-6 <= near(one, other) <= 1 + 1e-6
    assert near(one, other) == pytest.approx(near(other, one), abs=1e-6)


@given(st.text())
def test_a_vector_is_read_as_it_was_written(text: str) -> None:
    assert unpack(pack(vector(text))) == pytest.approx(vector(text), abs=1e-6)
