"""Loading and selecting tasks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from smriti.corpus import load, load_corpus, load_task, select, tasks_root
from smriti.errors import UsageError
from smriti.types import TaskFolder

from .build import GOOD, SPOILED, Spoil, append, copy_good, edit_json, write_history

SHAPELESS = [
    pytest.param(spoil, id=spoil.__name__)
    for rule, spoils in SPOILED.items()
    for spoil in spoils
    if rule in ("schema", "parts", "path")
]


@pytest.fixture
def corpus(tmp_path: Path) -> list[TaskFolder]:
    """Three tasks: alpha-mark and unpaid-mark are visible, zeta-mark is held out."""
    for name, split in (("zeta-mark", "holdout"), ("alpha-mark", "visible")):
        shutil.copytree(GOOD, tmp_path / name)
        edit_json(tmp_path / name, id=name, split=split)
    copy_good(tmp_path)
    (tmp_path / "README.md").write_text("# Tasks\n")
    (tmp_path / "__pycache__").mkdir()
    return load_corpus(tmp_path)


def test_a_task_has_all_its_parts_in_memory(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    write_history(folder)
    task = load_task(folder)
    shutil.rmtree(folder)
    assert task.task.id == "unpaid-mark"
    assert list(task.fixture) == ["README.md", "lib/cell.sh", "rows.sh", "test.sh"]
    assert list(task.hidden) == ["grader/check.sh"]
    assert list(task.solution) == list(task.naive) == ["lib/cell.sh"]
    assert b"OWING" in task.solution["lib/cell.sh"].content
    assert task.history is not None
    assert task.history.startswith(b"commit refs/heads/main")


def test_a_task_without_a_history_has_none() -> None:
    assert load_task(GOOD).history is None


@pytest.mark.parametrize(
    "file", ["task.json", "repo_fixture/rows.sh", "hidden/grader/check.sh", "solution/lib/cell.sh", "naive/lib/cell.sh"]
)
def test_the_digest_is_of_every_part(file: str, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    before = load_task(folder).sha256
    append(folder, file, "\n")
    assert load_task(folder).sha256 != before


def test_the_digest_is_of_history_and_modes_too(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    digests = {load_task(folder).sha256}
    write_history(folder)
    digests.add(load_task(folder).sha256)
    (folder / "repo_fixture/rows.sh").chmod(0o755)
    digests.add(load_task(folder).sha256)
    assert len(digests) == 3


def test_what_interpreters_leave_behind_does_not_count(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    append(folder, "hidden/__pycache__/check.pyc", "cache")
    append(folder, "__pycache__/task.pyc", "cache")
    assert load_task(folder).sha256 == load_task(GOOD).sha256


@pytest.mark.parametrize("spoil", SHAPELESS)
def test_a_folder_that_has_not_the_shape_of_a_task_is_refused(spoil: Spoil, tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    spoil(folder)
    with pytest.raises(UsageError, match=r"unpaid-mark' cannot be used: .*tasks/README.md"):
        load_task(folder)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    edit_json(folder, version=0)
    shutil.rmtree(folder / "naive")
    with pytest.raises(UsageError, match=r"version: .*naive: is missing"):
        load_task(folder)


def test_a_task_must_have_the_name_of_its_folder(tmp_path: Path) -> None:
    folder = copy_good(tmp_path)
    edit_json(folder, id="paid-mark")
    with pytest.raises(UsageError, match="has the id 'paid-mark'"):
        load_task(folder)


def test_a_task_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        load_task(tmp_path / "nowhere")


def test_a_corpus_is_sorted_by_id(corpus: list[TaskFolder]) -> None:
    assert [task.task.id for task in corpus] == ["alpha-mark", "unpaid-mark", "zeta-mark"]


def test_a_folder_that_is_no_task_is_not_passed_over(tmp_path: Path) -> None:
    copy_good(tmp_path)
    (tmp_path / "notes").mkdir()
    with pytest.raises(UsageError, match="notes' cannot be used"):
        load_corpus(tmp_path)


@pytest.mark.parametrize("root", [".", "nowhere"])
def test_a_corpus_of_no_tasks_is_refused(root: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_corpus(tmp_path / root)


def test_all_tasks_are_selected_by_default(corpus: list[TaskFolder]) -> None:
    assert select(corpus) == corpus


@pytest.mark.parametrize(
    ("ids", "split", "expected"),
    [
        ((), "visible", ["alpha-mark", "unpaid-mark"]),
        ((), "holdout", ["zeta-mark"]),
        (("zeta-mark", "alpha-mark", "zeta-mark"), "all", ["alpha-mark", "zeta-mark"]),
        (("unpaid-mark",), "visible", ["unpaid-mark"]),
    ],
)
def test_tasks_are_selected_by_id_and_split(
    ids: tuple[str, ...], split: str, expected: list[str], corpus: list[TaskFolder]
) -> None:
    assert [task.task.id for task in select(corpus, ids, split)] == expected


def test_an_unknown_id_is_refused_with_the_nearest_and_all_choices(corpus: list[TaskFolder]) -> None:
    with pytest.raises(
        UsageError, match=r"'unpayd-mark' \(did you mean 'unpaid-mark'\?\).*alpha-mark, unpaid-mark, ze"
    ):
        select(corpus, ["unpayd-mark"])


def test_an_unknown_split_is_refused(corpus: list[TaskFolder]) -> None:
    with pytest.raises(UsageError, match=r"'visable' .*did you mean 'visible'"):
        select(corpus, split="visable")


def test_a_named_task_of_another_split_is_not_dropped_in_silence(corpus: list[TaskFolder]) -> None:
    with pytest.raises(UsageError, match="'zeta-mark' is of split 'holdout'"):
        select(corpus, ["zeta-mark", "alpha-mark"], "visible")


def test_a_selection_of_nothing_is_refused(corpus: list[TaskFolder]) -> None:
    with pytest.raises(UsageError, match="no task is of split 'holdout'"):
        select(corpus[:2], split="holdout")


def test_tasks_inside_the_package_come_before_those_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "smriti"
    monkeypatch.setattr(load, "_PACKAGE", package)
    (tmp_path / "tasks").mkdir()
    with pytest.raises(UsageError, match="no tasks"):
        tasks_root()
    (tmp_path / "pyproject.toml").touch()
    assert tasks_root() == tmp_path / "tasks"
    (package / "tasks").mkdir(parents=True)
    assert tasks_root() == package / "tasks"
