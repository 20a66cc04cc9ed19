"""Token figures count only what was counted."""

from __future__ import annotations

from smriti.metrics import tokens
from smriti.types import Usage
from tests.strategies import record


def test_pairs_with_an_unknown_side_are_left_out_and_counted() -> None:
    on = [record(trial=1, tokens=100), record(trial=2, tokens=None), record(trial=3, tokens=50)]
    off = [record(condition="off", trial=t, tokens=used) for t, used in ((1, 300), (2, 300), (3, None))]
    delta, ratio = tokens.delta_tokens(on, off, "s"), tokens.token_ratio(on, off, "s")
    assert (delta.value, delta.n, delta.excluded) == (-200.0, 1, 2)
    assert (ratio.value, ratio.n, ratio.excluded) == (100 / 300, 1, 2)


def test_a_ratio_over_no_tokens_is_unknown() -> None:
    assert tokens.token_ratio([record(tokens=5)], [record(condition="off", tokens=0)], "s").value is None


def test_usage_with_one_unknown_kind_has_no_total() -> None:
    assert Usage(input_tokens=1, output_tokens=1, cache_read_tokens=0).total is None
    assert Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4).total == 10


def test_trials_with_unknown_tokens_are_a_stated_share_of_the_attempted() -> None:
    records = [record(trial=1), record(trial=2, tokens=None), record(trial=3, status="skipped", tokens=None)]
    unknown = tokens.usage_unknown_rate(records)
    assert (unknown.value, unknown.n, unknown.excluded) == (0.5, 2, 1)
    mean = tokens.mean_tokens(records)
    assert (mean.value, mean.n, mean.excluded) == (100.0, 1, 2)
