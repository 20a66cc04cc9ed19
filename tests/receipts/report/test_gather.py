"""What a report says is what the receipt says: every figure is a sealed one, and none that matters is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smriti.errors import UsageError
from smriti.receipts.report import gather
from smriti.receipts.report.view import Bars, Chart, Dots, Page, Prose, Table
from smriti.receipts.report.words import DASH
from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.types import Interval, Score
from tests.receipts import build
from tests.receipts.report import questions, walk

SEALED = ("bench", "asked")


@pytest.fixture(params=SEALED)
def sealed(request: pytest.FixtureRequest) -> SealedReceipt:
    found: SealedReceipt = request.getfixturevalue(request.param)
    return found


def _reads(text: str, score: Score) -> bool:
    """`text` is the value or the interval of the figure, rounded to the digits that are written."""
    if text == DASH:
        return score.value is None or score.interval is None
    if text.startswith("["):
        low, high = text[1:-1].split(", ")
        assert score.interval is not None
        return _rounds(low, score.interval.low) and _rounds(high, score.interval.high)
    assert score.value is not None
    return _rounds(text, score.value)


def _rounds(text: str, value: float) -> bool:
    digits = len(text.partition(".")[2])
    return text.removeprefix("+") == format(value, f".{digits}f")


def _shown(page: Page) -> set[Score]:
    return {span.score for span in walk.spans(page) if span.score is not None}


def _table(page: Page, caption: str) -> Table:
    (found,) = [table for table in walk.tables(page) if table.caption.startswith(caption)]
    return found


def _texts(table: Table) -> list[list[str]]:
    return [[" ".join(span.text for span in cell.spans) for cell in row] for row in table.rows]


def test_every_figure_of_a_page_is_a_sealed_figure_of_its_receipt(sealed: SealedReceipt) -> None:
    page = gather([sealed])
    figures = [span for span in walk.spans(page) if span.score is not None]
    assert len(figures) > 50
    for span in figures:
        assert span.score in sealed.summary.scores
        assert _reads(span.text, span.score), span


def test_every_point_of_a_plot_is_in_the_table_beside_it(sealed: SealedReceipt) -> None:
    charts = [block for block in walk.blocks(gather([sealed])) if isinstance(block, Chart) and block.name != "latency"]
    assert charts
    for chart in charts:
        scores = [span.score for row in chart.table.rows for cell in row for span in cell.spans if span.score]
        values = {score.value for score in scores}
        ends = {(score.interval.low, score.interval.high) for score in scores if score.interval}
        for point in walk.points(chart.plot):
            assert point.value in values or point.value is None
            assert (point.low, point.high) in ends or point.low is None


def test_what_a_reader_of_the_bench_looks_for_is_on_its_page(bench: SealedReceipt) -> None:
    shown = _shown(gather([bench]))
    overall = {score for score in bench.summary.scores if score.group == "all"}
    assert overall <= shown
    of_tasks = {
        "sr",
        "delta_sr",
        "tokens",
        "token_ratio",
        "mui",
        "mhi",
        "sr_lift",
        "cost_saving",
        "sr_harm",
        "cost_harm",
    }
    for score in bench.summary.scores:
        if score.group in build.FAMILIES and score.metric in of_tasks:
            assert score in shown


def test_what_a_reader_of_a_retrieval_run_looks_for_is_on_its_page(asked: SealedReceipt) -> None:
    shown = _shown(gather([asked]))
    for score in asked.summary.scores:
        counted = score.metric in {"attempted", "completed", "failed"} and score.group not in {"all", "unanswerable"}
        # The ceiling is of the questions: all systems have the same.
        if not counted and not (score.metric.startswith("ceiling") and score.system == "bm25"):
            assert score in shown, score


def test_the_banner_says_the_class_first_and_keeps_the_order_of_flags(bench: SealedReceipt) -> None:
    page = gather([bench])
    (banner,) = page.banners
    assert banner.evidence_class == "rehearsal"
    assert "they say nothing of a memory system" in banner.meaning
    assert page.loud == "rehearsal"
    stated = [flag.partition(": ") for flag in bench.summary.flags]
    assert list(banner.flags) == [(name, sentence) for name, _, sentence in stated if name != "rehearsal"]


def test_a_run_with_faults_and_contamination_is_said_not_to_stand(bench: SealedReceipt) -> None:
    (banner,) = gather([bench]).banners
    assert not banner.stands
    assert "contamination" in banner.standing
    assert f"{bench.summary.coverage.failed} of {bench.summary.coverage.planned} attempts" in banner.standing


def test_a_run_without_a_fault_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "ENDINGS", {})
    monkeypatch.setattr(build, "CONTAMINATED", "")
    (banner,) = gather([read_sealed(build.write(tmp_path / "r"))]).banners
    assert banner.stands


@pytest.mark.parametrize(("kind", "loud"), [("measured", ""), ("development", "development")])
def test_only_classes_that_support_no_claim_are_loud(tmp_path: Path, kind: str, loud: str) -> None:
    sealed = read_sealed(build.write(tmp_path / "r", build.a_manifest(evidence_class=kind)))
    assert gather([sealed]).loud == loud


def test_endings_and_failures_by_phase_are_counted_as_the_records_have_them(bench: SealedReceipt) -> None:
    page = gather([bench])
    ended = _table(page, "How trials ended")
    for row in _texts(ended):
        for status, count in zip(ended.columns[1:], row[1:], strict=True):
            assert int(count) == sum(r.condition == row[0] and r.status == status for r in bench.records)
    phases = _texts(_table(page, "Failures by phase"))
    faults = [record.fault for record in bench.records if record.fault]
    assert sum(int(count) for *_, count in phases) == len(faults)
    for phase, status, count in phases:
        assert int(count) == sum((f.phase, f.status.replace("_", " ")) == (phase, status) for f in faults)


def test_harm_goes_to_the_left_and_credit_to_the_right(bench: SealedReceipt) -> None:
    (plot,) = [b.plot for b in walk.blocks(gather([bench])) if isinstance(b, Chart) and isinstance(b.plot, Bars)]
    figures = {(score.metric, score.group): score.value for score in bench.summary.scores if score.condition == "on"}
    for group, parts in plot.rows:
        for metric, part in zip(plot.series, parts, strict=True):
            value = figures[metric, group]
            assert part == (value if value is None or metric in {"sr_lift", "cost_saving"} else -value)
    assert any(part < 0 for _, parts in plot.rows for part in parts if part is not None)


def test_every_trial_is_linked_once_from_its_cell(bench: SealedReceipt, links: dict[str, str]) -> None:
    table = _table(gather([bench]), "Trials, in order")
    found: dict[str, list[str | None]] = {}
    for row in table.rows:
        for condition, cell in zip(table.columns[1:], row[1:], strict=True):
            found[f"{row[0].spans[0].text}/{condition}"] = [span.href for span in cell.spans]
    for name, hrefs in found.items():
        assert hrefs == [links[f"{name}/t{trial}"] for trial in (1, 2)]
    assert len({href for hrefs in found.values() for href in hrefs}) == len(bench.records)


def test_without_off_there_is_no_pair_and_no_section_of_pairs(tmp_path: Path) -> None:
    manifest = build.a_manifest()
    config = manifest.config.model_copy(update={"conditions": ("on",)})
    alone = manifest.model_copy(update={"config": config, "planned": 6})
    names = [section.name for section in gather([read_sealed(build.write(tmp_path / "r", alone))]).sections]
    assert "rates" in names
    assert not {"tasks", "tokens", "credits", "ablations"} & set(names)


def test_each_ablated_lane_has_a_figure_of_its_own_and_the_check_on_the_harness_stands_by(tmp_path: Path) -> None:
    manifest = build.a_manifest()
    conditions = ("off", "on", "ablate:kw", "ablate:all")
    config = manifest.config.model_copy(update={"conditions": conditions})
    ablated = manifest.model_copy(update={"config": config, "planned": 24})
    page = gather([read_sealed(build.write(tmp_path / "r", ablated))])
    assert [row[0] for row in _texts(_table(page, "Ablations"))] == ["ablation_delta_sr[kw]", "ablate_all_gap"]
    assert [block.name for block in walk.blocks(page) if isinstance(block, Chart)].count("ablations") == 1


def test_cases_that_differ_between_systems_are_listed_with_what_each_earned(asked: SealedReceipt) -> None:
    page = gather([asked])
    assert _texts(_table(page, "Questions whose recall_all@1 differs")) == [
        ["q1", "fact", "1", "1", "0"],
        ["q3", "fact", "1", "0", "1"],
    ]
    (section,) = [section for section in page.sections if section.name == "cases"]
    (said,) = [block for block in section.blocks if isinstance(block, Prose)]
    assert "differs in 2 of 4 questions with evidence; the highest there: grep 1, bm25 1." in said.text


def test_a_list_of_cases_is_bounded_and_says_how_many_are_left_out(
    asked: SealedReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smriti.receipts.report.retrieval._MOST_CASES", 1)
    page = gather([asked])
    assert len(_table(page, "Questions whose").rows) == 1
    assert any("1 are left out" in block.text for block in walk.blocks(page) if isinstance(block, Prose))


def test_the_curve_over_k_has_the_scores_and_the_ceiling_of_each_cutoff(asked: SealedReceipt) -> None:
    (chart,) = [b for b in walk.blocks(gather([asked])) if isinstance(b, Chart) and b.name == "by-k"]
    rows = _texts(chart.table)
    assert [row[0] for row in rows] == ["k = 1", "k = 2", "k = 3"]
    # Of two gold sources one slot cannot hold both: one question of four is out of reach at k = 1.
    assert [row[-1] for row in rows] == ["0.7500", "1.0000", "1.0000"]


def test_one_cutoff_has_no_curve_and_the_page_says_how_to_get_one(tmp_path: Path) -> None:
    sealed = read_sealed(questions.write(tmp_path / "r", questions.retrieval_manifest(k=(3,))))
    page = gather([sealed])
    assert not [b for b in walk.blocks(page) if isinstance(b, Chart) and b.name == "by-k"]
    assert any("One cutoff was run" in block.text for block in walk.blocks(page) if isinstance(block, Prose))


def _second(tmp_path: Path, **fields: Any) -> SealedReceipt:
    manifest = build.a_manifest(run_id="20250102t000000-def456", **fields)
    return read_sealed(build.write(tmp_path / "second", manifest))


def test_side_by_side_each_figure_stands_in_the_column_of_its_receipt(
    bench: SealedReceipt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "ENDINGS", {"alpha/on/t1": "failed"})
    other = _second(tmp_path)
    assert not {s for s in other.summary.scores if s.metric == "sr" and s.group == "all"} & set(bench.summary.scores)
    page = gather([bench, other])
    assert len(page.banners) == 2
    for table in walk.tables(page):
        if table.caption.endswith("value and interval"):
            for row in table.rows:
                for receipt, cell in zip((bench, other), row[1:], strict=True):
                    for span in cell.spans:
                        assert span.score is None or span.score in receipt.summary.scores
    (plot,) = [b.plot for b in walk.blocks(page) if isinstance(b, Chart) and b.name == "sr"]
    assert isinstance(plot, Dots)
    for point in walk.points(plot):
        values = {score.value for score in (bench, other)[point.series].summary.scores if score.metric == "sr"}
        assert point.value in values
    (off,) = [points for label, points in plot.rows if label == "sr off"]
    sealed = [
        {s.value for s in r.summary.scores if (s.metric, s.condition, s.group) == ("sr", "off", "all")}
        for r in (bench, other)
    ]
    assert [{point.value} for point in off] == sealed
    shown = _shown(page)
    for receipt in (bench, other):
        for score in receipt.summary.scores:
            if score.group == "all" and score.metric in {"sr", "delta_sr", "token_ratio", "mui", "mhi"}:
                assert score in shown


def test_side_by_side_names_what_differs_in_how_they_were_run(bench: SealedReceipt, tmp_path: Path) -> None:
    other = _second(tmp_path, sandbox="bubblewrap")
    rows = _texts(_table(gather([bench, other]), "Settings that differ"))
    assert [row for row in rows if row[0] == "sandbox"] == [["sandbox", bench.manifest.sandbox, "bubblewrap"]]


def test_side_by_side_says_that_nothing_is_compared(bench: SealedReceipt, tmp_path: Path) -> None:
    page = gather([bench, _second(tmp_path)])
    assert any("smriti compare" in block.text for block in walk.blocks(page) if isinstance(block, Prose))


def test_systems_of_several_receipts_stand_side_by_side_by_the_letter_of_the_receipt(
    asked: SealedReceipt, tmp_path: Path
) -> None:
    other = questions.retrieval_manifest(memory=("bm25",), k=(2, 3), planned=5, run_id="20250102t000000-def456")
    page = gather([asked, read_sealed(questions.write(tmp_path / "r", other))])
    columns = [table.columns for table in walk.tables(page) if table.caption.startswith("recall_all@2")]
    assert columns == [("figure", "A grep", "A bm25", "B bm25")]
    # Only cutoffs that all were run at are laid side by side.
    assert not [table for table in walk.tables(page) if table.caption.startswith("recall_all@1")]


def test_receipts_of_different_suites_have_no_page_together(bench: SealedReceipt, asked: SealedReceipt) -> None:
    with pytest.raises(UsageError, match="different suites"):
        gather([bench, asked])


def test_more_receipts_than_a_page_can_hold_are_refused(bench: SealedReceipt) -> None:
    with pytest.raises(UsageError, match="7 receipts are too many"):
        gather([bench] * 7)


def test_an_interval_and_a_value_that_do_not_round_to_the_text_would_be_found() -> None:
    score = Score(
        metric="sr",
        system="s",
        condition="on",
        group="all",
        value=0.5,
        n=1,
        excluded=0,
        interval=Interval(low=0.1, high=0.9, level=0.95, method="m"),
    )
    assert _reads("0.500", score)
    assert not _reads("0.501", score)
    assert _reads("[0.100, 0.900]", score)
    assert not _reads("[0.100, 0.901]", score)
