"""Run-to-run bands of repeats: what chance alone does to the figures of one configuration."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from smriti.errors import UsageError
from smriti.receipts.noise import Band, Changed, Noise, noise
from smriti.receipts.sealed import SealedReceipt
from smriti.types import SystemIdentity
from tests.receipts.comparisons import bench, bench_manifest, passes, retrieval, retrieval_manifest


@pytest.fixture
def runs(tmp_path: Path) -> list[SealedReceipt]:
    """Three runs, of which 3, 4 and 6 of 12 tasks pass under on; the seed differs, which is chance too."""
    return [
        bench(
            tmp_path / str(number),
            passes({"off": 0.25, "on": passed / 12}),
            bench_manifest(seed=number, config={"seed": number}),
        )
        for number, passed in enumerate((3, 6, 4))
    ]


def band(found: Noise, metric: str, of: str = "on") -> Band:
    (one,) = [each for each in found.bands if each.metric == metric and of in {each.condition, each.system}]
    return one


def test_a_band_holds_the_figures_of_all_runs(runs: list[SealedReceipt]) -> None:
    found = band(noise(runs), "sr")
    rates = [3 / 12, 6 / 12, 4 / 12]
    assert (found.runs, found.low, found.high) == (3, min(rates), max(rates))
    assert found.mean == pytest.approx(statistics.fmean(rates))
    assert found.sd == pytest.approx(statistics.stdev(rates))
    assert band(noise(runs), "sr", "off").sd == 0.0


def test_cases_that_do_not_end_alike_are_counted(runs: list[SealedReceipt]) -> None:
    off, on = noise(runs).changed
    assert off == Changed("passed", "embedded", "off", 0, 36)
    assert (on.condition, on.changed, on.of, on.share) == ("on", 9, 36, 0.25)


def test_the_order_of_runs_is_irrelevant(runs: list[SealedReceipt]) -> None:
    forth, back = noise(runs), noise(runs[::-1])
    assert (forth.bands, forth.changed) == (back.bands, back.changed)


def test_a_case_that_one_run_skipped_is_not_counted(tmp_path: Path) -> None:
    half = passes({"off": 0.5, "on": 0.5})
    one = bench(tmp_path / "1", half)
    other = bench(tmp_path / "2", lambda task, *case: "skipped" if task == 0 else half(task, *case))
    assert [changed.of for changed in noise([one, other]).changed] == [33, 33]


def test_a_figure_that_one_run_lacks_is_that_of_the_others(tmp_path: Path) -> None:
    half = passes({"off": 0.5, "on": 0.5})
    receipts = [
        bench(tmp_path / str(number), half, tokens=lambda _, number=number: 100 if number else None)  # type: ignore[misc]
        for number in range(2)
    ]
    found = band(noise(receipts), "tokens")
    assert (found.runs, found.low, found.mean, found.sd) == (1, 100.0, 100.0, None)


def test_questions_change_where_all_of_their_evidence_is_found_in_one_run_alone(tmp_path: Path) -> None:
    receipts = [
        retrieval(
            tmp_path / str(number),
            lambda system, question, number=number: 9 if system == "grep" and question < 5 + number else 1,  # type: ignore[misc]
            retrieval_manifest(memory=("grep", "bm25")),
        )
        for number in range(3)
    ]
    grep, bm25 = noise(receipts).changed
    assert grep == Changed("recall_all@5", "grep", None, 2, 40)
    assert bm25 == Changed("recall_all@5", "bm25", None, 0, 40)
    found = band(noise(receipts), "recall_all@5", "grep")
    assert (found.low, found.high) == (33 / 40, 35 / 40)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"systems": (SystemIdentity(name="embedded", version="2"),)}, "memory.embedded.version: 1 in A, 2 in B"),
        ({"packages": {"one": "2"}}, "packages.one: nothing in A, 2 in B"),
        ({"artifacts": {"memory/own.py": "1" * 64}}, "memory_artifacts.memory/own.py: nothing in A"),
        ({"delivery": "mcp"}, "delivery: hooks in A, mcp in B"),
    ],
)
def test_another_configuration_is_no_repeat_unless_it_is_let_pass(
    tmp_path: Path, runs: list[SealedReceipt], fields: dict[str, Any], words: str
) -> None:
    ends = passes({"off": 0.25, "on": 0.5, "placebo": 0.5})
    other = bench(tmp_path / "other", ends, bench_manifest(**fields))
    with pytest.raises(UsageError, match=f"other: .*{words}") as refused:
        noise([*runs, other])
    assert str(runs[1].directory) not in str(refused.value), "only those that differ are named"
    field = words.partition(".")[0].partition(":")[0]
    found = noise([*runs, other], [field])
    assert len(found.allowed) == 1
    assert any(flag.startswith("allowed: ") for flag in found.flags)


def test_other_conditions_are_no_repeat_and_cannot_be_let_pass(tmp_path: Path, runs: list[SealedReceipt]) -> None:
    ends = passes({"off": 0.25, "on": 0.5, "placebo": 0.5})
    other = bench(tmp_path / "other", ends, bench_manifest(conditions=["off", "on", "placebo"]))
    with pytest.raises(UsageError, match=r"conditions: .* in A, .*placebo.* in B"):
        noise([*runs, other])
    with pytest.raises(UsageError, match="'conditions' cannot be let pass"):
        noise([*runs, other], ["conditions"])


def test_one_run_or_the_same_run_twice_is_no_repeat(runs: list[SealedReceipt]) -> None:
    with pytest.raises(UsageError, match="1 receipt given, expected at least 2"):
        noise(runs[:1])
    with pytest.raises(UsageError, match="given twice"):
        noise([runs[0], runs[1], runs[0]])


def test_few_runs_are_told_and_rehearsals_first_of_all(tmp_path: Path) -> None:
    half = passes({"off": 0.5, "on": 0.5})
    made = [bench(tmp_path / str(n), half, bench_manifest(evidence_class="rehearsal")) for n in range(2)]
    rehearsal, few = noise(made).flags
    assert rehearsal.startswith("rehearsal: ")
    assert few.startswith("few runs: 2; ")
