"""The two failures that started this benchmark: memory that never reached the agent, and an answer left in the open.

Both once gave figures that looked publishable and measured nothing. And beside them the check on the harness itself:
with every lane ablated, on must be off.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.cli.summary import print_summary
from smriti.corpus import check_task
from smriti.score import stands
from tests.benches import HandsOutBareRealms, IgnoresAblation, MisroutesBareRealms, SystemAround, run_bench, tiny_task
from tests.corpus.build import append, copy_good
from tests.receipts.build import bench_manifest

TASKS = [tiny_task(), tiny_task("beta")]


def test_a_system_that_misroutes_realms_without_a_colon_works_with_canonical_realms(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, TASKS, memory=SystemAround(MisroutesBareRealms))
    assert ran.value("injection_confirmation_rate") == 1
    assert ran.value("delta_sr") == 1
    assert stands(ran.summary)
    assert not any(flag.startswith("distrust:") for flag in ran.summary.flags)


def test_memory_that_is_misrouted_away_from_the_agent_is_seen_and_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first failure: on and off were the same arm, and their difference was published."""
    ran = run_bench(tmp_path, TASKS, memory=SystemAround(HandsOutBareRealms))
    assert len(ran.record("on").planted_ids) == 1, "it was planted, only never delivered"
    assert ran.value("injection_confirmation_rate") == 0
    assert ran.value("delta_sr") == 0
    assert ran.value("mui") == 0
    assert not stands(ran.summary)
    print_summary(bench_manifest(ran.directory), ran.summary, ran.directory)
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("REHEARSAL: ")
    assert second.startswith("DISTRUST: ")
    assert "0 of 2 on-trials" in second


def test_a_task_with_its_answer_in_a_visible_file_is_refused(tmp_path: Path) -> None:
    """The second failure: the agent without memory read the convention in the repository."""
    folder = copy_good(tmp_path)
    assert check_task(folder, tmp_path / "scratch").problems == ()
    append(folder, "repo_fixture/README.md", "\nA line without an amount gets OWING.\n")
    (problem, *more) = check_task(folder, tmp_path / "scratch").problems
    assert more == []
    assert (problem.rule, problem.file) == ("leak", "repo_fixture/README.md")


def test_for_the_embedded_system_all_lanes_ablated_is_the_same_as_off(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, TASKS, conditions=("off", "on", "ablate:all"), trials=2)
    assert ran.value("ablate_all_gap", "ablate:all") == 0
    assert ran.value("injection_confirmation_rate", "ablate:all") == 0
    assert [len(ran.record("ablate:all", trial).planted_ids) for trial in (1, 2)] == [1, 1], "though it was planted"
    assert stands(ran.summary)


def test_a_hook_that_ignores_the_ablation_is_seen_and_flagged(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, TASKS, memory=SystemAround(IgnoresAblation), conditions=("off", "on", "ablate:all"))
    assert ran.value("ablate_all_gap", "ablate:all") == 1
    ablation = [flag for flag in ran.summary.flags if flag.startswith("ablation: ")]
    assert len(ablation) == 2
    assert "ablate_all_gap is +1.000, not " in ablation[0]
    assert "still reached the agent in 2 trials" in ablation[1]
    assert not stands(ran.summary)


def test_a_memory_that_other_lanes_find_too_survives_the_ablation_of_one(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], conditions=("off", "on", "ablate:kw"))
    assert ran.value("ablation_delta_sr[kw]", "ablate:kw") == 0
    assert ran.record("ablate:kw").injected_confirmed
