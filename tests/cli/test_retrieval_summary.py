"""The printed summary of a retrieval receipt: each figure in its place, whole, with what to know before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from smriti.cli.retrieval_summary import print_retrieval_summary
from smriti.types import (
    CodeIdentity,
    CorpusPlan,
    Coverage,
    Interval,
    RetrievalConfig,
    RetrievalManifest,
    Score,
    Summary,
    SystemIdentity,
)

SYSTEMS = ("grep", "bm25:longmemeval-official", "package.module:Mine")
GROUPS = {"all": "all", "all-repaired": "all-repaired", "category-1": "1 multi-hop", "category-5": "5 adversarial"}
"""Group → what is printed for it."""
CUTOFFS = (3, 10)
UNANSWERABLE = "unanswerable"
COUNTS = ("attempted", "completed", "failed")
TIMES = tuple(f"{phase}_ms_p{percent}" for phase in ("ingest", "query") for percent in (50, 95, 99))
FLAGS = (
    "development: a selection" + ", data without a pin" * 9,
    "faults: 3 of 9 attempts failed",
    "small: fewer than 30 questions",
)
DIRECTORY = Path("receipts/locomo/" + "a-long-folder/" * 8 + "run")
WIDTHS = (None, 80, 200)
"""Columns of the terminal; None for none."""

Show = Callable[..., list[str]]
Key = tuple[str, str, str]


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Show:
    """Returns the lines printed on a terminal of `width` columns, or where there is none."""

    def show(
        scores: Sequence[Score], width: int | None = None, flags: Sequence[str] = FLAGS, **fields: Any
    ) -> list[str]:
        for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            monkeypatch.delenv(name, raising=False)
        if width is not None:
            monkeypatch.setenv("TERM", "xterm")
            monkeypatch.setenv("FORCE_COLOR", "1")
            monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        print_retrieval_summary(planned(**fields), summary_of(scores, flags), DIRECTORY)
        printed = capsys.readouterr()
        assert printed.err == ""
        assert ("\x1b" in printed.out) == (width is not None), "only a terminal is told what is bold"
        return re.sub(r"\x1b\[[0-9;]*m", "", printed.out).splitlines()

    return show


def planned(**fields: Any) -> RetrievalManifest:
    """A manifest of two corpora with three questions in all."""
    stated: dict[str, Any] = {
        "suite": "locomo",
        "evidence_class": "development",
        "run_id": "run",
        "config": RetrievalConfig(memory=SYSTEMS, k=CUTOFFS, options={}),
        "code": CodeIdentity(version="0", commit=None, dirty=None, sha256="0" * 64),
        "packages": {},
        "systems": tuple(SystemIdentity(name=f"system-{number}", version=f"{number}.1") for number in range(3)),
        "artifacts": {},
        "engine": "processes",
        "datasets": {"locomo10": "a1" * 32, "errata/locomo10": "b2" * 32},
        "selection": {},
        "seed": 0,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": 9,
        "started": "2026-01-01T00:00:00+00:00",
        "counts": {},
        "notes": (),
        "labels": {group: label for group, label in GROUPS.items() if group != label},
        "corpora": (
            CorpusPlan(id="one", documents=7, questions=("q1", "q2")),
            CorpusPlan(id="two", documents=8, questions=("q3",)),
        ),
    }
    return RetrievalManifest(**{**stated, **fields})


def summary_of(scores: Sequence[Score], flags: Sequence[str]) -> Summary:
    return Summary(
        coverage=Coverage(planned=9, completed=6, failed=3, skipped=0),
        scores=tuple(scores),
        flags=tuple(flags),
        evidence_class="development",
        files={},
        finished="2026-01-01T00:00:00+00:00",
    )


def figures(k: int) -> tuple[str, ...]:
    """The metrics of a table after the first, in its order."""
    return (f"recall@{k}", f"hit@{k}", f"precision@{k}", f"ndcg@{k}", "mrr")


def all_scores(*, unanswerable: bool = True) -> list[Score]:
    """Scores of which no two share a figure, system by system."""
    keys: list[Key] = []
    for system in SYSTEMS:
        metrics = [name for k in CUTOFFS for name in (f"recall_all@{k}", *figures(k)[:-1], f"ceiling[recall_all@{k}]")]
        keys += [(metric, system, group) for group in GROUPS for metric in (*COUNTS, *metrics, "mrr")]
        keys += [(metric, system, UNANSWERABLE) for metric in COUNTS if unanswerable]
        keys += [(metric, system, "all") for metric in TIMES]
    return [distinct(key, number) for key, number in zip(keys, count(1), strict=False)]


def distinct(key: Key, number: int) -> Score:
    metric, system, group = key
    value = float(number) if metric in {*COUNTS, *TIMES} else number / 1000
    low, high = (value + part / 3 for part in (1, 2))
    interval = Interval(low=low, high=high, level=0.95, method="made up")
    return Score(
        metric=metric,
        system=system,
        condition=None,
        group=group,
        value=value,
        n=1000 + number,
        excluded=0,
        interval=interval,
    )


def by_key(scores: Sequence[Score]) -> dict[Key, Score]:
    return {(score.metric, score.system, score.group): score for score in scores}


def rows(lines: Sequence[str], title: str) -> list[list[str]]:
    """The cells of the table below the line that starts with `title`, its headings first, without the rule."""
    (start,) = [index for index, line in enumerate(lines) if line.startswith(title)]
    end = lines.index("", start)
    headings, rule, *body = lines[start + 1 : end]
    assert set(rule.strip()) == {"─"}
    return [re.split(r"\s{2,}", line.strip()) for line in (headings, *body)]


def of(score: Score, style: str) -> str:
    assert score.value is not None
    return format(score.value, style)


def test_no_two_made_up_scores_share_a_figure() -> None:
    scores = all_scores()
    assert len({score.value for score in scores}) == len({score.n for score in scores}) == len(scores)


# What stands before the tables


@pytest.mark.parametrize("width", WIDTHS)
def test_flags_are_the_first_lines_in_their_order_each_on_one_line(show: Show, width: int | None) -> None:
    lines = show(all_scores(), width)
    assert lines[:4] == [f"{name.upper()}: {text}" for name, text in (flag.split(": ") for flag in FLAGS)] + [""]
    assert show(all_scores(), width, ())[:2] == ["", lines[4]]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_suite_its_systems_and_the_data_with_its_digest_come_next(show: Show, width: int | None) -> None:
    lines = show(all_scores(), width)
    assert lines[4:7] == [
        "locomo: system-0 0.1, system-1 1.1, system-2 2.1",
        "3 questions of 2 corpora of locomo10 (sha256 a1a1a1a1a1a1), errata/locomo10 (sha256 b2b2b2b2b2b2)",
        "",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_options_stand_under_the_data_in_words(show: Show, width: int | None) -> None:
    options = {"granularity": "turn", "captions": True, "dates": False, "categories": (1, 5)}
    config = RetrievalConfig(memory=SYSTEMS, k=CUTOFFS, options=options)
    lines = show(all_scores(), width, config=config)
    assert lines[6:8] == ["granularity turn, captions yes, dates no, categories 1,5", ""]


def test_tables_come_after_what_must_be_known_scores_first_and_times_last(show: Show) -> None:
    text = "\n".join(show(all_scores()))
    marks = (
        "SMALL: ",
        "locomo: ",
        "k = 3; ",
        "k = 10; ",
        "unanswerable: ",
        "wall time in ms: ",
        "9 planned",
        "receipt r",
    )
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "a failed attempt counts as nothing found" in text
    assert "wall time in ms: diagnostic, of this machine and its load" in text


# The figures


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("k", CUTOFFS)
def test_each_group_and_system_has_its_own_scores_with_the_ceiling_beside(
    show: Show, width: int | None, k: int
) -> None:
    scores = all_scores()
    found = by_key(scores)
    headings, *body = rows(show(scores, width), f"k = {k}; ")
    assert headings == ["group", "system", "n", f"recall_all@{k}", "interval", "ceiling", *figures(k)]
    expected = []
    for group, label in GROUPS.items():
        for system in SYSTEMS:
            headline = found[f"recall_all@{k}", system, group]
            assert headline.interval is not None
            expected.append(
                [
                    label,
                    system,
                    str(headline.n),
                    of(headline, ".4f"),
                    f"[{headline.interval.low:.3f}, {headline.interval.high:.3f}]",
                    of(found[f"ceiling[recall_all@{k}]", system, group], ".4f"),
                    *(of(found[name, system, group], ".4f") for name in figures(k)),
                ]
            )
    assert body == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_a_group_with_a_label_is_never_printed_by_its_own_name(show: Show, width: int | None) -> None:
    assert not any("category-" in line for line in show(all_scores(), width))


@pytest.mark.parametrize("width", WIDTHS)
def test_questions_without_an_answer_are_counted_in_a_table_of_their_own(show: Show, width: int | None) -> None:
    scores = all_scores()
    found = by_key(scores)
    lines = show(scores, width)
    headings, *body = rows(lines, "unanswerable: there is nothing to find, and nothing is scored")
    assert headings == ["system", *COUNTS]
    assert body == [[system, *(of(found[name, system, UNANSWERABLE], ".0f") for name in COUNTS)] for system in SYSTEMS]
    assert not any(row[0] == UNANSWERABLE for k in CUTOFFS for row in rows(lines, f"k = {k}; "))


def test_where_every_question_has_an_answer_there_is_no_such_table(show: Show) -> None:
    assert not any(UNANSWERABLE in line for line in show(all_scores(unanswerable=False)))


@pytest.mark.parametrize("width", WIDTHS)
def test_each_system_has_its_own_times(show: Show, width: int | None) -> None:
    scores = all_scores()
    found = by_key(scores)
    headings, *body = rows(show(scores, width), "wall time in ms: ")
    assert headings == ["system", *TIMES]
    assert body == [[system, *(of(found[name, system, "all"], ".1f") for name in TIMES)] for system in SYSTEMS]


def test_what_is_unknown_is_a_dash_and_never_0(show: Show) -> None:
    unknown = {"value": None, "interval": None, "n": 0}
    lines = show([score.model_copy(update=unknown) for score in all_scores()], 80)
    assert rows(lines, "k = 3; ")[1] == ["all", "grep", "0", *"––––––––"]
    assert rows(lines, "unanswerable: ")[1] == ["grep", *"–––"]
    assert rows(lines, "wall time")[1] == ["grep", *"––––––"]


def test_a_figure_without_an_interval_is_printed_without_one(show: Show) -> None:
    lines = show([score.model_copy(update={"interval": None}) for score in all_scores()])
    assert {row[4] for row in rows(lines, "k = 3; ")[1:]} == {"–"}
    assert rows(lines, "k = 3; ")[1][3] == of(by_key(all_scores())["recall_all@3", "grep", "all"], ".4f")


@pytest.mark.parametrize("width", [20, 80, 200, None])
def test_a_name_longer_than_the_terminal_is_printed_whole_and_no_row_is_wrapped(show: Show, width: int | None) -> None:
    label = "answerable, with evidence of a very particular sort " * 4 + "end"
    lines = show(all_scores(), width, labels={"category-1": label})
    assert [row[0] for row in rows(lines, "k = 10; ")].count(label) == len(SYSTEMS)
    assert {len(row) for row in rows(lines, "k = 10; ")} == {11}
    assert "…" not in "".join(lines)


# What stands after the tables


@pytest.mark.parametrize("width", WIDTHS)
def test_coverage_and_class_close_it_and_the_receipts_path_is_on_one_line(show: Show, width: int | None) -> None:
    *_, blank, covered, receipt, check = show(all_scores(), width)
    assert blank == ""
    assert covered == "9 planned = 6 completed + 3 failed + 0 skipped; class development"
    assert receipt == f"receipt {DIRECTORY}"
    assert check == f"check it with: smriti verify {DIRECTORY}"
