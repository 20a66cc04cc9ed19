"""The printed summary: each figure in its place, whole, with what to know before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest
from rich.cells import cell_len

from smriti.cli.summary import print_summary
from smriti.types import BenchManifest, Coverage, Family, Interval, Score, Summary, SystemIdentity, TaskIdentity
from tests.strategies import manifest

CONDITIONS = ("off", "on", "handed", "placebo", "file", "ablate:corr", "ablate:all")
FAMILIES: dict[Family, int] = {"convention": 2, "exploration": 3, "misleading": 1}
OF_A_CONDITION = ("sr", "sr_completed", "tokens", "injection_confirmation_rate", "contamination_rate")
EFFECTS = {
    "delta_sr": "delta_sr (ΔSR)",
    "delta_tokens": "delta_tokens (ΔT)",
    "token_ratio": "token_ratio",
    "mui": "mui (MUI)",
    "sr_lift": "sr_lift",
    "cost_saving": "cost_saving",
    "mhi": "mhi (MHI)",
    "sr_harm": "sr_harm",
    "cost_harm": "cost_harm",
    "lift_over_file": "lift_over_file",
    "lift_over_placebo": "lift_over_placebo",
    "ablate_all_gap": "ablate_all_gap",
    "echo_rate": "echo_rate",
    "ablation_delta_sr[corr]": "ablation_delta_sr[corr]",
    "ablation_delta_sr[kw]": "ablation_delta_sr[kw]",
}
"""Metric → what stands in its line; the symbol beside the name where there is one."""
MEANINGS = ("sr(on) − sr(off)", "on failed where off passed", "both passed, off used ≥ 1.5 × the tokens")
FLAGS = (
    "distrust: memory never arrived" + ", so on − off measures nothing" * 6,
    "few tasks: 6; too few",
    "last: flag",
)
DIRECTORY = Path("receipts/bench/" + "a-long-folder/" * 8 + "run")
WIDTHS = (None, 80, 110)
"""Columns of the terminal; None for none."""

Show = Callable[..., list[str]]
Key = tuple[str, str, str]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Show:
    """Returns the lines printed on a terminal of `width` columns, or where there is none."""

    def show(
        summary: Summary, width: int | None, plan: BenchManifest | None = None, directory: Path = DIRECTORY
    ) -> list[str]:
        for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name, raising=False)
        if width is not None:
            monkeypatch.setenv("TERM", "xterm")
            monkeypatch.setenv("FORCE_COLOR", "1")
            monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        print_summary(plan or planned(), summary, directory)
        printed = capsys.readouterr()
        assert printed.err == ""
        assert ("\x1b" in printed.out) == (width is not None), "only a terminal is told what is bold"
        return re.sub(r"\x1b\[[0-9;]*m", "", printed.out).splitlines()

    return show


def planned(conditions: Sequence[str] = CONDITIONS) -> BenchManifest:
    """A manifest with six tasks of three families."""
    tasks = tuple(
        TaskIdentity(id=f"{family}-{number}", version=1, family=family, split="visible", sha256="0" * 64)
        for family, many in FAMILIES.items()
        for number in range(many)
    )
    return manifest([task.id for task in tasks], list(conditions), 4).model_copy(update={"tasks": tasks})


def summary_of(scores: Sequence[Score], flags: Sequence[str] = FLAGS) -> Summary:
    return Summary(
        coverage=Coverage(planned=168, completed=161, failed=4, skipped=3),
        scores=tuple(scores),
        flags=tuple(flags),
        evidence_class="development",
        files={},
        finished="2026-01-01T00:00:00+00:00",
    )


def all_scores(conditions: Sequence[str] = CONDITIONS, effects: Sequence[str] = tuple(EFFECTS)) -> list[Score]:
    """Scores of which no two share a figure."""
    keys: list[Key] = [(metric, condition, "all") for metric in OF_A_CONDITION for condition in conditions]
    keys += [(metric, "on", "all") for metric in effects]
    keys += [("sr", condition, family) for family in FAMILIES for condition in conditions]
    keys += [(metric, "on", "convention") for metric in effects]
    number = count(1)
    return [distinct(key, next(number)) for key in keys]


def distinct(key: Key, number: int) -> Score:
    metric, condition, group = key
    sign = -1 if number % 2 and metric.startswith("delta") else 1
    value, low, high = (sign * (number + 300 * part) / 1000 for part in (0, 1, 2))
    if metric in {"tokens", "delta_tokens"}:
        value, low, high = value * 1e6, low * 1e6, high * 1e6
    interval = Interval(low=low, high=high, level=0.95, method="made up")
    return Score(
        metric=metric,
        system="embedded",
        condition=condition,
        group=group,
        value=value,
        n=1000 + number,
        excluded=3000 + number,
        interval=interval,
    )


def by_key(scores: Sequence[Score]) -> Mapping[Key, Score]:
    return {(score.metric, str(score.condition), score.group): score for score in scores}


def rows(lines: Sequence[str], title: str) -> list[list[str]]:
    """The cells of the table below the line that starts with `title`, its headings first, without the rule."""
    (start,) = [index for index, line in enumerate(lines) if line.startswith(title)]
    end = lines.index("", start)
    headings, rule, *body = lines[start + 1 : end]
    assert set(rule.strip()) == {"─"}
    return [re.split(r"\s{2,}", line.strip()) for line in (headings, *body)]


def three(value: float | None) -> str:
    assert value is not None
    return f"{value:.3f}"


def three_of(interval: Interval | None) -> str:
    assert interval is not None
    return f"[{interval.low:.3f}, {interval.high:.3f}]"


def test_no_two_made_up_scores_share_a_figure() -> None:
    scores = all_scores()
    for metrics in ({"tokens", "delta_tokens"}, {score.metric for score in scores} - {"tokens", "delta_tokens"}):
        of_metrics = [score for score in scores if score.metric in metrics]
        assert len({score.value for score in of_metrics}) == len(of_metrics)
    assert len({score.n for score in scores} | {score.excluded for score in scores}) == 2 * len(scores)


# What stands before the tables


@pytest.mark.parametrize("width", WIDTHS)
def test_flags_are_the_first_lines_in_their_order_each_on_one_line(show: Show, width: int | None) -> None:
    lines = show(summary_of(all_scores()), width)
    assert lines[:4] == [f"DISTRUST: {FLAGS[0].partition(': ')[2]}", "FEW TASKS: 6; too few", "LAST: flag", ""]


def test_without_a_flag_the_run_is_named_first(show: Show) -> None:
    blank, named, *_ = show(summary_of(all_scores(), flags=()), None)
    assert blank == ""
    assert named.startswith("bench: ")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delivery", ["hooks", "prompt", "none"])
def test_the_line_under_the_flags_says_what_was_run_and_how_memory_was_delivered(
    show: Show, width: int | None, delivery: str
) -> None:
    system, agent = SystemIdentity(name="mem", version="7.1"), SystemIdentity(name="coder", version="9.2")
    plan = planned().model_copy(update={"systems": (system,), "agents": (agent,), "delivery": delivery})
    lines = show(summary_of(all_scores()), width, plan)
    assert " ".join(lines[4 : lines.index("", 4)]).split() == (
        f"bench: memory mem 7.1 (delivery: {delivery}), agent coder 9.2, 6 tasks × 7 conditions × 4 trials".split()
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_come_after_the_flags_success_first(show: Show, width: int | None) -> None:
    text = "\n".join(show(summary_of(all_scores()), width))
    marks = ["LAST: flag", "bench: ", "by condition", "by the memory system's own ledger", "effects", "sr by family"]
    places = [text.index(mark) for mark in [*marks, "168 planned", "receipt receipts"]]
    assert places == sorted(places)


# The figures


@pytest.mark.parametrize("width", WIDTHS)
def test_each_condition_has_its_own_success_interval_attempts_and_tokens(show: Show, width: int | None) -> None:
    scores = all_scores()
    of = by_key(scores)
    headings, *body = rows(show(summary_of(scores), width), "by condition")
    assert headings == ["condition", "sr", "interval", "n", "sr_completed", "tokens"]
    assert body == [
        [
            condition,
            three(of["sr", condition, "all"].value),
            three_of(of["sr", condition, "all"].interval),
            str(of["sr", condition, "all"].n),
            three(of["sr_completed", condition, "all"].value),
            f"{of['tokens', condition, 'all'].value:.0f}",
        ]
        for condition in CONDITIONS
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_each_condition_has_what_the_ledger_says_of_it(show: Show, width: int | None) -> None:
    scores = all_scores()
    of = by_key(scores)
    headings, *body = rows(show(summary_of(scores), width), "by the memory system's own ledger")
    assert headings == ["condition", "injection_confirmation_rate", "n", "contamination_rate", "n"]
    assert body == [
        [
            condition,
            *(
                figure
                for metric in ("injection_confirmation_rate", "contamination_rate")
                for figure in (three(of[metric, condition, "all"].value), str(of[metric, condition, "all"].n))
            ),
        ]
        for condition in CONDITIONS
    ]


def test_the_ledgers_heading_names_the_conditions_that_it_never_sees(show: Show) -> None:
    def heading(*conditions: str) -> str:
        lines = show(summary_of(all_scores(conditions, ())), 80, planned(conditions))
        (line,) = [line for line in lines if line.startswith("by the memory system's own ledger")]
        return line

    assert heading(*CONDITIONS).endswith("own ledger (which never sees handed, placebo, file)")
    assert heading("off", "on", "file").endswith("own ledger (which never sees file)")
    assert heading("off", "on", "ablate:all").endswith("own ledger")


@pytest.mark.parametrize("width", WIDTHS)
def test_each_effect_has_its_own_value_interval_pairs_and_exclusions(show: Show, width: int | None) -> None:
    scores = all_scores()
    of = by_key(scores)
    headings, *body = rows(show(summary_of(scores), width), "effects")
    assert headings[:5] == ["metric", "value", "interval", "n", "excluded"]
    assert [row[0] for row in body] == list(EFFECTS.values())
    for metric, row in zip(EFFECTS, body, strict=True):
        score = of[metric, "on", "all"]
        value, interval = three(score.value), three_of(score.interval)
        if metric == "delta_tokens":
            assert score.value is not None
            assert score.interval is not None
            value = f"{score.value:+.0f}"
            interval = f"[{score.interval.low:+.0f}, {score.interval.high:+.0f}]"
        assert row[1:5] == [value, interval, str(score.n), str(score.excluded)], metric


@pytest.mark.parametrize("width", WIDTHS)
def test_each_family_has_its_tasks_counted_and_its_success_by_condition(show: Show, width: int | None) -> None:
    scores = all_scores()
    of = by_key(scores)
    headings, *body = rows(show(summary_of(scores), width), "sr by family")
    assert headings == ["condition", "convention (2)", "exploration (3)", "misleading (1)"]
    assert body == [
        [condition, *(three(of["sr", condition, family].value) for family in FAMILIES)] for condition in CONDITIONS
    ]


def test_what_is_unknown_is_a_dash_and_never_0(show: Show) -> None:
    scores = [
        score.model_copy(update={"value": None, "interval": None, "n": 0, "excluded": 24}) for score in all_scores()
    ]
    lines = show(summary_of(scores), 80)
    assert rows(lines, "by condition")[1] == ["off", "–", "–", "0", "–", "–"]
    assert rows(lines, "by the memory")[1] == ["off", "–", "0", "–", "0"]
    assert rows(lines, "effects")[1] == ["delta_sr (ΔSR)", "–", "–", "0", "24"]
    assert rows(lines, "sr by family")[1] == ["off", "–", "–", "–"]


def test_a_metric_without_a_score_has_no_line(show: Show) -> None:
    lines = show(summary_of(all_scores(effects=("delta_sr", "mhi"))), 80)
    assert [row[0] for row in rows(lines, "effects")[1:]] == ["delta_sr (ΔSR)", "mhi (MHI)"]
    alone = show(summary_of(all_scores(("off",), ())), 80, planned(("off",)))
    assert not any(line.startswith("effects") for line in alone)


# What fits


def test_at_80_columns_no_line_of_a_table_is_wider_cut_or_wrapped(show: Show) -> None:
    lines = show(summary_of(all_scores()), 80)
    tables = lines[lines.index("", 4) : len(lines) - lines[::-1].index("")]
    assert max(map(cell_len, tables)) <= 80
    assert "…" not in "".join(tables)
    assert len(tables) == 4 * 3 + 3 * len(CONDITIONS) + len(EFFECTS) + 5, "four titles, headings and rules"


def test_what_a_metric_means_is_said_where_it_fits_and_left_out_where_not(show: Show) -> None:
    for width, said in ((110, True), (None, True), (80, False)):
        headings, *body = rows(show(summary_of(all_scores()), width), "effects")
        assert ("meaning" in headings) is said
        assert {len(row) for row in body} == {len(headings)}
        assert all(any(meaning in row for row in body) is said for meaning in MEANINGS)


@pytest.mark.parametrize("width", [20, 80, 110, None])
def test_a_name_longer_than_the_terminal_is_printed_whole(show: Show, width: int | None) -> None:
    lane = "reciprocal-rank-fusion-" * 5 + "end"
    conditions = ("off", "on", f"ablate:{lane}")
    metric = f"ablation_delta_sr[{lane}]"
    lines = show(summary_of(all_scores(conditions, ("delta_sr", metric))), width, planned(conditions))
    for title in ("by condition", "by the memory", "sr by family"):
        assert [row[0] for row in rows(lines, title)[1:]] == list(conditions)
    assert [len(row) for row in rows(lines, "effects")] == [5, 5, 5]
    assert rows(lines, "effects")[-1][0] == metric


# What stands after the tables


@pytest.mark.parametrize("width", WIDTHS)
def test_coverage_class_and_sandbox_close_it_and_the_receipts_path_is_on_one_line(
    show: Show, width: int | None
) -> None:
    *lines, receipt, check = show(summary_of(all_scores()), width)
    closing = " ".join(line.strip() for line in lines[len(lines) - lines[::-1].index("") :])
    assert closing == "168 planned = 161 completed + 4 failed + 3 skipped; class development, sandbox none"
    assert receipt == f"receipt {DIRECTORY}"
    assert check == f"check it with: smriti verify {DIRECTORY}"
