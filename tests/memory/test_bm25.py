"""The `bm25` memory against rank-bm25's own BM25Okapi."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from smriti.datasets import locomo, longmemeval
from smriti.errors import MemorySystemError, UsageError
from smriti.memory import bm25
from smriti.types import Hit, Memory
from tests.shared import shared

REALM, OTHER = "project:gatehouse", "project:boathouse"
OFFICIAL = "longmemeval-official"

TOKENISERS: dict[str | None, Callable[[str], list[str]]] = {
    None: lambda text: re.findall("[a-z0-9]+", text.lower()),
    OFFICIAL: lambda text: text.split(" "),
}
variants = pytest.mark.parametrize("variant", list(TOKENISERS))

WORDS = ["the", "gate", "GATE", "gates", "İ", "\N{KELVIN SIGN}9", "é", "🦦", "", "-", "a\0", "a", "a\xff", "\r\nb"]
LONG_WORDS = ["harbourm", "harbourma", "harbourmasters00", "harbourmasters001", "harbourmasters002"]
"""Of 8 bytes and 9, 16 and 17."""

some_words = st.lists(st.one_of(st.sampled_from(WORDS + LONG_WORDS), st.text(max_size=3)), max_size=12).map(" ".join)
some_texts = st.one_of(some_words, st.sampled_from([".", " ", "  "]), some_words.map("the gate {}".format))
contents_lists = st.lists(some_texts.filter(bool), min_size=1, max_size=12)


def memories(contents: Sequence[str]) -> list[Memory]:
    return [
        Memory(content=content, type="episode", role="distractor", source_id=str(at))
        for at, content in enumerate(contents)
    ]


def searched(
    contents: Sequence[str], queries: Sequence[str], variant: str | None = None, k: int | None = None
) -> list[list[Hit]]:
    """The hits of a fresh store that holds `contents` for each query; the source of each is its position."""
    store = bm25.create(variant).open(Path("unused"))
    store.remember(memories(contents), REALM)
    return [store.search(query, REALM, len(contents) if k is None else k) for query in queries]


def order_of(hits: Sequence[Hit]) -> list[int]:
    return [int(hit.source_ids[0]) for hit in hits]


def check(contents: Sequence[str], queries: Sequence[str], variant: str | None) -> None:
    """Every text is ranked, with the score that rank-bm25 gives it, best first and equals in the variant's order."""
    tokens = TOKENISERS[variant]
    texts = [tokens(content) for content in contents]
    oracle = BM25Okapi(texts) if any(texts) else None
    for query, hits in zip(queries, searched(contents, queries, variant), strict=True):
        wanted = oracle.get_scores(tokens(query)).tolist() if oracle else [0.0] * len(contents)
        order, scores = order_of(hits), [hit.score for hit in hits]
        assert sorted(order) == list(range(len(contents)))
        for at, score in zip(order, scores, strict=True):
            assert abs(score - wanted[at]) <= 1e-9 * max(1, abs(wanted[at]))
        newer_first = -1 if variant else 1
        assert order == [
            at for _, _, at in sorted((-score, newer_first * at, at) for score, at in zip(scores, order, strict=True))
        ]


# Scores


@variants
@given(contents=contents_lists, queries=st.lists(st.one_of(some_words, st.just("\ud800 gate")), max_size=4))
@example(contents=[".", "-"], queries=["gate", ""])
@example(contents=["gate"], queries=["gate gate", "quay", ""])
@example(contents=["gate", ".", "gate a", "gate b"], queries=["gate", "gate gate a", "b b b"])
@example(contents=["?", "a", "b"], queries=["\ud800"])
@example(contents=["the harbourm"], queries=["harbourmasters001", "harbourma"])
def test_scores_are_those_of_rank_bm25(variant: str | None, contents: list[str], queries: list[str]) -> None:
    check(contents, queries, variant)


@variants
def test_scores_of_real_sessions_are_those_of_rank_bm25(variant: str | None) -> None:
    reading = longmemeval.read(shared("longmemeval_slice.json"), "session" if variant is None else "user-turns")
    for corpus in reading.corpora:
        contents = [document.content for document in corpus.documents if document.content]
        check(contents, [corpus.questions[0].text], variant)


@variants
@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_scores_of_real_conversations_are_those_of_rank_bm25(
    variant: str | None, granularity: locomo.Granularity
) -> None:
    reading = locomo.read(shared("locomo10.json"), granularity)
    for corpus in reading.corpora[::3]:
        check([document.content for document in corpus.documents], [q.text for q in corpus.questions[:25]], variant)


def test_a_word_in_more_than_half_of_the_texts_has_a_quarter_of_the_average_weight_and_may_be_below_0() -> None:
    [hits] = searched(["the gate", "the gate", "the quay the"], ["the"])
    assert order_of(hits) == [0, 1, 2]
    assert all(hit.score < 0 for hit in hits)


def test_a_repeated_word_of_the_query_counts_again() -> None:
    once, twice = searched(["a gate", "a quay", "a boat"], ["gate", "gate gate"])
    assert twice[0].score == 2 * once[0].score > 0


def test_a_text_is_ranked_also_where_it_shares_nothing_with_the_query() -> None:
    for query in ("nothing", "", "…"):
        [hits] = searched(["a gate", "a quay"], [query])
        assert [(hit.content, hit.score) for hit in hits] == [("a gate", 0.0), ("a quay", 0.0)]


def test_what_is_in_another_realm_or_was_forgotten_does_not_change_a_score() -> None:
    store = bm25.create(None).open(Path("unused"))
    store.remember(memories(["a red gate", "a blue gate", "a boat"]), REALM)
    before = store.search("red gate", REALM, 5)
    store.remember(memories(["a red quay", "a red boat"]), OTHER)
    assert store.search("red gate", REALM, 5) == before
    more = store.remember(memories(["a red red gate", "gate"]), REALM)
    assert len(store.search("red gate", REALM, 5)) == 5
    assert store.search("red gate", REALM, 5) != before
    store.forget(more)
    assert store.search("red gate", REALM, 5) == before
    assert len(store.search("red gate", OTHER, 5)) == 2


def test_a_realm_without_memories_has_no_hits() -> None:
    store = bm25.create(None).open(Path("unused"))
    assert store.search("gate", REALM, 5) == []
    store.forget(store.remember(memories(["a gate"]), REALM))
    assert store.search("gate", REALM, 5) == []


# Order


@pytest.mark.parametrize(("variant", "order"), [(None, [1, 3, 4, 0, 2]), (OFFICIAL, [4, 3, 1, 2, 0])])
def test_equals_come_in_input_order_and_officially_in_the_reverse(variant: str | None, order: list[int]) -> None:
    contents = ["a quay", "a gate", "a boat", "a gate", "a gate"]
    contents += ["a fence"] * 5
    [hits] = searched(contents, ["gate"], variant)
    assert [at for at in order_of(hits) if at < 5] == order
    [best] = searched(contents, ["gate"], variant, k=2)
    assert order_of(best) == order[:2]


def test_a_longer_list_of_equals_keeps_its_order() -> None:
    contents = ["a gate" if at % 3 else "a quay" for at in range(400)]
    [hits] = searched(contents, ["quay"])
    assert order_of(hits) == sorted(range(400), key=lambda at: at % 3 > 0)


# Words


def test_words_are_lower_cased_and_officially_taken_as_they_stand() -> None:
    contents = ["The Gate.", "a quay", "a boat"]
    for query, plain, official in (("gate", True, False), ("Gate.", True, True), ("Gate", True, False)):
        [[first, *_]], [[other, *_]] = searched(contents, [query]), searched(contents, [query], OFFICIAL)
        assert (first.score > 0, other.score > 0) == (plain, official)


# The rest


@pytest.mark.parametrize("argument", ["official", "x", "longmemeval-official "])
def test_any_other_argument_is_refused_with_the_choices(argument: str) -> None:
    with pytest.raises(UsageError, match=f"no variant '{argument}'; expected 'bm25' or 'bm25:longmemeval-official'"):
        bm25.create(argument)


def test_a_replica_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MemorySystemError, match="bm25: there is no stored form to replicate"):
        bm25.create(None).open(tmp_path, tmp_path / "replica")


def test_the_identity_tells_the_variants_apart_and_names_tokeniser_tie_rule_and_formula() -> None:
    plain, official = (bm25.create(variant).identity() for variant in TOKENISERS)
    assert (plain.name, official.name) == ("bm25", "bm25:longmemeval-official")
    assert plain.detail == {
        "tokeniser": "[a-z0-9]+ of the lower-cased text",
        "ties": "input order",
        "formula": "BM25Okapi of rank-bm25 0.2.2",
        "k1": 1.5,
        "b": 0.75,
        "epsilon": 0.25,
    }
    assert official.detail["tokeniser"] == 'split(" ") of the text as it stands'
    assert str(official.detail["ties"]).startswith("reverse input order")


def test_the_version_that_the_identity_names_is_the_one_that_the_scores_are_compared_with() -> None:
    assert f"BM25Okapi of rank-bm25 {version('rank-bm25')}" == bm25.FORMULA
