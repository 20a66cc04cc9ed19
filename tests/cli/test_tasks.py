"""`smriti tasks`: the corpus as a list, one task of it, and its check."""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.corpus import RULES, task_folders, tasks_root
from tests.cli.command_line import Smriti
from tests.corpus.build import GOOD, append, copy_good


def test_list_has_a_line_a_task(smriti: Smriti) -> None:
    ended = smriti("tasks", "list")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert len(lines) == len(task_folders(tasks_root()))
    assert sorted(lines) == lines
    assert "csv-null-token                   convention   visible  python3" in [line.rstrip() for line in lines]


def test_list_as_json_is_one_object_that_tells_versions_apart(smriti: Smriti) -> None:
    rows = smriti("tasks", "list", "--json").json["tasks"]
    assert len(rows) == len(task_folders(tasks_root()))
    assert set(rows[0]) == {"id", "version", "family", "split", "tags", "requires", "sha256"}
    assert all(len(row["sha256"]) == 64 for row in rows)


def test_list_takes_another_folder_of_tasks(smriti: Smriti) -> None:
    assert smriti("tasks", "list", "--root", GOOD.parent).out.startswith("unpaid-mark ")


def test_show_prints_what_the_task_asks_plants_and_checks(smriti: Smriti) -> None:
    ended = smriti("tasks", "show", "unpaid-mark", "--root", GOOD.parent)
    assert ended.status == 0
    for words in (
        "unpaid-mark version 1, convention, visible, sha256 ",
        "rows.sh leaves the second cell empty",
        "check      sh grader/check.sh (at most 20 s)",
        "visible    sh test.sh",
        "may change rows.sh, lib/**",
        "convention  m1: In the rows report",
    ):
        assert words in ended.out


def test_show_counts_the_memories_that_it_does_not_print(smriti: Smriti) -> None:
    task = smriti("tasks", "show", "needle-among-many", "--json").json
    more = len(task["planted_memories"]) - 12
    assert more > 100
    assert smriti("tasks", "show", "needle-among-many").out.endswith(f"and {more} more memories\n")


def test_show_as_json_is_the_whole_task(smriti: Smriti) -> None:
    task = smriti("tasks", "show", "unpaid-mark", "--root", GOOD.parent, "--json").json
    assert (task["id"], task["check_cmd"], len(task["planted_memories"])) == (
        "unpaid-mark",
        ["sh", "grader/check.sh"],
        2,
    )
    assert "rows.sh" in task["files"]


def test_an_unknown_task_is_refused_with_the_nearest_one(smriti: Smriti) -> None:
    smriti("tasks", "show", "csv-nul-token").assert_refused("no task 'csv-nul-token'", "did you mean 'csv-null-token'?")


@pytest.mark.parametrize("command", [("list",), ("show", "unpaid-mark"), ("check",)])
def test_a_folder_of_tasks_that_is_not_there_is_refused(smriti: Smriti, command: tuple[str, ...]) -> None:
    smriti("tasks", *command, "--root", "nowhere").assert_refused("'nowhere' is not there")


def test_check_of_a_file_says_that_it_is_one(smriti: Smriti) -> None:
    file = GOOD / "task.json"
    smriti("tasks", "check", file).assert_refused(f"{file} is a file, expected the folder of a task, such as {GOOD}")
    smriti("tasks", "check", "nowhere").assert_refused("'nowhere' is not there")


def test_check_of_a_good_task_finds_nothing(smriti: Smriti) -> None:
    ended = smriti("tasks", "check", GOOD)
    assert (ended.status, ended.out) == (0, f"1 tasks, {len(RULES)} rules, 0 problems, 0 not checked in full\n")


def test_check_lists_every_problem_and_is_exit_status_1(smriti: Smriti, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    append(folder, "repo_fixture/README.md", "\nA line without an amount gets OWING.\n")
    append(folder, "repo_fixture/lib/cell.sh", "\n# OWING\n")
    ended = smriti("tasks", "check", folder)
    assert ended.status == 1
    *problems, last = ended.out.splitlines()
    assert len(problems) == 2
    assert all("leak" in problem and "unpaid-mark" in problem for problem in problems)
    assert last.startswith("1 tasks, ")
    assert "2 problems" in last


def test_check_as_json_is_one_object(smriti: Smriti, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    append(folder, "repo_fixture/README.md", "\nA line without an amount gets OWING.\n")
    ended = smriti("tasks", "check", folder, "--json")
    assert ended.status == 1
    (problem,) = ended.json["problems"]
    assert (problem["task"], problem["rule"], problem["file"]) == ("unpaid-mark", "leak", "repo_fixture/README.md")
    assert (ended.json["tasks"], ended.json["unchecked"]) == (["unpaid-mark"], [])


def test_a_task_that_cannot_be_checked_here_is_not_called_good(smriti: Smriti, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    task = folder / "task.json"
    task.write_text(task.read_text().replace('"requires": ["sh"]', '"requires": ["sh", "no-such-command"]'))
    ended = smriti("tasks", "check", folder)
    assert ended.status == 1
    assert "unpaid-mark: not checked by" in ended.out
    assert "no-such-command is not on this machine" in ended.out
