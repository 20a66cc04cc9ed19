"""Receipts are compared where nothing but the memory system differs, and the verdict says what was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smriti.errors import UsageError
from smriti.metrics import outcome, tokens
from smriti.metrics.intervals import bootstrap_means
from smriti.metrics.paired import clustered_bounds, mcnemar, sign_flip
from smriti.receipts.comparable import Side
from smriti.receipts.compare import FEWEST_CASES, FEWEST_TASKS, Comparison, compare
from smriti.receipts.contrasts import Contrast
from smriti.types import CorpusPlan, RetrievalConfig, Status, SystemIdentity
from tests.receipts.comparisons import (
    Ends,
    bench,
    bench_manifest,
    passes,
    retrieval,
    retrieval_manifest,
)

HALF = passes({"off": 0.5, "on": 0.5})
MOST = passes({"off": 0.5, "on": 1.0})


def first(_system: str, _number: int) -> int:
    return 1


@pytest.fixture
def pair(tmp_path: Path) -> Callable[..., tuple[Side, Side]]:
    """Makes the two sides of a comparison of the bench from how their trials end and what is special of each."""

    def pair(a: Ends = HALF, b: Ends = MOST, of_a: Any = None, of_b: Any = None) -> tuple[Side, Side]:
        first = bench(tmp_path / "a", a, bench_manifest(**(of_a or {})))
        second = bench(tmp_path / "b", b, bench_manifest(**(of_b or {})))
        return Side("A", first), Side("B", second)

    return pair


Pair = Callable[..., tuple[Side, Side]]


@pytest.fixture
def systems(tmp_path: Path) -> Callable[..., tuple[Side, Side]]:
    """Makes the two sides of a comparison of two systems of one retrieval receipt from the ranks of the evidence."""

    def systems(ranks: Mapping[str, Callable[[int], int | None]], questions: int = 40, **fields: Any) -> Any:
        made = retrieval_manifest(questions, memory=tuple(ranks), **fields)
        receipt = retrieval(tmp_path / "r", lambda system, number: ranks[system](number), made)
        first, second = ranks
        return Side("A", receipt, first), Side("B", receipt, second)

    return systems


def contrast(comparison: Comparison, metric: str, named: str) -> Contrast:
    """The one figure of a condition or group."""
    (found,) = [c for c in comparison.contrasts if c.metric == metric and named in {c.condition, c.group}]
    return found


# What must be the same

BENCH_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "code": ({"code": bench_manifest().code.model_copy(update={"sha256": "1" * 64})}, "sha256 111111111111… in B"),
    "datasets": ({"datasets": {"notes": "5" * 64}}, "datasets.notes: nothing in A, 555555555555… in B"),
    "selection": (
        {"selection": {"ids": [], "split": "all", "selected": 12, "of": 13}},
        "selection.of: 12 in A, 13 in B",
    ),
    "sandbox": ({"sandbox": "bubblewrap"}, "sandbox: none in A, bubblewrap in B"),
    "agent": ({"agents": (SystemIdentity(name="rehearsal", version="1", detail={"model": "m2"}),)}, "m2 in B"),
    "agent_artifacts": ({"artifacts": {"agents/own.py": "6" * 64}}, "agents/own.py: nothing in A"),
    "delivery": ({"delivery": "mcp"}, "delivery: hooks in A, mcp in B"),
    "trials": ({"trials": 4}, "trials: 3 in A, 4 in B"),
    "timeout_s": ({"config": {"timeout_s": 61.0}}, "timeout_s: 60.0 in A, 61.0 in B"),
    "max_tokens": ({"config": {"max_tokens": 5000}}, "max_tokens: none in A, 5000 in B"),
    "flake": ({"config": {"flake": 0.5}}, "flake: 0.0 in A, 0.5 in B"),
}


@pytest.mark.parametrize("field", BENCH_FIELDS)
def test_a_difference_in_the_experiment_is_refused_with_both_values_unless_it_is_let_pass(
    pair: Pair, field: str
) -> None:
    fields, words = BENCH_FIELDS[field]
    kind = {"evidence_class": "development"}
    a, b = pair(of_a=kind, of_b={**kind, **fields})
    with pytest.raises(UsageError, match="more than the memory system differs") as refused:
        compare(a, b)
    assert words in str(refused.value)
    comparison = compare(a, b, allow=[field])
    assert [difference.field.partition(".")[0] for difference in comparison.allowed] == [field]
    assert any(flag.startswith("allowed: ") and words in flag for flag in comparison.flags)
    assert comparison.stated()["allowed"][0]["field"].startswith(field)
    assert comparison.verdict.word in {"better", "no verdict"}


def test_every_difference_is_named_at_once(pair: Pair) -> None:
    a, b = pair(of_b={"sandbox": "bubblewrap", "trials": 2, "config": {"timeout_s": 1.0}, "delivery": "mcp"})
    with pytest.raises(UsageError) as refused:
        compare(a, b, allow=["delivery"])
    for words in ("sandbox: none in A, bubblewrap in B", "trials: 3 in A, 2 in B", "timeout_s: 60.0 in A, 1.0 in B"):
        assert words in str(refused.value)
    assert "delivery" not in str(refused.value)
    assert len(compare(a, b, allow=["delivery", "sandbox", "trials", "timeout_s"]).allowed) == 4


def test_tasks_that_differ_are_named_one_by_one_and_left_out_where_that_is_let_pass(tmp_path: Path) -> None:
    one, other = (bench_manifest(13, evidence_class="development") for _ in range(2))
    changed = other.tasks[3].model_copy(update={"sha256": "0" * 63 + "9", "version": 2})
    gone = (*other.tasks[:3], changed, *other.tasks[4:12])
    chosen = {"selected": 12, "of": 13}
    other = other.model_copy(update={"tasks": gone, "planned": 72, "selection": chosen})
    one = one.model_copy(update={"selection": {"selected": 13, "of": 13}})
    a = Side("A", bench(tmp_path / "a", HALF, one))
    b = Side("B", bench(tmp_path / "b", HALF, other))
    with pytest.raises(UsageError) as refused:
        compare(a, b)
    assert "tasks.task03: version 1, sha256 000000000000… in A, version 2, sha256 000000000000… in B" in str(
        refused.value
    )
    assert "tasks.task12: version 1, sha256 000000000000… in A, nothing in B" in str(refused.value)
    with pytest.raises(UsageError, match="task12"):
        compare(a, b, allow=["tasks.task03"])
    found = compare(a, b, allow=["tasks", "selection"]).headline
    assert (found.n, found.clusters, found.excluded) == (36, 12, 3)


def test_the_memory_system_and_the_occasion_may_differ_and_are_named(pair: Pair) -> None:
    a, b = pair(
        of_b={
            "systems": (SystemIdentity(name="other", version="2"),),
            "artifacts": {"memory/other.py": "8" * 64},
            "packages": {"other": "2"},
            "host": {"cpus": 64},
            "engine": "dask",
            "jobs": 9,
        }
    )
    comparison = compare(a, b)
    fields = {difference.field: (difference.a, difference.b) for difference in comparison.differing}
    assert fields["memory.name"] == ("embedded", "other")
    assert {"memory.version", "memory_artifacts.memory/other.py", "packages.other", "host.cpus", "engine"} <= set(
        fields
    )
    assert not comparison.allowed
    assert not any(flag.startswith("a/a") for flag in comparison.flags)


def test_receipts_of_one_memory_system_are_told_to_be(pair: Pair) -> None:
    a, b = pair()
    assert any(flag.startswith("a/a: ") for flag in compare(a, b).flags)


def test_two_systems_of_one_receipt_that_say_they_are_the_same_are_told_to_be(tmp_path: Path) -> None:
    same, both = SystemIdentity(name="mine", version="1"), ("grep", "bm25")
    receipt = retrieval(tmp_path / "r", first, retrieval_manifest(memory=both, systems=(same, same)))
    comparison = compare(Side("A", receipt, "grep"), Side("B", receipt, "bm25"))
    assert any(flag.startswith("a/a: ") for flag in comparison.flags)
    receipt = retrieval(tmp_path / "s", first, retrieval_manifest(memory=both))
    comparison = compare(Side("A", receipt, "grep"), Side("B", receipt, "bm25"))
    assert not any(flag.startswith("a/a: ") for flag in comparison.flags)


def test_other_code_may_be_another_memory_system(pair: Pair) -> None:
    a, b = pair(of_b=BENCH_FIELDS["code"][0])
    assert not any(flag.startswith("a/a: ") for flag in compare(a, b, allow=["code"]).flags)


def test_the_order_of_tasks_and_the_seed_are_no_difference(pair: Pair) -> None:
    made = bench_manifest()
    a, b = pair(of_b={"seed": 5, "config": {"seed": 5}})
    assert {difference.field for difference in compare(a, b).differing} == {"seed"}
    assert made.seed == 0


@pytest.mark.parametrize(
    ("allow", "words"),
    [
        ("sandbx", "'sandbx' is no field of the experiment, which has suite, .* did you mean 'sandbox'"),
        ("delivery", "'delivery' is the same in A and B"),
        ("tasks.task00", "'tasks.task00' is the same in A and B"),
    ],
)
def test_what_does_not_differ_cannot_be_let_pass(pair: Pair, allow: str, words: str) -> None:
    a, b = pair(of_b={"sandbox": "bubblewrap"})
    with pytest.raises(UsageError, match=f"--allow: {words}"):
        compare(a, b, allow=[allow, "sandbox"])


def test_what_is_wrong_with_allow_is_told_all_at_once(pair: Pair) -> None:
    a, b = pair()
    with pytest.raises(UsageError, match=r"'one'.*'two'"):
        compare(a, b, allow=["one", "two"])


def test_evidence_of_another_class_is_never_compared(pair: Pair) -> None:
    a, b = pair(of_b={"evidence_class": "development"})
    with pytest.raises(UsageError, match="evidence_class: measured in A, development in B"):
        compare(a, b)
    with pytest.raises(UsageError, match="'evidence_class' cannot be let pass"):
        compare(a, b, allow=["evidence_class"])


def test_another_suite_is_never_compared(pair: Pair, systems: Pair) -> None:
    a, _ = pair()
    _, b = systems({"grep": lambda _: 1, "bm25": lambda _: 1})
    with pytest.raises(UsageError, match="suite: bench in A, coding-life in B"):
        compare(a, b)
    with pytest.raises(UsageError, match="'suite' cannot be let pass"):
        compare(a, b, allow=["suite", "evidence_class", "selection"])


def test_the_condition_must_be_in_both(pair: Pair) -> None:
    three = passes({"off": 0.5, "on": 0.5, "file": 1.0})
    a, b = pair(b=three, of_b={"conditions": ["off", "on", "file"]})
    with pytest.raises(UsageError, match=r"conditions: off, on \(file is needed\) in A"):
        compare(a, b, condition="file")
    with pytest.raises(UsageError, match="'conditions' cannot be let pass"):
        compare(a, b, condition="file", allow=["conditions"])
    assert compare(a, b).headline.condition == "on", "another one may be in one of them alone"


def test_a_receipt_is_not_compared_with_itself(pair: Pair) -> None:
    a, _ = pair()
    with pytest.raises(UsageError, match="are the same one receipt"):
        compare(a, Side("B", a.receipt))


RETRIEVAL_FIELDS: dict[str, dict[str, Any]] = {
    "k": {"config": {"k": (5, 10)}},
    "options.granularity": {"config": {"options": {"granularity": "turn"}}},
    "datasets.coding-life": {"datasets": {"coding-life": "8" * 64}},
    "selection.limit": {"selection": {"stratify": None, "limit": 40, "selected": 40, "of": 40}},
    "questions": {"corpora": (CorpusPlan(id="c", documents=20, questions=tuple(f"q{n:04}" for n in range(1, 41))),)},
}


@pytest.mark.parametrize("field", RETRIEVAL_FIELDS)
def test_retrieval_is_compared_over_the_same_data_in_the_same_way(tmp_path: Path, field: str) -> None:
    plain: dict[str, Any] = {"evidence_class": "development", "config": {"options": {"granularity": "session"}}}
    a = Side("A", retrieval(tmp_path / "a", lambda *_: 1, retrieval_manifest(**plain)), "grep")
    fields = {**plain, **RETRIEVAL_FIELDS[field]}
    fields["config"] = {**plain["config"], **fields["config"]}
    b = Side("B", retrieval(tmp_path / "b", lambda *_: 1, retrieval_manifest(**fields)), "grep")
    with pytest.raises(UsageError, match=f"differs: {field}: "):
        compare(a, b)
    assert [difference.field for difference in compare(a, b, allow=[field]).allowed] == [field]


def test_retrieval_with_no_k_in_common_is_refused(tmp_path: Path) -> None:
    a = Side("A", retrieval(tmp_path / "a", lambda *_: 1), "grep")
    ten = retrieval_manifest(config={"k": (10,)})
    b = Side("B", retrieval(tmp_path / "b", lambda *_: 1, ten), "grep")
    with pytest.raises(UsageError, match="no k in common"):
        compare(a, b, allow=["k"])


# The figures of the bench


def noisy(seed: int, gain: float = 0.0) -> Ends:
    chance = np.random.default_rng(seed)
    return lambda task, condition, _: (
        "passed" if chance.random() < 0.3 + task / 40 + gain * (condition == "on") else "failed"
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_headline_is_what_the_simulated_comparisons_compute(pair: Pair, seed: int) -> None:
    """Power and false verdicts are simulated with sums of tasks; a comparison of receipts gives the same bits."""
    a, b = pair(noisy(seed), noisy(seed + 100, 0.3))
    found = compare(a, b).headline
    sums = [
        sum(
            (r.passed is True) * (1 if side is b else -1)
            for side in (a, b)
            for r in side.receipt.records
            if r.condition == "on" and r.task_id == f"task{task:02}"
        )
        for task in range(12)
    ]
    lows, highs = clustered_bounds(np.array([sums]), [3] * 12, "compare/delta_sr/on")
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (lows[0], highs[0])
    assert found.p == sign_flip([sums], "compare/delta_sr/on")[0].p
    assert found.value == pytest.approx(sum(sums) / 36)
    assert found.value == pytest.approx((found.candidate or 0) - (found.baseline or 0))


def test_each_figure_is_that_of_the_metric_it_is_named_after(tmp_path: Path) -> None:
    made = bench_manifest(), bench_manifest()
    a = Side("A", bench(tmp_path / "a", noisy(1), made[0], lambda condition: 200 if condition == "on" else 100))
    b = Side("B", bench(tmp_path / "b", noisy(2, 0.4), made[1], lambda condition: 150 if condition == "on" else 100))
    comparison = compare(a, b)
    arms = {
        (side.label, condition): [r for r in side.receipt.records if r.condition == condition]
        for side in (a, b)
        for condition in ("off", "on")
    }
    for condition in ("off", "on"):
        found = contrast(comparison, "sr", condition)
        expected = outcome.delta_sr(arms["B", condition], arms["A", condition], f"compare/delta_sr/{condition}")
        assert (found.value, found.n, found.interval) == (expected.value, expected.n, expected.interval)
        ratio = contrast(comparison, "token_ratio", condition)
        expected = tokens.token_ratio(arms["B", condition], arms["A", condition], f"compare/token_ratio/{condition}")
        assert (ratio.value, ratio.interval) == (expected.value, expected.interval)
        assert ratio.p is None
    assert contrast(comparison, "token_ratio", "on").value == 0.75
    gains = contrast(comparison, "delta_sr", "on")
    deltas = [outcome.delta_sr(arms[label, "on"], arms[label, "off"], "").value for label in "AB"]
    assert (gains.baseline, gains.candidate) == (deltas[0], deltas[1])
    assert gains.value == pytest.approx((deltas[1] or 0) - (deltas[0] or 0))
    assert gains.role == contrast(comparison, "sr", "off").role == "check"


def test_pairs_of_trials_are_counted_and_tested(pair: Pair) -> None:
    """6 of 12 tasks pass in B alone, all 3 trials of each, but for one that passes in A alone."""
    a, b = pair(
        lambda task, _, trial: "passed" if task < 3 or (task, trial) == (11, 1) else "failed",
        passes({"off": 0.25, "on": 0.75}),
    )
    found = contrast(compare(a, b), "sr", "on").mcnemar
    assert found is not None
    assert (found.gained, found.lost, found.p) == (18, 1, mcnemar(18, 1))


def test_unpaired_and_skipped_trials_are_left_out_and_counted(pair: Pair) -> None:
    def skipping(task: int, condition: str, trial: int) -> Status:
        return "skipped" if task == 0 else MOST(task, condition, trial)

    a, b = pair(b=skipping, of_b={"trials": 4})
    found = compare(a, b, allow=["trials"]).headline
    assert (found.n, found.clusters, found.excluded) == (33, 11, 3 + 48 - 33)


def test_a_fault_counts_as_a_failure(pair: Pair) -> None:
    a, b = pair(MOST, lambda task, condition, trial: "agent_timeout" if task == 0 else MOST(task, condition, trial))
    found = compare(a, b).headline
    assert found.baseline == 1.0
    assert found.candidate == pytest.approx(33 / 36)


def test_other_conditions_are_one_family_of_holms(pair: Pair) -> None:
    shares = {"off": 0.5, "on": 0.5, "file": 0.5, "placebo": 0.5}
    conditions = {"conditions": list(shares)}
    a, b = pair(passes(shares), passes({**shares, "file": 1.0, "placebo": 0.0}), conditions, conditions)
    comparison = compare(a, b)
    for name in ("file", "placebo"):
        found = contrast(comparison, "sr", name)
        assert found.role == "other"
        assert found.p_holm == pytest.approx(2 * 2 / 2**6)
    assert contrast(comparison, "sr", "off").p_holm is None
    assert comparison.headline.p_holm == comparison.headline.p


# Verdicts


def test_better_worse_and_whose_baseline_it_is(pair: Pair) -> None:
    a, b = pair()
    forth, back = compare(a, b), compare(a, b, baseline="B")
    assert forth.verdict.word == "better"
    assert forth.verdict.sentence.startswith("B is better than A: sr(on) of B − A is +0.500 [")
    assert back.verdict.word == "worse"
    assert back.verdict.sentence.startswith("A is worse than B: sr(on) of A − B is -0.500 [")
    assert (forth.baseline.label, back.baseline.label) == ("A", "B")


def test_b_against_a_is_a_against_b_turned_round(pair: Pair) -> None:
    a, b = pair(noisy(1), noisy(2, 0.2))
    forth, back = compare(a, b), compare(a, b, baseline="B")
    for one, other in zip(forth.contrasts, back.contrasts, strict=True):
        assert (one.p, one.p_holm, one.n) == (other.p, other.p_holm, other.n)
        assert (one.baseline, one.candidate) == (other.candidate, other.baseline)
        if one.metric != "token_ratio" and one.interval and other.interval:
            assert one.value == -(other.value or 0.0)
            assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))


def test_the_order_of_rows_is_irrelevant(pair: Pair) -> None:
    import dataclasses  # noqa: PLC0415

    a, b = pair(noisy(1), noisy(2, 0.2))
    turned = [
        Side(side.label, dataclasses.replace(side.receipt, records=side.receipt.records[::-1])) for side in (a, b)
    ]
    assert compare(*turned).contrasts == compare(a, b).contrasts


def test_no_difference_shown_says_what_would_have_been(pair: Pair) -> None:
    a, b = pair(HALF, HALF)
    verdict = compare(a, b).verdict
    assert verdict.word == "no difference shown"
    assert verdict.smallest is not None
    assert 0.2 < verdict.smallest < 0.5
    assert f"shows one of {verdict.smallest:.2f} in 8 of 10 runs" in verdict.sentence
    assert verdict.stands


def test_the_stricter_of_test_and_interval_decides(pair: Pair) -> None:
    """5 of 12 tasks gained in all trials: the interval excludes 0, and the exact test, 1/16, does not."""
    a, b = pair(HALF, lambda task, _, __: "passed" if task < 11 else "failed")
    comparison = compare(a, b)
    assert comparison.headline.interval is not None
    assert comparison.headline.interval.low > 0
    assert comparison.headline.p == 2 / 2**5
    assert comparison.verdict.word == "no difference shown"


def test_rehearsals_differ_and_are_never_better(pair: Pair) -> None:
    rehearsal = {"evidence_class": "rehearsal"}
    a, b = pair(of_a=rehearsal, of_b=rehearsal)
    comparison = compare(a, b)
    assert comparison.flags[0].startswith("rehearsal: ")
    assert comparison.verdict.word == "higher"
    assert "differs between two rehearsals" in comparison.verdict.sentence
    assert compare(a, b, baseline="B").verdict.word == "lower"


@pytest.mark.parametrize(
    ("tasks", "trials", "reason"),
    [
        (FEWEST_TASKS - 1, 4, "few tasks: 9 are paired; a verdict needs 10"),
        (FEWEST_TASKS, 2, "few trials: 20 pairs; a verdict needs 30"),
        (FEWEST_TASKS, 3, None),
    ],
)
def test_a_design_that_is_too_small_gets_no_verdict(pair: Pair, tasks: int, trials: int, reason: str | None) -> None:
    size = {"tasks": tasks, "trials": trials}
    a, b = pair(passes({"off": 0, "on": 0}), passes({"off": 0, "on": 1.0}), size, size)
    verdict = compare(a, b).verdict
    if reason is None:
        assert verdict.word == "better"
    else:
        assert (verdict.word, verdict.reasons, verdict.stands) == ("no verdict", (reason,), True)
    assert FEWEST_CASES == 30


def test_a_receipt_in_which_memory_never_arrived_gets_no_verdict(pair: Pair) -> None:
    """`plant_failed` in 6 of 72 trials of B: memory is not confirmed in them, and they are faults of the system."""

    def failing(task: int, condition: str, trial: int) -> Status:
        return "plant_failed" if condition == "on" and task < 2 else MOST(task, condition, trial)

    a, b = pair(b=failing)
    comparison = compare(a, b)
    assert comparison.verdict.word == "no verdict"
    assert not comparison.verdict.stands
    (failures,) = [reason for reason in comparison.verdict.reasons if reason.startswith("failures: ")]
    assert failures.startswith("failures: B: 6 of 36 attempts ended in a fault of the memory system or the harness")
    assert any(flag.startswith("faults: B: ") for flag in comparison.flags)


@pytest.mark.parametrize("flag", ["distrust", "contamination", "ablation"])
def test_a_spoilt_receipt_gets_no_verdict(pair: Pair, flag: str) -> None:
    import dataclasses  # noqa: PLC0415

    a, b = pair()
    summary = a.receipt.summary.model_copy(update={"flags": (f"{flag}: planted", f"{flag} unchecked: another")})
    spoilt = Side("A", dataclasses.replace(a.receipt, summary=summary))
    verdict = compare(spoilt, b).verdict
    assert (verdict.word, verdict.reasons, verdict.stands) == ("no verdict", (f"{flag}: A: planted",), False)


@pytest.mark.parametrize(("status", "word"), [("agent_timeout", "better"), ("infra_error", "no verdict")])
def test_an_agents_own_faults_are_outcomes_and_the_harnesss_are_not(pair: Pair, status: Status, word: str) -> None:
    def faulty(task: int, condition: str, trial: int) -> Status:
        return status if task == 11 else HALF(task, condition, trial)

    a, b = pair(a=faulty)
    assert compare(a, b).verdict.word == word


def test_where_off_differs_too_there_is_no_verdict(pair: Pair) -> None:
    a, b = pair(passes({"off": 0, "on": 0.5}), passes({"off": 1.0, "on": 1.0}))
    verdict = compare(a, b).verdict
    assert verdict.word == "no verdict"
    assert verdict.reasons[0].startswith("drift: sr(off), where memory plays no part, differs by +1.000")
    assert compare(a, b, condition="off").verdict.word == "better", "asked for by name it is the headline"


def test_off_may_differ_by_what_chance_does(pair: Pair) -> None:
    """6 of 12 tasks: p = 0.031, which is not below the 0.01 of the check."""
    a, b = pair(passes({"off": 0, "on": 0.5}), passes({"off": 0.5, "on": 1.0}))
    assert compare(a, b).verdict.word == "better"


# Retrieval


def test_retrieval_counts_by_question_and_says_which_system_is_better(systems: Pair) -> None:
    a, b = systems({"grep": lambda n: 1 if n < 20 else 9, "bm25": lambda n: 1 if n < 30 else 9})
    comparison = compare(a, b)
    found = comparison.headline
    assert (found.metric, found.group, found.baseline, found.candidate, found.value) == (
        "recall_all@5",
        "all",
        0.5,
        0.75,
        0.25,
    )
    assert (found.n, found.excluded, found.p) == (40, 0, 2 / 2**10)
    assert comparison.verdict.word == "better"
    assert compare(a, b, baseline="B").verdict.word == "worse"
    assert contrast(comparison, "mrr", "all").value == pytest.approx(10 / 40 * (1 - 1 / 9))


def test_each_metric_of_each_type_is_one_family_and_those_of_all_another(systems: Pair) -> None:
    a, b = systems({"grep": lambda n: 1 if n % 4 else 9, "bm25": lambda n: 1 if n % 7 else 3})
    comparison = compare(a, b)
    roles = [c.role for c in comparison.contrasts]
    assert (roles.count("headline"), roles.count("all"), roles.count("type")) == (1, 5, 12)
    assert {c.group for c in comparison.contrasts if c.role == "type"} == {"even", "odd"}
    for role, size in (("all", 5), ("type", 12)):
        family = [c for c in comparison.contrasts if c.role == role]
        smallest = min(family, key=lambda c: c.p or 1.0)
        assert smallest.p_holm == min(1.0, size * (smallest.p or 1.0))
        assert all((c.p_holm or 0) >= (c.p or 1) for c in family)
    assert comparison.headline.p_holm == comparison.headline.p


def test_a_failed_attempt_found_nothing(systems: Pair) -> None:
    a, b = systems({"grep": lambda _: 1, "bm25": lambda n: None if n == 0 else 1})
    found = compare(a, b).headline
    assert (found.candidate, found.n, found.excluded) == (39 / 40, 40, 0)


def test_too_many_failed_attempts_get_no_verdict(systems: Pair) -> None:
    a, b = systems({"grep": lambda _: 1, "bm25": lambda n: None if n < 3 else 1})
    verdict = compare(a, b).verdict
    assert (verdict.word, verdict.stands) == ("no verdict", False)
    assert verdict.reasons[0].startswith("failures: B: 3 of 40 attempts")


def test_too_few_questions_get_no_verdict(systems: Pair) -> None:
    a, b = systems({"grep": lambda _: 9, "bm25": lambda _: 1}, questions=29)
    verdict = compare(a, b).verdict
    assert verdict.reasons == ("few questions: 29 are paired; a verdict needs 30",)
    assert verdict.stands


def test_like_systems_show_no_difference_and_what_would_have_been_shown(systems: Pair) -> None:
    a, b = systems({"grep": lambda n: 1 + n % 9, "bm25": lambda n: 1 + n % 9})
    verdict = compare(a, b).verdict
    assert verdict.word == "no difference shown"
    assert verdict.smallest == pytest.approx(0.2, abs=0.03), "eight of 40 questions or so"


def test_the_smallest_k_that_both_have_makes_the_headline(tmp_path: Path) -> None:
    sides = []
    for label, cutoffs in (("A", (3, 5, 10)), ("B", (5, 10))):
        made = retrieval_manifest(config=RetrievalConfig(memory=("grep",), k=cutoffs, options={}).model_dump())
        sides.append(Side(label, retrieval(tmp_path / label, lambda _, n: 1 + n % 12, made), "grep"))
    comparison = compare(*sides, allow=["k"])
    assert comparison.headline.metric == "recall_all@5"
    assert {c.metric.partition("@")[2] for c in comparison.contrasts} == {"5", "10", ""}


def test_all_questions_against_other_evidence_are_of_the_family_of_all(systems: Pair) -> None:
    ranks = {"grep": lambda n: 1 if n % 4 else 9, "bm25": lambda n: 1 if n % 7 else 3}
    a, b = systems(ranks, labels={"all-repaired": "repaired"})
    found = [c for c in compare(a, b).contrasts if c.group == "all-repaired"]
    assert len(found) == 6
    assert {c.role for c in found} == {"all"}


def test_questions_are_drawn_in_the_order_of_their_names(systems: Pair) -> None:
    """And not in that of a set or of rows, which is another one in every process."""
    a, b = systems({"grep": lambda n: 1 if n % 4 else 9, "bm25": lambda n: 1 if n % 7 else 9})
    differences = [float(n % 7 != 0) - float(n % 4 != 0) for n in range(40)]
    (expected,) = bootstrap_means([differences], "compare/all/40")
    found = compare(a, b).headline.interval
    assert expected is not None
    assert found is not None
    assert (found.low, found.high) == (expected.low, expected.high)
