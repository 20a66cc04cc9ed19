"""Every admission rule refuses its own bad tasks, and nothing else does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from smriti.corpus import RULES, check_corpus, check_folders, check_task
from smriti.errors import UsageError

from .build import GOOD, HARMLESS, SPOILED, Spoil, copy_good, edit_json, prepend, replace, write_history

BAD = [pytest.param(rule, spoil, id=f"{rule}-{spoil.__name__}") for rule, spoils in SPOILED.items() for spoil in spoils]


@pytest.mark.parametrize(("rule", "spoil"), BAD)
def test_a_flaw_is_refused_by_its_rule_and_no_other(rule: str, spoil: Spoil, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    spoil(folder)
    check = check_task(folder, tmp_path / "scratch")
    assert {problem.rule for problem in check.problems} == {rule}, check.problems
    assert all(problem.task == folder.name and problem.message for problem in check.problems)
    assert check.unchecked == ()


@pytest.mark.parametrize("change", [pytest.param(change, id=change.__name__) for change in HARMLESS])
def test_a_good_task_is_refused_by_no_rule(change: Spoil, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    change(folder)
    check = check_task(folder, tmp_path / "scratch")
    assert check.problems == ()
    assert check.unchecked == ()
    assert check.tasks == (folder.name,)


def test_every_rule_has_a_bad_task() -> None:
    assert SPOILED.keys() == RULES.keys()


def test_every_rule_states_itself_in_one_line() -> None:
    for name, rule in RULES.items():
        statement = rule.__doc__ or ""
        assert statement.endswith("."), name
        assert "\n" not in statement, name


def test_all_problems_of_all_tasks_are_listed_at_once(tmp_path: Path) -> None:
    corpus = tmp_path / "tasks"
    broken, leaking = copy_good(corpus), corpus / "leaking-mark"
    shutil.copytree(GOOD, leaking)
    edit_json(leaking, id="leaking-mark", prompt="Mark them as OWING.", version=2)
    replace(leaking, "hidden/grader/check.sh", "exit $status", "exit 0")
    (broken / "task.json").write_text("{")
    shutil.rmtree(broken / "naive")
    (broken / "link").symlink_to("task.json")
    check = check_corpus(corpus, tmp_path / "scratch", jobs=2)
    assert [(problem.task, problem.rule) for problem in check.problems] == [
        ("leaking-mark", "leak"),
        ("leaking-mark", "fixture-passes"),
        ("leaking-mark", "naive-passes"),
        ("leaking-mark", "passes-on-nothing"),
        ("unpaid-mark", "schema"),
        ("unpaid-mark", "parts"),
        ("unpaid-mark", "path"),
    ]
    assert check.tasks == ("leaking-mark", "unpaid-mark")


def test_each_error_of_the_schema_is_a_problem_with_its_place(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    edit_json(folder, timeout_s=0, split="secret", deliverables=[])
    problems = check_task(folder, tmp_path / "scratch").problems
    assert [problem.message.split(":")[0] for problem in problems] == ["split", "deliverables", "timeout_s"]
    assert "'secret'" in problems[0].message
    assert {problem.file for problem in problems} == {"task.json"}


def test_an_id_that_two_tasks_share_is_refused_in_both(tmp_path: Path) -> None:
    corpus = tmp_path / "tasks"
    copy_good(corpus)
    shutil.copytree(GOOD, corpus / "other-mark")
    problems = check_corpus(corpus, tmp_path / "scratch").problems
    assert {(problem.task, problem.rule) for problem in problems} == {
        ("other-mark", "identity"),
        ("unpaid-mark", "identity"),
    }


@pytest.mark.parametrize("name", ["Mark", "no", "m" * 49, "unpaid_mark", "1-mark"])
def test_an_id_that_is_not_well_formed_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(GOOD, folder)
    edit_json(folder, id=name)
    assert {problem.rule for problem in check_task(folder, tmp_path / "scratch").problems} == {"identity"}


def test_a_task_whose_command_is_missing_is_not_called_fine(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    edit_json(folder, requires=["sh", "no-such-command"])
    check = check_task(folder, tmp_path / "scratch")
    assert check.problems == ()
    assert [(unchecked.task, unchecked.missing) for unchecked in check.unchecked] == [
        ("unpaid-mark", ("no-such-command",))
    ]
    assert "solution-fails" in check.unchecked[0].rules
    assert "leak" not in check.unchecked[0].rules


def test_without_git_a_history_is_not_called_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.corpus.check.missing_commands", lambda commands: [c for c in commands if c == "git"])
    folder = copy_good(tmp_path)
    assert check_task(folder, tmp_path / "scratch").unchecked == ()
    write_history(folder)
    (unchecked,) = check_task(folder, tmp_path / "scratch").unchecked
    assert unchecked.missing == ("git",)
    assert {"history", "leak", "solution-fails"} <= set(unchecked.rules)


def test_the_static_rules_are_asked_where_a_command_is_missing(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    edit_json(folder, requires=["sh", "no-such-command"], prompt="Mark them as OWING.")
    check = check_task(folder, tmp_path / "scratch")
    assert [problem.rule for problem in check.problems] == ["leak"]
    assert len(check.unchecked) == 1


def test_nothing_is_run_of_a_task_that_leaves_its_folder(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    prepend(folder, "hidden/grader/check.sh", f"touch {tmp_path}/ran\n")
    edit_json(folder, deliverables=["lib/**", "/etc/*"])
    assert [problem.rule for problem in check_task(folder, tmp_path / "scratch").problems] == ["path"]
    assert not (tmp_path / "ran").exists()


def test_the_scratch_folder_is_left_empty(tmp_path: Path) -> None:
    check_task(copy_good(tmp_path), tmp_path / "scratch")
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_corpus_without_tasks_is_not_called_fine(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no task"):
        check_corpus(tmp_path, tmp_path / "scratch")


def test_a_task_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'.*/nowhere' is not there"):
        check_folders([tmp_path / "nowhere"], tmp_path / "scratch")
