"""Rates, credits and harm mean what their names say, whatever the records."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.metrics import outcome
from smriti.metrics.pairing import Estimate
from smriti.types import Status, TrialRecord
from tests.strategies import record, trial_records


def split(records: list[TrialRecord]) -> tuple[list[TrialRecord], list[TrialRecord]]:
    return [r for r in records if r.condition == "on"], [r for r in records if r.condition == "off"]


@given(trial_records())
def test_indices_are_the_sums_of_their_credits_and_rates_stay_in_bounds(records: list[TrialRecord]) -> None:
    on, off = split(records)
    for earned in (outcome.mui(on, off, "s"), outcome.mhi(on, off, "s")):
        if earned.index.value is None:
            assert earned.sr.value is None
            assert earned.cost.value is None
            continue
        assert earned.sr.value is not None
        assert earned.cost.value is not None
        assert earned.index.value == pytest.approx(earned.sr.value + earned.cost.value, abs=1e-12)
        assert 0 <= earned.index.value <= 1
    for rate in (outcome.sr(on), outcome.sr_completed(on), outcome.contamination_rate(on)):
        assert rate.value is None or 0 <= rate.value <= 1
        assert rate.n + rate.excluded == len(on)


@given(trial_records(), st.randoms(use_true_random=False))
def test_the_order_of_records_is_irrelevant(records: list[TrialRecord], chance: random.Random) -> None:
    on, off = split(records)
    on_turned, off_turned = on[:], off[:]
    chance.shuffle(on_turned)
    chance.shuffle(off_turned)
    assert outcome.mui(on, off, "s") == outcome.mui(on_turned, off_turned, "s")
    assert outcome.mhi(on, off, "s") == outcome.mhi(on_turned, off_turned, "s")
    assert outcome.delta_sr(on, off, "s") == outcome.delta_sr(on_turned, off_turned, "s")


@given(trial_records(), st.sampled_from(["passed", "failed", "agent_timeout"]), st.sampled_from("abcd"))
def test_an_unconfirmed_on_trial_never_raises_mui(records: list[TrialRecord], status: Status, task: str) -> None:
    on, off = split(records)
    more = [*on, record(task, "on", 9, status=status, confirmed=False)]
    before, after = outcome.mui(on, off, "s").index.value, outcome.mui(more, off, "s").index.value
    assert after is not None
    assert after <= (before or 0.0)


@given(trial_records())
def test_no_trial_is_both_useful_and_harmful(records: list[TrialRecord]) -> None:
    on, off = split(records)
    use, harm = outcome.mui(on, off, "s").index.value, outcome.mhi(on, off, "s").index.value
    assert use is None or harm is None or use + harm <= 1 + 1e-12


def credit_of(on: TrialRecord, *off: TrialRecord) -> tuple[float | None, float | None, float | None, float | None]:
    use, harm = outcome.mui([on], list(off), "s"), outcome.mhi([on], list(off), "s")
    return use.sr.value, use.cost.value, harm.sr.value, harm.cost.value


def test_success_where_off_failed_is_sr_lift() -> None:
    assert credit_of(record(), record(condition="off", status="failed")) == (1, 0, 0, 0)


@pytest.mark.parametrize(("off_tokens", "saved"), [(150, 1), (149, 0)])
def test_cost_saving_begins_at_one_and_a_half_times_the_tokens(off_tokens: int, saved: int) -> None:
    assert credit_of(record(tokens=100), record(condition="off", tokens=off_tokens)) == (0, saved, 0, 0)


def test_failure_where_off_passed_is_sr_harm() -> None:
    assert credit_of(record(status="failed"), record(condition="off")) == (0, 0, 1, 0)


def test_passing_at_one_and_a_half_times_the_tokens_is_cost_harm() -> None:
    assert credit_of(record(tokens=150), record(condition="off", tokens=100)) == (0, 0, 0, 1)


@pytest.mark.parametrize("confirmed", [False, None])
def test_nothing_is_credited_to_memory_that_was_not_confirmed(confirmed: bool | None) -> None:
    assert credit_of(record(confirmed=confirmed), record(condition="off", status="failed")) == (0, 0, 0, 0)


def test_unknown_tokens_earn_no_cost_credit() -> None:
    assert credit_of(record(tokens=None), record(condition="off", tokens=900)) == (0, 0, 0, 0)
    assert credit_of(record(tokens=100), record(condition="off", tokens=None)) == (0, 0, 0, 0)


def test_a_partner_spoilt_by_the_harness_earns_nothing_and_one_that_timed_out_failed() -> None:
    assert credit_of(record(), record(condition="off", status="check_timeout")) == (0, 0, 0, 0)
    assert credit_of(record(), record(condition="off", status="agent_timeout")) == (1, 0, 0, 0)


def test_without_the_same_trial_all_off_trials_of_the_task_are_the_partner() -> None:
    on = record(trial=3, tokens=100)
    cheap, dear = record(condition="off", trial=1, tokens=100), record(condition="off", trial=2, tokens=300)
    assert credit_of(on, dear) == (0, 1, 0, 0)
    assert credit_of(on, cheap, dear) == (0, 0, 0, 0)
    assert credit_of(on, dear, record(condition="off", trial=1, status="failed")) == (1, 0, 0, 0)
    assert credit_of(on, record("beta", "off", 3, status="failed")) == (0, 0, 0, 0)


def test_faults_stay_in_the_denominator_and_skipped_trials_do_not() -> None:
    records = [record(), record(trial=2, status="agent_timeout"), record(trial=3, status="skipped")]
    assert outcome.sr(records) == Estimate(0.5, 2, 1, outcome.sr(records).interval)
    completed = outcome.sr_completed(records)
    assert (completed.value, completed.n, completed.excluded) == (1.0, 1, 2)


def test_delta_sr_pairs_by_task_and_trial_and_counts_what_has_no_partner() -> None:
    on = [record(trial=1), record(trial=2), record("beta", trial=1, status="failed")]
    off = [record(condition="off", trial=1, status="failed"), record("beta", "off", 1)]
    delta = outcome.delta_sr(on, off, "s")
    assert (delta.value, delta.n, delta.excluded) == (0.0, 2, 1)


def test_nothing_is_said_of_no_trials() -> None:
    assert outcome.sr([]).value is None
    assert outcome.delta_sr([], [], "s").value is None
    assert outcome.mui([], [], "s").index.value is None
