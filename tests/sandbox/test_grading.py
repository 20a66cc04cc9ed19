"""What of an agent's work is graded, and where."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti.sandbox.filetree import changed_paths, lay, matches, read_tree
from smriti.sandbox.grading import (
    MAX_CHECK_OUTPUT_BYTES,
    MAX_DELIVERABLE_BYTES,
    Deliverables,
    run_check,
    select_deliverables,
)
from smriti.types import Completed, File, FileTree, TaskFolder
from tests.strategies import file_trees, task_folder, tree

FIXTURE = {"src/main.py": "old\n", "src/util.py": "util\n", "tests/test_main.py": "test\n", "README.md": "read\n"}

SHOW = 'cat src/main.py; echo checked >&2; test "$(cat src/main.py)" = good'


def checked(task: TaskFolder, worked: FileTree, root: Path) -> Completed:
    """Grade what an agent left behind."""
    return run_check(task, select_deliverables(task, worked, []).tree, root / "grade")


def sh(script: str, **parts: object) -> TaskFolder:
    """A task that is checked by a script in hidden/."""
    hidden = {"grader/check.sh": script + "\n", **parts.pop("hidden", {})}  # type: ignore[dict-item]  # a tree is given
    fields = {"deliverables": ("src/**",), "check_cmd": ("sh", "grader/check.sh"), "requires": ("sh",), **parts}
    return task_folder(FIXTURE, hidden=hidden, **fields)  # type: ignore[arg-type]  # fields of a task


# What is taken


def select(worked: FileTree, *globs: str, irregular: list[str] | None = None) -> Deliverables:
    return select_deliverables(task_folder(FIXTURE, deliverables=globs), worked, irregular or [])


def test_an_untouched_fixture_is_graded_as_it_is() -> None:
    assert select(tree(FIXTURE), "src/**") == Deliverables(tree(FIXTURE), ())


def test_deliverables_are_taken_whether_new_altered_or_deleted() -> None:
    worked = {
        "src/main.py": "new\n",
        "src/deep/er.py": "more\n",
        **{name: FIXTURE[name] for name in FIXTURE if "src" not in name},
    }
    expected = {name: text for name, text in {**FIXTURE, **worked}.items() if name != "src/util.py"}
    assert select(tree(worked), "src/**") == Deliverables(tree(expected), ())


def test_what_is_no_deliverable_stays_as_it_was_and_is_named() -> None:
    worked = tree({"src/main.py": "new\n", "src/util.py": "util\n", "README.md": "changed\n", "stray.txt": "x"})
    graded = select(worked, "src/**")
    assert graded.tree == tree({**FIXTURE, "src/main.py": "new\n"})
    assert graded.left_out == tuple(
        f"{path}: not among the deliverables" for path in ("README.md", "stray.txt", "tests/test_main.py")
    )


def test_a_change_of_mode_is_a_change() -> None:
    tool = File(b"old\n", executable=True)
    worked = {**tree(FIXTURE), "src/main.py": tool, "README.md": File(b"read\n", executable=True)}
    graded = select(worked, "src/**")
    assert graded.tree == {**tree(FIXTURE), "src/main.py": tool}
    assert graded.left_out == ("README.md: not among the deliverables",)


def test_what_could_not_be_read_is_named_first_and_its_old_content_does_not_stand_in_for_it() -> None:
    worked = tree({name: text for name, text in FIXTURE.items() if name != "src/main.py"})
    graded = select(worked, "src/**", irregular=["src/main.py: a symbolic link"])
    assert graded.tree == worked
    assert graded.left_out == ("src/main.py: a symbolic link",)


def test_a_link_or_a_file_over_the_bound_is_not_taken(tmp_path: Path) -> None:
    lay(tree(FIXTURE), tmp_path)
    (tmp_path / "secret").write_text("not the agent's\n")
    (tmp_path / "src" / "main.py").unlink()
    (tmp_path / "src" / "main.py").symlink_to(tmp_path / "secret")
    for name, size in (("over", MAX_DELIVERABLE_BYTES + 1), ("at", MAX_DELIVERABLE_BYTES)):
        with (tmp_path / "src" / name).open("wb") as file:
            file.truncate(size)
    graded = select(read_tree(tmp_path, MAX_DELIVERABLE_BYTES)[0], "src/**")
    assert sorted(graded.tree) == ["README.md", "src/at", "src/util.py", "tests/test_main.py"]
    graded = select_deliverables(task_folder(FIXTURE), *read_tree(tmp_path, MAX_DELIVERABLE_BYTES))
    assert graded.left_out == (
        "src/main.py: a symbolic link",
        f"src/over: {MAX_DELIVERABLE_BYTES + 1} bytes, over the bound of {MAX_DELIVERABLE_BYTES}",
    )


def test_a_deliverable_cannot_take_the_place_of_what_is_none() -> None:
    """Its folder or file of that name would be gone, though nobody may delete it."""
    worked = tree({"src": "a file now", "README.md/x": "a folder now", "tests/test_main.py": "test\n"})
    graded = select(worked, "src", "**/x")
    assert graded.tree == tree(FIXTURE)
    assert sorted(graded.left_out) == [
        "README.md/x: in the place of what is not among the deliverables",
        "README.md: not among the deliverables",
        "src/main.py: not among the deliverables",
        "src/util.py: not among the deliverables",
        "src: in the place of what is not among the deliverables",
    ]


def test_a_deliverable_folder_may_become_a_file_and_a_file_a_folder() -> None:
    worked = tree({"src": "a file now", "README.md/x": "a folder now", "tests/test_main.py": "test\n"})
    assert select(worked, "**") == Deliverables(worked, ())


@settings(max_examples=60, deadline=None)
@given(
    file_trees(st.binary(max_size=2)),
    file_trees(st.binary(max_size=2)),
    st.lists(st.sampled_from(["a", "a/**", "*", "**/b", "**", ".*", "b*"]), min_size=1, max_size=2),
)
def test_nothing_but_deliverables_differs_and_no_change_goes_unnamed(
    before: FileTree, worked: FileTree, globs: list[str]
) -> None:
    graded = select_deliverables(task_folder(before, deliverables=tuple(globs)), worked, [])
    assert all(matches(path, globs) for path in changed_paths(before, graded.tree))
    left_out = {told.rpartition(": ")[0] for told in graded.left_out}
    assert left_out == set(changed_paths(graded.tree, worked))
    with tempfile.TemporaryDirectory() as directory:
        lay(graded.tree, Path(directory))
        assert read_tree(Path(directory))[0] == graded.tree


# The check


@pytest.mark.parametrize(("text", "passed"), [("good\n", True), ("bad\n", False)])
def test_the_check_sees_the_deliverable_and_its_status_is_the_verdict(
    tmp_path: Path, text: str, *, passed: bool
) -> None:
    done = checked(sh(SHOW), {**tree(FIXTURE), **tree({"src/main.py": text})}, tmp_path)
    assert (done.exit_status == 0) is passed
    assert (done.stdout, done.stderr) == (text.encode(), b"checked\n")


def test_a_check_that_hangs_has_no_verdict(tmp_path: Path) -> None:
    done = checked(sh("sleep 600", timeout_s=0.1), tree(FIXTURE), tmp_path)
    assert (done.exit_status, done.timed_out) == (None, True)


def test_a_check_that_is_ended_by_a_signal_says_so(tmp_path: Path) -> None:
    assert checked(sh("kill -TERM $$"), tree(FIXTURE), tmp_path).exit_status == -signal.SIGTERM


def test_a_missing_command_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-checker"):
        checked(sh("", check_cmd=("no-such-checker",)), tree(FIXTURE), tmp_path)


def test_a_check_may_be_a_program_in_hidden(tmp_path: Path) -> None:
    program = {"grader/run": File(b"#!/bin/sh\nexit 9\n", executable=True)}
    assert checked(sh("", hidden=program, check_cmd=("grader/run",)), tree(FIXTURE), tmp_path).exit_status == 9


def test_what_a_task_requires_is_on_the_checks_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay({"tool-a": File(b"#!/bin/sh\nexit 9\n", executable=True)}, tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    task = sh("", check_cmd=("tool-a",), requires=("tool-a",))
    assert checked(task, tree(FIXTURE), tmp_path).exit_status == 9


def test_output_of_a_check_is_bounded(tmp_path: Path) -> None:
    done = checked(sh(f"head -c {MAX_CHECK_OUTPUT_BYTES + 1} /dev/zero"), tree(FIXTURE), tmp_path)
    assert (len(done.stdout), done.truncated, done.exit_status) == (MAX_CHECK_OUTPUT_BYTES, True, 0)


def test_the_check_runs_in_a_clean_copy_and_not_where_the_agent_worked(tmp_path: Path) -> None:
    agents = tmp_path / "agent" / "repo"
    lay(tree({**FIXTURE, "src/main.py": "good\n", "stray": "s", "src/__pycache__/main.pyc": "p"}), agents)
    (agents / ".git").mkdir()
    before = sorted(agents.rglob("*"))
    done = checked(sh("pwd -P; find . -type f | sort; touch written src/written"), read_tree(agents)[0], tmp_path)
    where, *files = done.stdout.decode().splitlines()
    assert Path(where) == (tmp_path / "grade" / "repo").resolve()
    assert files == sorted(f"./{path}" for path in [*FIXTURE, "grader/check.sh"])
    assert sorted(agents.rglob("*")) == before


def test_the_check_has_a_home_and_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMRITI_CANARY", "leaked")
    done = checked(
        sh('echo "$HOME"; echo "[$SMRITI_CANARY]"; ls -A "$HOME" "$TMPDIR" | grep -v :'), tree(FIXTURE), tmp_path
    )
    assert done.stdout.decode().split() == [str(tmp_path / "grade" / "home"), "[]"]


def test_a_second_check_is_never_laid_over_a_first(tmp_path: Path) -> None:
    checked(sh("true"), tree(FIXTURE), tmp_path)
    with pytest.raises(FileExistsError):
        checked(sh("true"), tree(FIXTURE), tmp_path)


# Hidden files


@pytest.mark.parametrize(
    "forged",
    [
        {"grader/check.sh": File(b"exit 0\n", executable=True)},
        {"grader": File(b"a file where hidden/ has a folder")},
        {"grader/check.sh/x": File(b"a folder where hidden/ has a file")},
        {"grader/check.sh/x/y": File(b"deeper"), "grader/other": File(b"")},
    ],
    ids=["same name", "file for folder", "folder for file", "deep folder for file"],
)
def test_hidden_files_win_over_the_agents_own(tmp_path: Path, forged: dict[str, File]) -> None:
    task = sh("test ! -x grader/check.sh && exit 42", deliverables=("**",))
    assert checked(task, {**tree(FIXTURE), **forged}, tmp_path).exit_status == 42


def test_hidden_files_lie_beside_what_the_agent_put_into_their_folder(tmp_path: Path) -> None:
    task = sh("ls grader", deliverables=("**",), hidden={"grader/data": "d"})
    done = checked(task, {**tree(FIXTURE), **tree({"grader/mine": "m"})}, tmp_path)
    assert done.stdout.decode().split() == ["check.sh", "data", "mine"]
