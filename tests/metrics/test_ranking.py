"""Retrieval metrics agree with ir_measures and the official vectors, keep their bounds, and parse back from names."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti.errors import UsageError
from smriti.metrics.ranking import (
    CUT,
    MAX_K,
    UNCUT,
    Metric,
    ceiling,
    distinct,
    hit,
    ndcg_longmemeval,
    parse,
    recall_all,
)
from tests.shared import shared

cutoffs = st.integers(1, MAX_K)
ids = st.sampled_from([f"s{number}" for number in range(30)])
rankings = st.lists(ids, unique=True)
golds = st.frozensets(ids, min_size=1, max_size=8)
metrics = st.builds(Metric, st.sampled_from(sorted(CUT)), cutoffs) | st.sampled_from([Metric(name) for name in UNCUT])

ORACLES: dict[str, Callable[[int], Any]] = {
    "precision": lambda k: ir_measures.P @ k,
    "recall": lambda k: ir_measures.R @ k,
    "hit": lambda k: ir_measures.Success @ k,
    "ndcg": lambda k: ir_measures.nDCG @ k,
    "mrr": lambda _: ir_measures.RR,
}


def judged(measure: Any, ranked: list[str], gold: frozenset[str]) -> float:
    """What ir_measures says of one query; it orders by score, and reports nothing of a query without results."""
    qrels = {"q": dict.fromkeys(gold, 1)}
    run = {"q": {source_id: float(-rank) for rank, source_id in enumerate(ranked)}}
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure]) if ranked else 0.0


@settings(deadline=None)
@given(rankings, golds, cutoffs)
def test_the_standard_metrics_are_those_of_ir_measures(ranked: list[str], gold: frozenset[str], k: int) -> None:
    for name, measure in ORACLES.items():
        metric = Metric(name) if name in UNCUT else Metric(name, k)
        assert metric(ranked, gold) == pytest.approx(judged(measure(k), ranked, gold), abs=1e-9), str(metric)


def test_the_official_vectors_are_reproduced() -> None:
    """Left out are those about what an official corpus may hold and ours may not: a document twice, absent gold."""
    compared = 0
    for vector in json.loads(shared("longmemeval_metric_vectors.json").read_text()):
        corpus, gold, k = vector["corpus_ids"], set(vector["correct_docs"]), vector["k"]
        by_turn = vector["fn"] == "evaluate_retrieval_turn2session"
        if by_turn:
            corpus, gold = [session(turn) for turn in corpus], {session(turn) for turn in gold}
        elif len(set(corpus)) < len(corpus) or not gold <= set(corpus):
            continue
        ranked = distinct(corpus[place] for place in vector["rankings"])
        if not gold:
            assert hit(ranked, gold, k) is None
            assert recall_all(ranked, gold, k) is None
            continue
        compared += 1
        assert hit(ranked, gold, k) == vector["recall_any"], vector["case"]
        assert recall_all(ranked, gold, k) == vector["recall_all"], vector["case"]
        if not by_turn:  # the official script counts a session's turns one by one in this figure alone
            assert ndcg_longmemeval(ranked, gold, k) == pytest.approx(vector["ndcg_any"], abs=1e-12), vector["case"]
    assert compared >= 80


def session(turn: str) -> str:
    return turn.rpartition("_")[0]


@given(metrics, rankings, golds)
def test_every_metric_lies_between_0_and_its_ceiling(metric: Metric, ranked: list[str], gold: frozenset[str]) -> None:
    value, best = metric(ranked, gold), ceiling(metric, [len(gold)])
    assert value is not None
    assert best is not None
    assert 0 <= value <= best <= 1


@given(metrics, golds)
def test_a_perfect_ranking_reaches_the_ceiling_and_an_empty_one_earns_nothing(
    metric: Metric, gold: frozenset[str]
) -> None:
    assert metric(sorted(gold), gold) == ceiling(metric, [len(gold)])
    assert metric([], gold) == 0


@given(rankings, golds, st.integers(1, MAX_K - 1))
def test_more_slots_never_lower_recall_recall_all_or_hit(ranked: list[str], gold: frozenset[str], k: int) -> None:
    for name in ("recall", "recall_all", "hit"):
        lower, higher = Metric(name, k)(ranked, gold), Metric(name, k + 1)(ranked, gold)
        assert lower is not None
        assert higher is not None
        assert lower <= higher


@given(metrics, rankings, golds, st.randoms(use_true_random=False))
def test_names_and_what_stands_below_the_cutoff_are_irrelevant(
    metric: Metric, ranked: list[str], gold: frozenset[str], chance: random.Random
) -> None:
    renamed = {source_id: f"r{number}" for number, source_id in enumerate({*ranked, *gold})}
    assert metric([renamed[i] for i in ranked], {renamed[i] for i in gold}) == metric(ranked, gold)
    if metric.k is not None:
        below = ranked[metric.k :]
        chance.shuffle(below)
        assert metric(ranked[: metric.k] + below, gold) == metric(ranked, gold)


@given(metrics, rankings, golds, st.integers(0, 28))
def test_moving_a_hit_up_by_one_rank_never_lowers_a_metric(
    metric: Metric, ranked: list[str], gold: frozenset[str], place: int
) -> None:
    if place + 1 >= len(ranked) or ranked[place] in gold or ranked[place + 1] not in gold:
        return
    raised = [*ranked[:place], ranked[place + 1], ranked[place], *ranked[place + 2 :]]
    before, after = metric(ranked, gold), metric(raised, gold)
    assert before is not None
    assert after is not None
    assert after >= before


@given(metrics, rankings)
def test_nothing_is_said_of_a_question_without_gold(metric: Metric, ranked: list[str]) -> None:
    assert metric(ranked, frozenset()) is None
    assert ceiling(metric, [0, 0]) is None
    assert ceiling(metric, []) is None


@given(metrics)
def test_a_metrics_full_name_parses_back(metric: Metric) -> None:
    assert parse(str(metric)) == metric


@pytest.mark.parametrize(
    "name",
    ["", "recall", "recall@", "recall@0", "recall@101", "recall@-1", "recall@05", "recall@5.0", "mrr@5", "RECALL@5"],
)
def test_anything_but_a_metrics_full_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        parse(name)


def test_an_unknown_metric_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'recal_all@5' is not known\. Did you mean 'recall_all@<k>'\?"):
        parse("recal_all@5")


@pytest.mark.parametrize("k", [0, -1, 101])
def test_a_k_outside_1_to_100_is_refused_wherever_it_comes_from(k: int) -> None:
    for function in CUT.values():
        with pytest.raises(UsageError, match=f"k is {k}"):
            function(["a"], {"a"}, k)


def test_a_source_that_is_ranked_twice_is_refused_and_distinct_keeps_its_best_rank() -> None:
    with pytest.raises(ValueError, match="ranked twice"):
        hit(["a", "b", "a"], {"a"}, 5)
    assert distinct(["a", "b", "a", "c", "b"]) == ["a", "b", "c"]


def test_an_unused_slot_counts_against_precision() -> None:
    assert parse("precision@10")(["a", "b"], {"a", "b"}) == 0.2


def test_the_official_ndcg_weighs_ranks_1_and_2_the_same() -> None:
    assert ndcg_longmemeval(["x", "a"], {"a"}, 5) == 1.0
    assert parse("ndcg@5")(["x", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)


def test_the_ceilings_of_longmemeval_are_those_of_its_gold() -> None:
    sizes = [1] * 170 + [2] * 229 + [3] * 39 + [4] * 18 + [5] * 11 + [6] * 3 + [0] * 30
    assert ceiling(parse("recall_all@5"), sizes) == pytest.approx(0.9936, abs=5e-5)
    assert ceiling(parse("recall_all@1"), sizes) == pytest.approx(0.3617, abs=5e-5)
