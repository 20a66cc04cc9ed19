"""What one question earns, the figures of a run of a retrieval suite, and the words that stand before them."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti.metrics import ranking
from smriti.metrics.intervals import bootstrap_means, quantile, wilson
from smriti.score.retrieval import FEW_QUESTIONS, RetrievalScoring
from smriti.types import (
    AskFault,
    AskPhase,
    Coverage,
    QuestionEvidence,
    QuestionRecord,
    ReturnedHit,
    Score,
)
from tests.suites.retrieval.fakes import corpus, plan, question

SOURCES = [f"s{number}" for number in range(12)]

# The plan


def test_the_plan_is_system_by_system_and_corpus_by_corpus_numbered_in_order() -> None:
    corpora = [corpus("c1", question("q1"), question("q2")), corpus("c2", question("q3"))]
    cases = RetrievalScoring(plan(["b", "a"], corpora)).plan()
    assert [case.id for case in cases] == ["b/q1", "b/q2", "b/q3", "a/q1", "a/q2", "a/q3"]
    assert [case.order for case in cases] == list(range(6))
    assert [case.corpus for case in cases] == ["c1", "c1", "c2"] * 2


# One question


def hits(*sources: Sequence[str]) -> tuple[ReturnedHit, ...]:
    return tuple(
        ReturnedHit(id=f"m{n}", source_ids=tuple(of), score=-float(n), content_sha256="0" * 64)
        for n, of in enumerate(sources)
    )


def evidence(**fields: Any) -> QuestionEvidence:
    """Evidence in which everything that is not given is unremarkable: gold s0 was found at rank 2."""
    stated: dict[str, Any] = {
        "case": "one/q1",
        "run_id": "run",
        "manifest_sha256": "2" * 64,
        "order": 3,
        "system": "one",
        "corpus": "c1",
        "question": "q1",
        "type": "plain",
        "groups": ("all", "plain"),
        "answerable": True,
        "documents": len(SOURCES),
        "gold": ("s0",),
        "group_gold": {},
        "hits": hits(["s1"], ["s0"]),
        "returned": 2,
        "gold_ranks": {"s0": 2},
        "ingest_ms": 1.5,
        "query_ms": 0.5,
        "fault": None,
    }
    return QuestionEvidence(**{**stated, **fields})


def failure(phase: AskPhase = "query") -> dict[str, Any]:
    return {
        "fault": AskFault(phase=phase, message="broken"),
        "hits": (),
        "returned": 0,
        "gold_ranks": {},
        "query_ms": None,
    }


def scoring(k: Sequence[int] = (1, 5), **fields: Any) -> RetrievalScoring:
    return RetrievalScoring(plan(["one"], [corpus("c1", question("q1"))], k, **fields))


def score(row: QuestionEvidence, k: Sequence[int] = (1, 5), **fields: Any) -> QuestionRecord:
    return scoring(k, **fields).record(row, "1" * 64)


def test_a_record_repeats_its_evidence_and_carries_its_digest() -> None:
    made = score(evidence(group_gold={"plain": ("s1", "s2")}))
    assert (made.case, made.run_id, made.order, made.evidence_sha256) == ("one/q1", "run", 3, "1" * 64)
    assert (made.system, made.corpus, made.question, made.type) == ("one", "c1", "q1", "plain")
    assert (made.groups, made.answerable, made.documents) == (("all", "plain"), True, 12)
    assert (made.gold, made.group_gold) == (1, {"plain": 2})
    assert (made.status, made.fault, made.ingest_ms, made.query_ms) == ("completed", None, 1.5, 0.5)


def test_the_metrics_of_a_question_are_these_and_longmemeval_has_its_own_besides() -> None:
    names = [f"{name}@{k}" for k in (1, 5) for name in ("recall_all", "recall", "hit", "precision", "ndcg")]
    assert list(score(evidence()).metrics) == [*names, "mrr"]
    official = score(evidence(), suite="longmemeval").metrics
    assert official.keys() - set(names) == {"ndcg_longmemeval@1", "ndcg_longmemeval@5", "mrr"}
    assert list(official)[-1] == "mrr"


def test_metrics_by_hand() -> None:
    made = score(evidence(gold=("s0", "s9")), k=(1, 2, 5)).metrics
    assert {name: made[name] for name in ("recall_all@2", "recall@2", "hit@2", "precision@5", "hit@1", "mrr")} == {
        "recall_all@2": 0.0,
        "recall@2": 0.5,
        "hit@2": 1.0,
        "precision@5": 0.2,
        "hit@1": 0.0,
        "mrr": 0.5,
    }
    assert made["ndcg@2"] == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


@st.composite
def searched(draw: st.DrawFn) -> tuple[list[list[str]], list[str], list[int]]:
    """What a search gave, hits of no, one or several sources; gold; and cutoffs."""
    returned = draw(st.lists(st.lists(st.sampled_from(SOURCES), max_size=3), max_size=12))
    gold = draw(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=5, unique=True))
    return returned, gold, sorted(draw(st.sets(st.integers(1, 14), min_size=1, max_size=3)))


def observed(returned: list[list[str]], gold: list[str], cutoffs: list[int], **fields: Any) -> QuestionEvidence:
    """Write down a search as a run does, with no more hits than the largest cutoff needs."""
    ranked = ranking.distinct(source for of in returned for source in of)
    needed = 0
    while needed < len(returned) and len({s for of in returned[:needed] for s in of}) < cutoffs[-1]:
        needed += 1
    return evidence(
        gold=tuple(gold),
        hits=hits(*returned[:needed]),
        returned=len(returned),
        gold_ranks={source: ranked.index(source) + 1 for source in gold if source in ranked},
        **fields,
    )


@settings(max_examples=300)
@given(searched(), st.sampled_from(["locomo", "longmemeval"]))
def test_metrics_are_those_of_the_full_ranking_though_the_listing_ends_at_the_largest_k(
    search: tuple[list[list[str]], list[str], list[int]], suite: str
) -> None:
    returned, gold, cutoffs = search
    ranked = ranking.distinct(source for of in returned for source in of)
    made = score(observed(returned, gold, cutoffs), cutoffs, suite=suite)
    assert made.metrics == {name: ranking.parse(name)(ranked, gold) for name in made.metrics}


@given(searched(), st.lists(st.sampled_from(SOURCES), unique=True))
def test_a_group_with_gold_of_its_own_is_scored_against_that(
    search: tuple[list[list[str]], list[str], list[int]], other: list[str]
) -> None:
    returned, gold, cutoffs = search
    ranked = ranking.distinct(source for of in returned for source in of)
    row = observed(returned, gold, cutoffs)
    ranks = {source: ranked.index(source) + 1 for source in {*gold, *other} if source in ranked}
    made = score(row.model_copy(update={"group_gold": {"plain": tuple(other)}, "gold_ranks": ranks}), cutoffs)
    assert made.metrics == score(row, cutoffs).metrics
    assert made.group_metrics == {
        "plain": {name: ranking.parse(name)(ranked, other) if other else None for name in made.metrics}
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"gold": (), "gold_ranks": {}},
        {"gold": (), "gold_ranks": {}, "answerable": False},
        failure(),
        failure("teardown"),
    ],
    ids=["without gold", "unanswerable", "failed", "failed at its end"],
)
def test_what_cannot_be_scored_has_null_metrics_and_not_0(fields: dict[str, Any]) -> None:
    made = score(evidence(group_gold={"plain": ()}, **fields))
    assert set(made.metrics.values()) == {None}
    assert set(made.group_metrics["plain"].values()) == {None}
    assert made.status == ("failed" if "fault" in fields else "completed")


def test_a_group_may_have_gold_where_the_question_has_none() -> None:
    made = score(evidence(gold=(), group_gold={"plain": ("s0",)}))
    assert made.metrics["mrr"] is None
    assert made.group_metrics["plain"]["mrr"] == 0.5


def test_hits_whose_provenance_was_lost_are_counted_and_take_no_rank() -> None:
    made = score(evidence(hits=hits([], ["s0"], []), returned=3, gold_ranks={"s0": 1}))
    assert made.unsourced_hits == 2
    assert made.metrics["recall_all@1"] == 1


# Figures


def record(number: int, **fields: Any) -> QuestionRecord:
    """A scored question, the `number`th of its run."""
    made = {"case": f"one/q{number}", "question": f"q{number}", "order": number, **fields}
    return score(evidence(**made))


def scores(records: Sequence[QuestionRecord], group: str = "all", k: Sequence[int] = (1, 5)) -> dict[str, Score]:
    found = [score for score in scoring(k).scores(records) if score.group == group]
    made = {score.metric: score for score in found}
    assert len(made) == len(found), "a figure stands there twice"
    return made


AT_1 = {"hits": hits(["s0"]), "returned": 1, "gold_ranks": {"s0": 1}}
NOWHERE = {"hits": hits(["s1"]), "returned": 1, "gold_ranks": {}}
GOLDLESS: dict[str, Any] = {"gold": (), "gold_ranks": {}}
RECORDS = [
    record(0, **AT_1),
    record(1),
    record(2, **NOWHERE),
    record(3, **failure()),
    record(4, **GOLDLESS),
    record(5, **GOLDLESS, answerable=False),
    record(6, **{**GOLDLESS, **failure()}, answerable=False),
]
"""Found at 1, at 2 and nowhere; failed; without gold; two without an answer, of which one failed."""


def test_means_are_over_all_that_can_be_scored_and_a_failure_counts_as_nothing_found() -> None:
    made = scores(RECORDS)
    assert {name: made[name].value for name in ("recall_all@1", "recall@5", "hit@5", "precision@5", "mrr")} == {
        "recall_all@1": 1 / 4,
        "recall@5": 2 / 4,
        "hit@5": 2 / 4,
        "precision@5": pytest.approx(0.4 / 4),
        "mrr": 1.5 / 4,
    }
    assert made["ndcg@5"].value == pytest.approx((1 + 1 / math.log2(3)) / 4)
    assert {(made[name].n, made[name].excluded) for name in ("recall_all@1", "mrr", "ndcg@5")} == {(4, 1)}


def test_success_over_attempts_counts_failures_and_the_figure_of_the_completed_leaves_them_out() -> None:
    made = scores(RECORDS)
    over, completed = made["success_over_attempts@5"], made["recall_all_completed@5"]
    assert (over.value, over.n, over.excluded, over.interval) == (2 / 4, 4, 1, wilson(2, 4))
    assert (completed.value, completed.n, completed.excluded, completed.interval) == (2 / 3, 3, 2, wilson(2, 3))


def test_attempts_are_counted_and_those_without_an_answer_apart() -> None:
    made, apart = scores(RECORDS), scores(RECORDS, "unanswerable")
    for figures, counts in ((made, (5, 4, 1)), (apart, (2, 1, 1))):
        assert tuple(figures[name].value for name in ("attempted", "completed", "failed")) == counts
        assert {(figures[name].n, figures[name].excluded) for name in ("attempted", "completed", "failed")} == {
            (counts[0], 0)
        }
    assert set(apart) == {"attempted", "completed", "failed"}


def test_without_an_unanswerable_question_there_is_no_such_group() -> None:
    groups = [score.group for score in scoring().scores(RECORDS[:5])]
    assert list(dict.fromkeys(groups)) == ["all", "plain"]


def test_groups_stand_with_all_first_and_then_by_name_and_a_question_counts_in_each_of_its_own() -> None:
    records = [record(0, groups=("all", "b")), record(1, groups=("c", "a")), record(2, groups=("all", "a"))]
    made = scoring().scores(records)
    assert list(dict.fromkeys(score.group for score in made)) == ["all", "a", "b", "c"]
    counts = {score.group: score.value for score in made if score.metric == "attempted"}
    assert counts == {"all": 2, "a": 2, "b": 1, "c": 1}


def test_a_group_with_gold_of_its_own_has_its_own_n_and_ceiling() -> None:
    records = [
        record(0, group_gold={"plain": ()}),
        record(1, gold=(), gold_ranks={"s0": 2}, group_gold={"plain": ("s0", "s1")}),
    ]
    made, own = scores(records), scores(records, "plain")
    assert (made["recall@5"].value, made["recall@5"].n, made["recall@5"].excluded) == (1, 1, 1)
    assert (own["recall@5"].value, own["recall@5"].n, own["recall@5"].excluded) == (1, 1, 1)
    assert made["ceiling[recall_all@1]"].value == 1
    assert own["ceiling[recall_all@1]"].value == 0
    assert own["mrr"].value == 0.5


def test_ceilings_are_what_a_perfect_ranking_earns_of_the_questions_that_can_be_scored() -> None:
    records = [record(0, **AT_1), record(1, gold=tuple(SOURCES[:6])), record(2, **GOLDLESS), record(3, **failure())]
    made = scores(records)
    assert {name: made[f"ceiling[{name}]"].value for name in ("recall_all@1", "recall_all@5", "precision@5")} == {
        "recall_all@1": 2 / 3,
        "recall_all@5": 2 / 3,
        "precision@5": pytest.approx((0.2 + 1 + 0.2) / 3),
    }
    assert made["ceiling[recall@5]"].value == pytest.approx((1 + 5 / 6 + 1) / 3)
    assert made["ceiling[recall@5]"].n == 3
    assert not [name for name in made if name.startswith("ceiling") and "ndcg" in name]


@given(st.lists(st.integers(0, 7), min_size=1, max_size=12))
def test_no_figure_exceeds_its_ceiling(sizes: list[int]) -> None:
    records = []
    for number, size in enumerate(sizes):
        gold = SOURCES[:size]
        best = {"gold": tuple(gold), "hits": hits(*([source] for source in gold)), "returned": size}
        records.append(record(number, **best, gold_ranks={source: rank for rank, source in enumerate(gold, 1)}))
    made = scores(records)
    for name, ceiling in made.items():
        if name.startswith("ceiling["):
            assert made[name[8:-1]].value == ceiling.value, "a perfect ranking reaches it"


def test_intervals_are_wilsons_of_shares_and_drawn_ones_of_means() -> None:
    made = scores(RECORDS)
    assert made["recall_all@1"].interval == wilson(1, 4)
    assert made["hit@5"].interval == wilson(2, 4)
    names = [name for k in (1, 5) for name in (f"recall@{k}", f"precision@{k}", f"ndcg@{k}")] + ["mrr"]
    columns = [[r.metrics[name] or 0.0 for r in RECORDS[:4]] for name in names]
    assert [made[name].interval for name in names] == bootstrap_means(columns, "all/4")


def test_of_nothing_nothing_is_said() -> None:
    for records in ([], [RECORDS[4]]):
        made = scores(records)
        for name in ("recall_all@1", "mrr", "success_over_attempts@1", "recall_all_completed@1", "ceiling[recall@1]"):
            assert (made[name].value, made[name].n, made[name].interval) == (None, 0, None), name
    only_failed = scores([RECORDS[3]])
    assert only_failed["success_over_attempts@1"].value == 0
    assert only_failed["recall_all_completed@1"].value is None


def test_times_are_quantiles_of_ingestion_once_a_corpus_and_of_queries_once_each() -> None:
    records = [
        record(number, corpus=f"c{number // 3}", ingest_ms=float(number // 3), query_ms=float(number))
        for number in range(9)
    ]
    records.append(record(9, corpus="c9", **{**failure("init"), "ingest_ms": None}))
    made = scores(records)
    for percent in (50, 95, 99):
        ingest, query = made[f"ingest_ms_p{percent}"], made[f"query_ms_p{percent}"]
        assert (ingest.value, ingest.n, ingest.excluded) == (quantile([0.0, 1.0, 2.0], percent / 100), 3, 1)
        assert (query.value, query.n, query.excluded) == (quantile([float(n) for n in range(9)], percent / 100), 9, 1)
    assert made["query_ms_p50"].value == 4.0


def test_times_take_in_the_unanswerable_too() -> None:
    assert scores(RECORDS)["query_ms_p50"].n == 5


def test_each_system_is_scored_by_its_own_records_in_the_order_of_the_manifest() -> None:
    both = RetrievalScoring(plan(["two", "one"], [corpus("c1", question("q1"))]))
    records = [score(evidence()), score(evidence(case="two/q1", system="two", **NOWHERE))]
    made = [(found.system, found.value) for found in both.scores(records) if found.metric == "mrr"]
    assert made == [("two", 0.0), ("two", 0.0), ("one", 0.5), ("one", 0.5)]


def many(count: int) -> list[QuestionRecord]:
    chance = random.Random(5)
    made = []
    for number in range(count):
        returned = [chance.sample(SOURCES, chance.randint(0, 2)) for _ in range(chance.randint(0, 9))]
        row = observed(returned, chance.sample(SOURCES, chance.randint(1, 3)), [1, 5])
        fields = {
            "case": f"one/q{number}",
            "question": f"q{number}",
            "corpus": f"c{number // 4}",
            "order": number,
            "groups": ("all", chance.choice("xyz")),
            "ingest_ms": round(1 + number // 4 * 1.1, 3),
            "query_ms": round(chance.random(), 3),
            **(failure() if chance.random() < 0.2 else {}),
        }
        made.append(score(row.model_copy(update=fields)))
    return made


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_figures_flags_and_coverage_do_not_depend_on_the_order_of_records(chance: random.Random) -> None:
    records = many(40)
    turned = chance.sample(records, len(records))
    before, after = scoring().scores(records), scoring().scores(turned)
    assert before == after
    assert [score.model_dump_json() for score in before] == [score.model_dump_json() for score in after]
    assert scoring().flags(records, before) == scoring().flags(turned, after)
    assert scoring().coverage(records) == scoring().coverage(turned)


def test_coverage_counts_verdicts_and_faults_and_skips_nothing() -> None:
    assert scoring(planned=9).coverage(RECORDS) == Coverage(planned=9, completed=5, failed=2, skipped=0)


# Flags


def flags(records: Sequence[QuestionRecord], **fields: Any) -> list[str]:
    how = scoring(**fields)
    return list(how.flags(records, how.scores(records)))


def enough(**fields: Any) -> list[QuestionRecord]:
    return [record(number, **fields) for number in range(FEW_QUESTIONS)]


def test_of_a_full_run_without_a_fault_there_is_nothing_to_say() -> None:
    assert flags(enough()) == []


FLAGS: dict[str, tuple[list[QuestionRecord], dict[str, Any], list[str]]] = {
    "development": (
        enough(),
        {"evidence_class": "development"},
        ["development: a selection, data without a pin or uncommitted code; these figures support no claim"],
    ),
    "notes": (enough(), {"notes": ("synthetic: made", "b: c")}, ["synthetic: made", "b: c"]),
    "faults": (
        [*enough(), record(30, **failure()), record(31, **failure("init")), record(32, **failure())],
        {},
        ["faults: 3 of 33 attempts failed and count as nothing found (one init 1, one query 2)"],
    ),
    "faults of several": (
        [*enough(), record(30, system="two", **failure("teardown")), record(31, **failure("ingest"))],
        {},
        ["faults: 2 of 32 attempts failed and count as nothing found (one ingest 1, two teardown 1)"],
    ),
    "provenance": (
        [*enough(), record(30, hits=hits([], ["s0"], []), returned=3, gold_ranks={"s0": 1})],
        {},
        ["provenance: 2 hits do not say which source they are of, and earn nothing"],
    ),
    "selection": (
        enough(),
        {"selection": {"selected": 30, "of": 500}},
        ["selection: 30 of the set's 500 questions; these figures are not the set's"],
    ),
    "small": (
        enough()[:-1],
        {},
        ["small: fewer than 30 questions are too few to compare systems by (all 29, plain 29)"],
    ),
    "a small group": (
        [
            *enough(groups=("all", "big")),
            record(30, groups=("all", "tiny")),
            record(31, groups=("all", "none"), gold=()),
        ],
        {},
        ["small: fewer than 30 questions are too few to compare systems by (none 0, tiny 1)"],
    ),
}


@pytest.mark.parametrize("what", FLAGS)
def test_a_flag_says_what_and_how_much(what: str) -> None:
    records, fields, expected = FLAGS[what]
    assert flags(records, **fields) == expected


@pytest.mark.parametrize(
    ("k", "named"),
    [((7,), []), ((8,), [(8, 1)]), ((5, 8, 9, 20), [(8, 1), (9, 1), (20, 2)])],
)
def test_each_k_that_takes_in_a_whole_corpus_is_named(k: tuple[int, ...], named: list[tuple[int, int]]) -> None:
    corpora = [corpus("c1", question("q1")), corpus("c2", question("q2"), documents=SOURCES)]
    how = RetrievalScoring(plan(["one"], corpora, k))
    assert list(how.flags(enough(), [])) == [
        f"saturated: k = {cutoff} takes in every document of {full} of 2 corpora: "
        "recall there says nothing of a ranking"
        for cutoff, full in named
    ]


def test_flags_stand_in_the_order_of_their_weight() -> None:
    records = [*RECORDS, record(9, hits=hits([]), returned=1, gold_ranks={})]
    how = RetrievalScoring(
        plan(
            ["one"],
            [corpus("c1", question("q1"), documents=SOURCES[:5])],
            [1, 5],
            evidence_class="development",
            notes=("adversarial: in `all`",),
            selection={"selected": 1, "of": 2},
        )
    )
    names = [flag.partition(":")[0] for flag in how.flags(records, how.scores(records))]
    assert names == ["development", "adversarial", "faults", "provenance", "saturated", "selection", "small"]


def test_the_questions_of_several_systems_are_not_added_up() -> None:
    how = RetrievalScoring(plan(["one", "two"], [corpus("c1", question("q1"))]))
    few = enough()[:20]
    records = [*few, *(r.model_copy(update={"system": "two", "case": f"two/{r.question}"}) for r in few)]
    (flag,) = how.flags(records, how.scores(records))
    assert flag.endswith("(all 20, plain 20)")
