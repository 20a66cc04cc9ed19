"""What a bench run shows while it goes, on a terminal and elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from smriti.cli.progress import Progress
from smriti.types import Fault, Phase, PhaseSeconds, Status, TrialRecord
from tests.strategies import manifest, record

TASKS, TRIALS = ["alpha", "beta"], 3
CONDITIONS = ["off", "on"]
LONG = "it said: " + "out of ideas, " * 20 + "the end"


@dataclass(frozen=True)
class Shown:
    """What a progress display wrote."""

    raw: str

    @property
    def lines(self) -> list[str]:
        """Every line ever written, those since overwritten too, without what steers a terminal."""
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw)
        return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]

    @property
    def bars(self) -> dict[str, str]:
        """Condition → its last line."""
        last = [line.split() for line in self.lines[-len(CONDITIONS) :]]
        return {words[0]: " ".join(words[2:]) for words in last}

    def times(self, text: str) -> int:
        """How often a line is exactly this."""
        return self.lines.count(text)


Show = Callable[..., Shown]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Show:
    """Runs a display through the given records, on a terminal of `width` columns or where there is none."""

    def show(*records: TrialRecord, width: int | None = None, before: Sequence[TrialRecord] = ()) -> Shown:
        for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name, raising=False)
        if width is not None:
            for name, value in (("TERM", "xterm"), ("FORCE_COLOR", "1"), ("COLUMNS", str(width)), ("LINES", "24")):
                monkeypatch.setenv(name, value)
        capsys.readouterr()
        with Progress(manifest(TASKS, CONDITIONS, TRIALS), before) as progress:
            for shown in records:
                progress.on_record(shown)
        printed = capsys.readouterr()
        assert printed.out == "", "standard output is for the summary"
        return Shown(printed.err)

    return show


def faulty(case: str, status: Status, phase: Phase, message: str) -> TrialRecord:
    task, condition, trial = case.split("/")
    return record(
        task, condition, int(trial[1:]), status=status, fault=Fault(status=status, phase=phase, message=message)
    )


def skipped(task: str, condition: str, trial: int) -> TrialRecord:
    return faulty(f"{task}/{condition}/t{trial}", "skipped", "prepare", "not on this machine: node")


# On a terminal


@pytest.mark.parametrize("width", [80, 110])
def test_a_bar_counts_its_own_conditions_trials_and_how_many_passed(show: Show, width: int) -> None:
    shown = show(
        record("alpha", "on", 1),
        record("alpha", "off", 1, status="failed"),
        record("beta", "on", 1, status="failed"),
        faulty("beta/on/t2", "agent_error", "agent", "gave up"),
        record("beta", "on", 3),
        width=width,
    )
    assert shown.bars["on"].startswith("4/6 50% passed elapsed ")
    assert shown.bars["off"].startswith("1/6 0% passed elapsed ")


def test_before_the_first_trial_a_bar_stands_at_0_and_claims_no_rate(show: Show) -> None:
    for bar in show(width=80).bars.values():
        assert re.fullmatch(r"0/6 elapsed \d:\d\d:\d\d left -:--:--", bar)


def test_when_all_is_done_every_bar_is_full_and_nothing_is_left(show: Show) -> None:
    records = [record(task, condition, trial) for task in TASKS for condition in CONDITIONS for trial in (1, 2, 3)]
    for bar in show(*records, width=80).bars.values():
        assert re.fullmatch(r"6/6 100% passed elapsed \d:\d\d:\d\d left 0:00:00", bar)


def test_a_skipped_trial_is_done_and_is_no_attempt(show: Show) -> None:
    shown = show(skipped("alpha", "on", 1), record("beta", "on", 1), skipped("alpha", "off", 1), width=80)
    assert shown.bars["on"].startswith("2/6 100% passed elapsed")
    assert shown.bars["off"].startswith("1/6 elapsed"), "of no attempt there is no rate"


def test_records_of_an_earlier_run_are_counted_and_say_nothing_of_the_speed(show: Show) -> None:
    before = [
        record("alpha", "on", 1),
        record("alpha", "on", 2, status="failed"),
        record("alpha", "on", 3),
        faulty("alpha/off/t1", "agent_error", "agent", "gave up"),
    ]
    untouched = show(width=80, before=before)
    assert re.fullmatch(r"3/6 67% passed elapsed \d:\d\d:\d\d left -:--:--", untouched.bars["on"])
    assert re.fullmatch(r"1/6 0% passed elapsed \d:\d\d:\d\d left -:--:--", untouched.bars["off"])
    assert "gave up" not in untouched.raw, "it was told when it happened"
    gone_on = show(record("beta", "on", 1, status="failed"), width=80, before=before)
    assert gone_on.bars["on"].startswith("4/6 50% passed")
    assert gone_on.bars["off"].startswith("1/6 0% passed")


@pytest.mark.parametrize("width", [80, 110])
def test_each_fault_has_a_line_above_the_bars_with_its_case_status_phase_and_message(show: Show, width: int) -> None:
    shown = show(
        faulty("alpha/on/t1", "agent_error", "agent", "exit status 1: out of ideas"),
        record("alpha", "off", 1),
        faulty("alpha/on/t2", "agent_timeout", "agent", LONG),
        faulty("beta/off/t1", "forget_failed", "forget", "still there: [m1] [red]"),
        width=width,
    )
    assert shown.times("alpha/on/t1  agent_error  agent: exit status 1: out of ideas") == 1
    assert shown.times(f"alpha/on/t2  agent_timeout  agent: {LONG}") == 1, "whole, however long"
    assert shown.times("beta/off/t1  forget_failed  forget: still there: [m1] [red]") == 1
    assert set(shown.bars) == set(CONDITIONS), "the bars are still the last lines"


def test_a_trial_with_a_verdict_has_no_line_above_the_bars(show: Show) -> None:
    shown = show(record("alpha", "on", 1), record("alpha", "off", 1, status="failed"), width=80)
    assert {line.split()[0] for line in shown.lines} == set(CONDITIONS)


def test_a_skipped_task_is_told_once_for_all_of_its_trials(show: Show) -> None:
    trials = [skipped(task, condition, trial) for trial in (1, 2) for task in TASKS for condition in CONDITIONS]
    shown = show(*trials, width=80)
    told = [line for line in shown.lines if "skipped" in line]
    assert told == [f"{task}  skipped  prepare: not on this machine: node" for task in TASKS]


@pytest.mark.parametrize("width", [80, 110])
def test_no_bar_is_cut_or_wider_than_the_terminal(show: Show, width: int) -> None:
    records = [record(task, condition, trial) for task in TASKS for condition in CONDITIONS for trial in (1, 2, 3)]
    shown = show(*records, width=width)
    assert all(len(line) <= width for line in shown.lines)
    assert "…" not in shown.raw


# Without a terminal


def test_each_trial_is_a_line_with_its_place_status_and_seconds(show: Show) -> None:
    shown = show(
        record("alpha", "on", 1, seconds=PhaseSeconds(total=1.256)),
        record("alpha", "off", 1, status="failed", seconds=PhaseSeconds(total=61.0)),
        record("beta", "on", 1),
    )
    assert shown.raw == (
        "[ 1/12] alpha/on/t1  passed  1.26 s\n[ 2/12] alpha/off/t1  failed  61.00 s\n[ 3/12] beta/on/t1  passed\n"
    )


def test_without_a_terminal_every_fault_says_why_on_its_own_line_and_so_does_every_skipped_trial(show: Show) -> None:
    shown = show(
        faulty("alpha/on/t1", "agent_timeout", "agent", LONG),
        skipped("beta", "on", 1),
        skipped("beta", "on", 2),
    )
    assert shown.raw.splitlines() == [
        f"[ 1/12] alpha/on/t1  agent_timeout  agent: {LONG}",
        "[ 2/12] beta/on/t1  skipped  prepare: not on this machine: node",
        "[ 3/12] beta/on/t2  skipped  prepare: not on this machine: node",
    ]


def test_places_go_on_from_an_earlier_run_of_which_nothing_is_repeated(show: Show) -> None:
    before = [record("alpha", "on", 1), faulty("alpha/off/t1", "agent_error", "agent", "gave up")]
    assert show(before=before).raw == ""
    assert show(record("beta", "on", 1), before=before).raw == "[ 3/12] beta/on/t1  passed\n"


@pytest.mark.parametrize("width", [None, 80])
def test_a_message_of_several_lines_is_told_on_one_and_cannot_steer_the_terminal(show: Show, width: int | None) -> None:
    message = "it said\n\n  no\x1b]0;title\x07\x1b[2J\r\tnaïvely ß"
    shown = show(faulty("alpha/on/t1", "agent_error", "agent", message), width=width)
    (line,) = [line for line in shown.lines if "alpha/on/t1" in line]
    assert line.endswith("alpha/on/t1  agent_error  agent: it said no ]0;title [2J naïvely ß")
    assert "\x1b]" not in shown.raw
    assert "\x1b[2J" not in shown.raw
