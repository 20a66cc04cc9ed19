"""The plan, the score of one trial, the figures of a run and the words that stand before them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti.score import stands
from smriti.score.bench import (
    FEW_TASKS,
    INJECTION_FLOOR,
    bench_flags,
    bench_scores,
    coverage,
    planned_cases,
    score_trial,
)
from smriti.types import (
    AGENT_FAULTS,
    VERDICTS,
    Coverage,
    EvidenceClass,
    Fault,
    PhaseSeconds,
    Planted,
    Status,
    Summary,
    TrialEvidence,
    TrialRecord,
    Usage,
)
from tests.strategies import STATUSES, manifest, record, trial_records, usage

TASKS = ["a", "b", "c", "d"]
BOTH = manifest(TASKS, ["off", "on"], 3)
FOUR_ARMS = ("off", "on", "ablate:kw", "ablate:all")
EVERYTHING = ("off", "on", "handed", "placebo", "file", "ablate:kw", "ablate:all")

# The plan


@given(st.integers(0, 1000))
def test_the_plan_is_the_whole_matrix_each_cell_once_numbered_in_order(seed: int) -> None:
    cases = planned_cases(manifest(TASKS, list(FOUR_ARMS), 3, seed=seed))
    cells = {(task, condition, trial) for task in TASKS for condition in FOUR_ARMS for trial in (1, 2, 3)}
    assert {(case.task_id, case.condition, case.trial) for case in cases} == cells
    assert [case.order for case in cases] == list(range(len(cells)))


@given(st.integers(0, 1000))
def test_conditions_are_interleaved_within_a_task_and_trial(seed: int) -> None:
    """Whatever drifts during a run hits all arms of a trial alike."""
    cases = planned_cases(manifest(TASKS, list(FOUR_ARMS), 3, seed=seed))
    blocks = [cases[start : start + 4] for start in range(0, len(cases), 4)]
    for block in blocks:
        assert len({(case.task_id, case.trial) for case in block}) == 1
        assert {case.condition for case in block} == set(FOUR_ARMS)


@given(st.integers(0, 1000))
def test_the_order_is_the_same_for_the_same_seed(seed: int) -> None:
    assert planned_cases(manifest(TASKS, list(FOUR_ARMS), 3, seed=seed)) == planned_cases(
        manifest(TASKS, list(FOUR_ARMS), 3, seed=seed)
    )


def test_the_order_differs_by_seed_by_task_and_by_trial() -> None:
    orders = {tuple(planned_cases(manifest(TASKS, list(FOUR_ARMS), 3, seed=seed))) for seed in range(20)}
    assert len(orders) == 20
    cases = planned_cases(manifest(TASKS, list(FOUR_ARMS), 3))
    assert len({tuple(case.condition for case in cases[start : start + 4]) for start in range(0, 48, 4)}) > 6


def test_no_condition_always_goes_first() -> None:
    first = [planned_cases(manifest(["a"], ["off", "on"], 1, seed=seed))[0].condition for seed in range(200)]
    assert 60 < first.count("off") < 140


# One trial


def attempt(**fields: Any) -> TrialEvidence:
    """The evidence of an on-trial that passed, with what is given."""
    stated: dict[str, Any] = {
        "case": "a/on/t1",
        "run_id": "run",
        "manifest_sha256": "2" * 64,
        "task_id": "a",
        "task_sha256": "1" * 64,
        "family": "misleading",
        "split": "holdout",
        "condition": "on",
        "trial": 1,
        "order": 5,
        "realm": "project:smriti-a-run-on-t1",
        "session_id": "session",
        "delivery": "hooks",
        "planted": (
            Planted(id="m1", source_id="s1", role="convention"),
            Planted(id="m2", source_id="s2", role="stale"),
        ),
        "injected_ids": ("m2",),
        "echoed_ids": (),
        "agent_exit_status": 0,
        "check_exit_status": 0,
        "usage": usage(70),
        "turns": 3,
        "seconds": PhaseSeconds(total=1.5),
        "transcript_sha256": "2" * 64,
        "diff_sha256": "3" * 64,
        "check_output_sha256": "4" * 64,
        "left_out": (),
        "fault": None,
    }
    return TrialEvidence(**{**stated, **fields})


def test_what_was_observed_is_carried_over_as_it_is() -> None:
    evidence = attempt()
    scored = score_trial(evidence, "5" * 64).model_dump()
    observed = evidence.model_dump()
    shared = scored.keys() & observed.keys()
    assert {name: scored[name] for name in shared} == {name: observed[name] for name in shared}
    assert (scored["planted_ids"], scored["evidence_sha256"]) == (("m1", "m2"), "5" * 64)


@pytest.mark.parametrize(
    ("exit_status", "status", "passed"),
    [(0, "passed", True), (1, "failed", False), (2, "failed", False), (127, "failed", False), (None, "failed", False)],
)
def test_only_an_exit_status_of_zero_is_a_pass(exit_status: int | None, status: Status, passed: bool) -> None:
    scored = score_trial(attempt(check_exit_status=exit_status), "")
    assert (scored.status, scored.passed) == (status, passed)


@pytest.mark.parametrize("status", sorted(set(STATUSES) - VERDICTS))
def test_a_fault_is_the_status_whatever_the_check_said(status: Status) -> None:
    fault = Fault(status=status, phase="forget", message="why")
    scored = score_trial(attempt(fault=fault, check_exit_status=0), "")
    assert (scored.status, scored.passed, scored.fault) == (status, None, fault)


@pytest.mark.parametrize(
    ("injected", "confirmed", "contaminated"),
    [
        (None, None, None),
        ((), False, False),
        (("m1",), True, False),
        (("m2", "m1"), True, False),
        (("x",), False, True),
        (("x", "m1"), True, True),
    ],
)
def test_confirmed_is_one_planted_memory_and_contaminated_one_that_was_not(
    injected: tuple[str, ...] | None, confirmed: bool | None, contaminated: bool | None
) -> None:
    scored = score_trial(attempt(injected_ids=injected), "")
    assert (scored.injected_confirmed, scored.contaminated) == (confirmed, contaminated)


def test_a_ledger_that_claims_what_nothing_could_have_carried_confirms_nothing() -> None:
    scored = score_trial(attempt(delivery="none", injected_ids=("m1",)), "0" * 64)
    assert scored.injected_confirmed is False


@pytest.mark.parametrize("injected", [None, ()])
def test_whatever_is_delivered_under_off_contaminates_it_and_no_ledger_is_asked(
    injected: tuple[str, ...] | None,
) -> None:
    off = attempt(condition="off", planted=(), injected_ids=injected, delivery="prefix")
    assert score_trial(off, "0" * 64).contaminated is True
    assert score_trial(off.model_copy(update={"delivery": "none"}), "0" * 64).contaminated in (None, False)


def test_an_unplanted_trial_confirms_nothing() -> None:
    scored = score_trial(attempt(planted=(), injected_ids=()), "")
    assert (scored.planted_ids, scored.injected_confirmed, scored.contaminated) == ((), False, False)


def test_an_echo_and_an_unknown_usage_are_told_as_they_are() -> None:
    scored = score_trial(attempt(echoed_ids=("m1",), usage=Usage(input_tokens=9)), "")
    assert scored.echoed
    assert (scored.usage.input_tokens, scored.usage.output_tokens, scored.usage.total) == (9, None, None)


# Coverage


@settings(deadline=None)
@given(trial_records())
def test_coverage_adds_up(records: list[TrialRecord]) -> None:
    covered = coverage(records, len(records))
    assert covered.planned == covered.completed + covered.failed + covered.skipped == len(records)
    assert covered.completed == sum(record.passed is not None for record in records)


# Figures


@settings(deadline=None)
@given(trial_records(conditions=FOUR_ARMS), st.randoms(use_true_random=False))
def test_the_order_of_the_records_changes_no_figure_and_no_flag(
    records: list[TrialRecord], chance: random.Random
) -> None:
    plan = manifest(TASKS, list(FOUR_ARMS), 3)
    shuffled = chance.sample(records, len(records))
    scores = bench_scores(plan, records)
    assert bench_scores(plan, shuffled) == scores
    assert bench_flags(plan, shuffled, scores) == bench_flags(plan, records, scores)


@settings(deadline=None)
@given(trial_records(conditions=FOUR_ARMS))
def test_every_rate_is_between_0_and_1_and_inside_its_interval(records: list[TrialRecord]) -> None:
    rates = {
        "sr",
        "sr_completed",
        "injection_confirmation_rate",
        "contamination_rate",
        "usage_unknown_rate",
        "mui",
        "mhi",
    }
    for score in bench_scores(manifest(TASKS, list(FOUR_ARMS), 3), records):
        if score.metric in rates and score.value is not None:
            assert 0 <= score.value <= 1
            assert score.n > 0
            if score.interval is not None:
                assert score.interval.low <= score.value <= score.interval.high


def test_no_figure_stands_twice_and_each_names_the_system() -> None:
    records = [record(task, condition, trial) for task in TASKS for condition in EVERYTHING for trial in (1, 2)]
    scores = bench_scores(manifest(TASKS, list(EVERYTHING), 2), records)
    names = [(score.metric, score.condition, score.group) for score in scores]
    assert len(set(names)) == len(names)
    assert {score.system for score in scores} == {"embedded"}


def test_every_figure_stands_for_all_for_each_family_and_for_each_task() -> None:
    families = {"a": "convention", "b": "exploration", "c": "misleading", "d": "convention"}
    records = [
        record(task, condition, family=family, order=order)
        for order, (task, family) in enumerate(families.items())
        for condition in ("off", "on")
    ]
    by_group: dict[str, set[tuple[str, str | None]]] = {}
    for score in bench_scores(manifest(TASKS, ["off", "on"], 1), records):
        by_group.setdefault(score.group, set()).add((score.metric, score.condition))
    assert list(by_group) == ["all", "convention", "exploration", "misleading", "a", "b", "c", "d"]
    assert len({frozenset(figures) for figures in by_group.values()}) == 1


def test_a_group_counts_its_own_trials_alone() -> None:
    records = [
        record("a", "on", status="passed"),
        record("b", "on", status="failed", family="exploration", order=1),
        record("c", "on", status="skipped", family="exploration", order=2),
    ]
    found = {s.group: s for s in bench_scores(manifest(["a", "b", "c"], ["on"], 1), records) if s.metric == "sr"}
    assert {group: (s.value, s.n, s.excluded) for group, s in found.items()} == {
        "all": (0.5, 2, 1),
        "convention": (1.0, 1, 0),
        "exploration": (0.0, 1, 1),
        "a": (1.0, 1, 0),
        "b": (0.0, 1, 0),
        "c": (None, 0, 1),
    }


@pytest.mark.parametrize(
    ("metric", "condition", "needs"),
    [
        ("delta_sr", "on", {"on", "off"}),
        ("delta_tokens", "on", {"on", "off"}),
        ("token_ratio", "on", {"on", "off"}),
        ("mui", "on", {"on", "off"}),
        ("mhi", "on", {"on", "off"}),
        ("echo_rate", "on", {"on"}),
        ("ablation_delta_sr[kw]", "ablate:kw", {"on", "ablate:kw"}),
        ("ablate_all_gap", "ablate:all", {"off", "ablate:all"}),
        ("lift_over_file", "on", {"on", "file"}),
        ("lift_over_placebo", "on", {"on", "placebo"}),
    ],
)
def test_a_comparison_is_made_only_where_both_of_its_arms_ran(metric: str, condition: str, needs: set[str]) -> None:
    def figures(conditions: Sequence[str]) -> set[tuple[str, str | None]]:
        records = [record("a", arm) for arm in conditions]
        return {
            (score.metric, score.condition) for score in bench_scores(manifest(["a"], list(conditions), 1), records)
        }

    assert (metric, condition) in figures(sorted(needs))
    for missing in needs:
        without = [arm for arm in EVERYTHING if arm != missing]
        assert (metric, condition) not in figures(without)


def test_the_effects_have_the_sign_that_their_name_says() -> None:
    records = [
        record("a", "on", tokens=100),
        record("a", "off", status="failed", tokens=300),
        record("a", "file", status="failed"),
        record("a", "placebo", status="failed"),
        record("a", "ablate:kw", status="failed"),
        record("a", "ablate:all", status="passed"),
    ]
    figures = {
        score.metric: score.value
        for score in bench_scores(manifest(["a"], [r.condition for r in records], 1), records)
        if score.group == "all" and score.metric not in {"sr", "tokens"}
    }
    assert figures["delta_sr"] == figures["lift_over_file"] == figures["lift_over_placebo"] == 1
    assert figures["ablation_delta_sr[kw]"] == 1, "on − ablated"
    assert figures["ablate_all_gap"] == 1, "ablate:all − off"
    assert (figures["delta_tokens"], figures["token_ratio"]) == (-200, 1 / 3)


# Flags

ENOUGH_TASKS = [*TASKS, *(f"more-{number}" for number in range(FEW_TASKS - len(TASKS)))]


def flags(
    records: Sequence[TrialRecord],
    conditions: Sequence[str] = ("off", "on"),
    *,
    trials: int = 3,
    evidence_class: EvidenceClass = "measured",
) -> list[str]:
    """The flags of a run, by name and in order."""
    plan = manifest(ENOUGH_TASKS, list(conditions), trials, evidence_class=evidence_class)
    return [flag.partition(":")[0] for flag in bench_flags(plan, records, bench_scores(plan, records))]


def arms(on: Mapping[str, Any] | None = None, off: Mapping[str, Any] | None = None) -> list[TrialRecord]:
    """20 on-trials and 20 off-trials, unremarkable but for what is given for the first of each arm."""
    sides: list[tuple[str, Mapping[str, Any]]] = [("off", off or {}), ("on", on or {})]
    return [
        record(
            "a", condition, trial, order=order, **{"confirmed": condition == "on", **(special if trial == 1 else {})}
        )
        for order, (condition, special) in enumerate(sides)
        for trial in range(1, 21)
    ]


def test_a_run_of_which_nothing_need_be_said_has_no_flag() -> None:
    assert flags(arms()) == []


@pytest.mark.parametrize("evidence_class", ["rehearsal", "development"])
def test_a_class_that_supports_no_claim_is_said_first_and_distrust_next(evidence_class: EvidenceClass) -> None:
    spoilt = [
        record("a", "on", confirmed=False, contaminated=True, tokens=None),
        record("a", "off", status="agent_error", order=1),
        record("b", "off", status="skipped", order=2),
    ]
    names = flags(spoilt, trials=1, evidence_class=evidence_class)
    assert names[:2] == [evidence_class, "distrust"]
    assert names[2:] == ["contamination", "faults", "skipped", "tokens", "one trial"]


def test_a_measured_run_is_not_called_anything_else() -> None:
    assert flags(arms(), evidence_class="measured") == []
    assert flags(arms(), evidence_class="component") == []


def test_distrust_begins_where_fewer_than_95_in_100_injections_are_confirmed() -> None:
    assert INJECTION_FLOOR == 0.95
    assert flags(arms(on={"confirmed": False})) == [], "19 of 20"
    two = [*arms(on={"confirmed": False}), record("b", "on", confirmed=False, order=2)]
    assert flags(two) == ["distrust"], "19 of 21"


def test_distrust_is_said_where_no_injection_can_be_confirmed() -> None:
    records = [record("a", "on", confirmed=None, contaminated=None), record("a", "off", confirmed=False, order=1)]
    plan = manifest(ENOUGH_TASKS, ["off", "on"], 3, evidence_class="measured")
    (flag,) = bench_flags(plan, records, bench_scores(plan, records))
    assert flag.startswith(
        "distrust: memory is confirmed to have reached the agent in 0 of 1 on-trials (1 cannot be told"
    )


def test_trials_that_cannot_tell_count_against_the_confirmation() -> None:
    """Nineteen silent ledgers beside one confirmed trial would make a rate of 1 over n = 1."""
    silent = [record("a", "on", trial, confirmed=None, contaminated=None, order=trial) for trial in range(2, 21)]
    records = [record("a", "on", 1), *silent, record("a", "off", confirmed=False, order=30)]
    assert flags(records) == ["distrust"]


def test_lanes_ablated_without_the_control_that_shows_that_ablation_works_are_flagged() -> None:
    assert flags(arms(), ["off", "on", "ablate:kw"]) == ["ablation unchecked"]
    assert flags(arms(), ["off", "on", "ablate:kw", "ablate:all"]) == []


def test_without_an_on_arm_there_is_nothing_to_distrust() -> None:
    assert flags([record("a", "off", confirmed=False)], ["off"]) == []


@pytest.mark.parametrize("condition", ["off", "on"])
def test_one_contaminated_trial_of_any_arm_is_flagged(condition: str) -> None:
    assert flags(arms(**{condition: {"contaminated": True}})) == ["contamination"]


def test_a_gap_between_off_and_ablate_all_is_flagged_where_chance_does_not_explain_it() -> None:
    conditions = ("off", "on", "ablate:all")

    def gap(failing_off: Sequence[str]) -> list[str]:
        records = [
            record(
                task,
                condition,
                trial,
                order=order,
                status="failed" if condition == "off" and f"{task}{trial}" in failing_off else "passed",
                confirmed=condition == "on",
                injected_ids=("m",) if condition == "on" else (),
            )
            for order, condition in enumerate(conditions)
            for task in TASKS
            for trial in (1, 2, 3)
        ]
        return flags(records, conditions)

    assert gap([]) == []
    assert gap(["a1"]) == ["gap"], "one of twelve may be chance: it is said, and the run stands"
    assert gap([f"{task}{trial}" for task in TASKS for trial in (1, 2)]) == ["ablation"]


def test_memory_that_reaches_the_agent_with_every_lane_ablated_is_flagged_whatever_came_of_it() -> None:
    records = [*arms(), record("a", "ablate:all", injected_ids=("m",), order=2)]
    assert flags(records, ["off", "on", "ablate:all"]) == ["ablation"]


@pytest.mark.parametrize("status", sorted(set(STATUSES) - VERDICTS - {"skipped"}))
def test_a_trial_without_a_verdict_is_flagged_with_its_status(status: Status) -> None:
    plan = manifest(ENOUGH_TASKS, ["off", "on"], 3, evidence_class="measured")
    records = arms(off={"status": status})
    (flag,) = bench_flags(plan, records, bench_scores(plan, records))
    assert flag.startswith("faults: 1 of 40 trials have no verdict")
    assert f"({status} 1)" in flag


def test_skipped_tasks_are_named_and_are_no_faults() -> None:
    plan = manifest(ENOUGH_TASKS, ["off", "on"], 3, evidence_class="measured")
    skipped = [record("b", condition, status="skipped", tokens=None, order=3) for condition in ("off", "on")]
    records = [*arms(), *skipped]
    (flag,) = bench_flags(plan, records, bench_scores(plan, records))
    assert flag.startswith("skipped: 1 tasks were not attempted")
    assert "(b)" in flag


def test_unknown_tokens_are_counted() -> None:
    assert flags(arms(on={"tokens": None})) == ["tokens"]


def test_a_single_trial_is_called_a_coin_flip() -> None:
    assert flags(arms(), trials=1) == ["one trial"]


def test_a_selection_of_tasks_is_said_with_its_size() -> None:
    plan = manifest(ENOUGH_TASKS, ["off", "on"], 3, evidence_class="measured", selection={"selected": 10, "of": 27})
    (flag,) = bench_flags(plan, arms(), bench_scores(plan, arms()))
    assert flag.startswith("selection: 10 of the corpus's 27 tasks")


def test_fewer_than_ten_tasks_are_said_to_be_few() -> None:
    assert FEW_TASKS == 10
    plan = manifest(ENOUGH_TASKS[:-1], ["off", "on"], 3, evidence_class="measured")
    (flag,) = bench_flags(plan, arms(), bench_scores(plan, arms()))
    assert flag.startswith("few tasks: 9;")


# Whether it stands


def summary(names: Sequence[str] = (), failed: int = 0) -> Summary:
    """A summary with these flags and so many trials without a verdict."""
    return Summary(
        coverage=Coverage(planned=4, completed=4 - failed, failed=failed, skipped=0),
        scores=(),
        flags=tuple(f"{name}: why" for name in names),
        evidence_class="rehearsal",
        files={},
        finished="now",
    )


@pytest.mark.parametrize("name", ["distrust", "contamination", "ablation"])
def test_a_run_that_did_not_measure_what_it_set_out_to_does_not_stand(name: str) -> None:
    assert not stands(summary(["rehearsal", name]))


@pytest.mark.parametrize(
    "name",
    [
        "rehearsal",
        "development",
        "gap",
        "ablation unchecked",
        "selection",
        "few tasks",
        "skipped",
        "tokens",
        "one trial",
    ],
)
def test_a_run_stands_with_what_only_narrows_it(name: str) -> None:
    assert stands(summary([name]))


def test_a_run_with_a_trial_without_a_verdict_does_not_stand() -> None:
    assert not stands(summary(failed=1))
    assert stands(summary())


def test_the_agents_own_faults_count_as_its_failures() -> None:
    """A token limit, a timeout or a crash fails the attempt as surely as the check does."""
    for status in sorted(AGENT_FAULTS):
        records = [record("a", "on"), record("a", "off", status=status, order=1)]
        figures = {s.metric: s.value for s in bench_scores(BOTH, records) if s.group == "all" and s.condition == "on"}
        assert (figures["delta_sr"], figures["sr_lift"]) == (1, 1)
