"""A task's repository as the agent finds it, with its history where it has one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from smriti.errors import SmritiError
from smriti.sandbox import fixture
from smriti.sandbox.filetree import read_tree
from smriti.sandbox.fixture import Fixtures
from smriti.types import File, FileTree
from tests.strategies import task_folder, tree

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")

FILES = tree(
    {"README.md": "A ledger.\n", "bin/tool": File(b"#!/bin/sh\n", executable=True), "é/crlf.txt": "1\r\n2\r\n"}
)


def stream(*commits: tuple[str, FileTree], branch: str = "main", end: str = "done\n") -> bytes:
    """A `git fast-import` stream of whole trees, one commit each, oldest first."""
    return b"".join(_commit(branch, message, files) for message, files in commits) + end.encode()


def _commit(branch: str, message: str, files: FileTree) -> bytes:
    head = f"commit refs/heads/{branch}\ncommitter Dev <dev@example.com> 1700000000 +0000\n"
    head += f"data {len(message)}\n{message}\n"
    entries = [
        b"M %d inline %s\ndata %d\n%s\n"
        % (755 if file.executable else 644, path.encode(), len(file.content), file.content)
        for path, file in files.items()
    ]
    return head.encode() + b"deleteall\n" + b"".join(entries)


HISTORY = stream(("Begin", tree({"old": "gone\n"})), ("Keep a ledger", FILES))


def git(repository: Path, *arguments: str) -> str:
    """Ask git, with nobody's configuration."""
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": os.devnull}
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def workdirs(root: Path, count: int) -> list[Path]:
    made = [root / f"work{number}" for number in range(count)]
    for directory in made:
        directory.mkdir()
    return made


def test_a_task_without_a_history_has_its_files_and_no_repository(tmp_path: Path) -> None:
    (work,) = workdirs(tmp_path, 1)
    Fixtures(tmp_path / "cache").materialize(task_folder(FILES), work)
    assert read_tree(work) == (dict(sorted(FILES.items())), [])
    assert not (work / ".git").exists()
    assert not (tmp_path / "cache").exists()


@needs_git
def test_a_history_is_a_clean_repository_on_main(tmp_path: Path) -> None:
    (work,) = workdirs(tmp_path, 1)
    Fixtures(tmp_path / "cache").materialize(task_folder(FILES, history=HISTORY), work)
    assert read_tree(work)[0] == FILES
    assert git(work, "log", "--format=%s %an %aI") == (
        "Keep a ledger Dev 2023-11-14T22:13:20+00:00\nBegin Dev 2023-11-14T22:13:20+00:00\n"
    )
    assert git(work, "status", "--porcelain", "--branch") == "## main\n"
    assert git(work, "show", "HEAD~1:old") == "gone\n"
    assert git(work, "fsck", "--strict") == ""


@needs_git
@pytest.mark.parametrize("end", ["done\n", "done", "", "\n"])
def test_a_stream_may_say_that_it_is_done_or_not(tmp_path: Path, end: str) -> None:
    (work,) = workdirs(tmp_path, 1)
    history = stream(("Keep a ledger", FILES), end=end)
    Fixtures(tmp_path / "cache").materialize(task_folder(FILES, history=history), work)
    assert git(work, "log", "--format=%s") == "Keep a ledger\n"


@needs_git
def test_the_users_configuration_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, (work,) = tmp_path / "home", workdirs(tmp_path, 1)
    (home / "hooks").mkdir(parents=True)
    (home / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch leaked\n")
    (home / ".gitconfig").write_text(
        f"[core]\n autocrlf = true\n hooksPath = {home}/hooks\n[init]\n defaultBranch = trunk\n templateDir = {home}\n"
    )
    for name, value in {"HOME": home, "GIT_DIR": home, "GIT_INDEX_FILE": home / "index"}.items():
        monkeypatch.setenv(name, str(value))
    Fixtures(tmp_path / "cache").materialize(task_folder(FILES, history=HISTORY), work)
    assert read_tree(work)[0] == FILES
    assert not (work / ".git" / "hooks").exists()
    assert git(work, "status", "--porcelain", "--branch") == "## main\n"


@needs_git
def test_a_history_is_imported_once_and_copied_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    real = fixture.import_history

    def counted(task: object, history: bytes, repository: Path) -> None:
        imported.append(repository.name)
        real(task, history, repository)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(fixture, "import_history", counted)
    fixtures, task = Fixtures(tmp_path / "cache"), task_folder(FILES, history=HISTORY)
    with ThreadPoolExecutor(4) as pool:
        works = workdirs(tmp_path, 8)
        list(pool.map(lambda work: fixtures.materialize(task, work), works))
    assert len(imported) == 1
    assert len({git(work, "rev-parse", "HEAD") for work in works}) == 1


@needs_git
def test_what_one_agent_does_to_its_repository_no_other_sees(tmp_path: Path) -> None:
    fixtures, task = Fixtures(tmp_path / "cache"), task_folder(FILES, history=HISTORY)
    first, second, third = workdirs(tmp_path, 3)
    fixtures.materialize(task, first)
    fixtures.materialize(task, second)
    git(first, "update-ref", "refs/heads/main", "HEAD~1")
    (first / ".git" / "config").write_text("broken")
    shutil.rmtree(first / ".git" / "objects")
    fixtures.materialize(task, third)
    for work in (second, third):
        assert git(work, "log", "-1", "--format=%s") == "Keep a ledger\n"
        assert git(work, "status", "--porcelain") == ""


@needs_git
def test_each_task_has_its_own_repository(tmp_path: Path) -> None:
    fixtures = Fixtures(tmp_path / "cache")
    for number, work in enumerate(workdirs(tmp_path, 2)):
        history = stream((f"Commit {number}", FILES))
        fixtures.materialize(task_folder(FILES, history=history, sha256=f"{number}" * 64), work)
        assert git(work, "log", "--format=%s") == f"Commit {number}\n"


BROKEN: Mapping[str, bytes] = {
    "no stream": b"nothing that git could read\n",
    "cut off": HISTORY[:-20] + b"\ndone\n",
    "another branch": stream(("Begin", FILES), branch="trunk"),
    "empty": b"",
}


@needs_git
@pytest.mark.parametrize("history", BROKEN.values(), ids=BROKEN)
def test_a_history_that_git_refuses_is_an_error_that_names_the_task_every_time(tmp_path: Path, history: bytes) -> None:
    fixtures, task = Fixtures(tmp_path / "cache"), task_folder(FILES, history=history, id="broken-past")
    for work in workdirs(tmp_path, 2):
        with pytest.raises(SmritiError, match=r"task broken-past: git \S+ of history\.fast-import ended with \d+: \S"):
            fixtures.materialize(task, work)
        assert not (work / ".git").exists()


@needs_git
def test_a_half_imported_history_of_an_earlier_run_is_begun_anew(tmp_path: Path) -> None:
    task = task_folder(FILES, history=HISTORY)
    (work,) = workdirs(tmp_path, 1)
    fixtures = Fixtures(tmp_path / "cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixture, "_GIT_TIMEOUT_S", 0.0)
        with pytest.raises(SmritiError, match="ended with None"):
            fixtures.materialize(task, work)
    fixtures.materialize(task, work)
    assert git(work, "log", "-1", "--format=%s") == "Keep a ledger\n"
