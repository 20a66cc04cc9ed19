"""`smriti plan`: how many trials it takes, in words and in JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import Smriti
from tests.receipts.comparisons import bench, bench_manifest, passes, retrieval

pytestmark = pytest.mark.usefixtures("all_known")


def test_a_plan_names_the_trials_and_what_was_assumed(smriti: Smriti) -> None:
    ended = smriti("plan", "--effect", "0.4", "--tasks", "12", "--base-rate", "0.3")
    assert (ended.status, ended.err) == (0, "")
    assert "effect +0.4 on a base rate of 0.300, 12 tasks, between which success varies by 1.5" in ended.out
    assert "trials of each task under each condition: power 0." in ended.out
    assert smriti("plan", "--effect", "0.4", "--tasks", "12", "--base-rate", "0.3").out == ended.out


def test_json_holds_the_model_and_every_simulated_power(smriti: Smriti) -> None:
    stated = smriti("plan", "--effect", "0.45", "--tasks", "10", "--json", "--seed", "3", "--effect-sd", "0").json
    assert stated["trials"] >= 3, "30 pairs are the fewest that get a verdict"
    assert stated["variation"] == {"base_rate": 0.5, "task_sd": 1.5, "effect_sd": 0.0}
    assert stated["effect"] == 0.45
    assert (stated["tasks"], stated["seed"], stated["runs"], stated["from"]) == (10, 3, 2000, None)
    assert stated["reached"][0]["trials"] == 3
    assert stated["reached"][-1]["trials"] is None


def test_where_no_number_of_trials_is_enough_that_is_the_answer(smriti: Smriti) -> None:
    ended = smriti("plan", "--effect", "0.05", "--tasks", "10", "--effect-sd", "2")
    assert ended.status == 0
    assert "no number of trials reaches a power of 0.8: 10 tasks alone allow 0." in ended.out


def test_a_receipt_gives_the_defaults(smriti: Smriti) -> None:
    bench(Path("a"), passes({"off": 0.25, "on": 0.5}), bench_manifest(evidence_class="rehearsal"))
    stated = smriti("plan", "--effect", "0.3", "--tasks", "12", "--from", "a", "--json").json
    assert stated["variation"]["base_rate"] == 0.5, "of on, with which another system is to be compared"
    assert stated["variation"]["task_sd"] == 6.0, "tasks always end alike"
    over = smriti("plan", "--effect", "0.3", "--tasks", "12", "--from", "a", "--base-rate", "0.2", "--task-sd", "1")
    assert over.out.startswith("REHEARSAL: the receipt that the defaults come from has a scripted agent")
    assert "base rate of 0.200, 12 tasks, between which success varies by 1 " in over.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--effect", "0", "--tasks", "12"), "--effect is 0.0, expected a difference of rates"),
        (("--effect", "0.6", "--tasks", "12"), "leads to 1.100, expected a rate above 0 and below 1"),
        (("--effect", "-0.5", "--tasks", "12"), "leads to 0.000"),
        (("--effect", "0.1", "--tasks", "9"), "--tasks is 9, expected 10 (fewer get no verdict)"),
        (("--effect", "0.1", "--tasks", "12", "--power", "1"), "--power is 1.0"),
        (("--effect", "0.1", "--tasks", "12", "--base-rate", "nan"), "--base-rate is nan"),
        (("--effect", "0.1", "--tasks", "12", "--task-sd", "-1"), "--task-sd is -1.0, expected logits from 0 to 6"),
        (("--effect", "0.1", "--tasks", "12", "--effect-sd", "7"), "--effect-sd is 7.0"),
        (("--effect", "0.1", "--tasks", "12", "--from", "nowhere"), "--from: nowhere is not there"),
    ],
)
def test_what_cannot_be_planned_is_refused(smriti: Smriti, arguments: tuple[str, ...], words: str) -> None:
    smriti("plan", *arguments).assert_refused(words)


def test_only_a_receipt_of_the_bench_gives_defaults(smriti: Smriti) -> None:
    retrieval(Path("r"), lambda *_: 1)
    smriti("plan", "--effect", "0.1", "--tasks", "12", "--from", "r").assert_refused("r is a receipt of coding-life")
    bench(Path("s"), lambda *_: "skipped")
    smriti("plan", "--effect", "0.1", "--tasks", "12", "--from", "s").assert_refused(
        "no attempted trial under off or on"
    )
