"""What a memory system may attach: well formed, and nothing that changes the cage or the work that is graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smriti.errors import MemorySystemError
from smriti.sandbox.none import PlainCage, command_path, make_cage
from smriti.suites.bench.attachment import CONTEXT_FILES, refuse_sabotage, shape_problem
from smriti.types import Attachment, Condition, Hook
from tests.benches import StoreAround, SystemAround, run_bench, tiny_task


@pytest.fixture
def cage(tmp_path: Path) -> PlainCage:
    return make_cage(tmp_path / "cage", command_path(["python3"]))


def attached(**fields: Any) -> Attachment:
    """An attachment whose fields need not be of their types."""
    return Attachment(**fields)


@pytest.mark.parametrize(
    ("attachment", "word"),
    [
        (None, "expected an Attachment"),
        (attached(env={"A": 1}), "env is"),
        (attached(env={"A": "x\0y"}), "env is"),
        (attached(env={"A=B": "x"}), "env is"),
        (attached(env={"": "x"}), "env is"),
        (attached(env=None), "env is None"),
        (attached(prefix="\ud800"), "prefix is"),
        (attached(prefix=None), "prefix is None"),
        (attached(files={"AGENTS.md": "\ud800"}), "files is"),
        (attached(files={"AGENTS.md": b"x"}), "files is"),
        (attached(mcp_servers={"m": ()}), "mcp_servers is"),
        (attached(hooks=(Hook("UserPromptSubmit", ()),)), "hooks is"),
        (attached(hooks=("true",)), "hooks is"),
        (attached(session_id=7, prefix=8), "prefix is 8, session_id is 7"),
    ],
)
def test_an_attachment_that_is_not_as_its_type_says_is_named(attachment: object, word: str) -> None:
    assert word in (shape_problem(attachment) or "")


def test_a_well_formed_attachment_has_no_problem() -> None:
    whole = Attachment(
        env={"A": ""},
        files={"AGENTS.md": "é"},
        prefix="Cod.",
        mcp_servers={"m": ("server", "")},
        hooks=(Hook("SessionStart", ("true",), 1),),
        session_id="s",
    )
    assert shape_problem(whole) is None
    assert shape_problem(Attachment()) is None


@pytest.mark.parametrize(
    "name",
    [
        "DYLD_X",
        "NODE_OPTIONS",
        "ENV",
        "GIT_DIR",
        "PATH",
        "HOME",
        "TMPDIR",
        "XDG_DATA_HOME",
        "LANG",
        "LC_ALL",
        "TZ",
        "PYTHONPATH",
        "LD_PRELOAD",
        "BASH_ENV",
    ],
)
def test_the_cages_own_environment_is_not_set_by_a_memory_system(cage: PlainCage, name: str) -> None:
    with pytest.raises(MemorySystemError, match=f"may not set {name}:"):
        refuse_sabotage(Attachment(env={name: "x", "COD_HOME": "x"}), tiny_task(), cage)
    refuse_sabotage(Attachment(env={"COD_HOME": "x", "SMRITI_MEM_HEADLESS": "1"}), tiny_task(), cage)


@pytest.mark.parametrize(
    "name",
    [
        "answer.txt",
        ".git/config",
        "link/AGENTS.md",
        "README.md/AGENTS.md",
        "folder",
        "alias",
        "/etc/motd",
        "../AGENTS.md",
        "a/../../AGENTS.md",
        "",
        ".",
        "./AGENTS.md",
        "a//AGENTS.md",
        "AGENTS.md/",
        "a\0b",
    ],
)
def test_a_file_elsewhere_or_among_the_graded_ones_is_not_written(cage: PlainCage, name: str) -> None:
    (cage.workdir / "README.md").touch()
    (cage.workdir / "folder").mkdir()
    (cage.workdir / "link").symlink_to(cage.workdir / "folder")
    (cage.workdir / "alias").symlink_to(cage.workdir / "README.md")
    with pytest.raises(MemorySystemError, match="the memory system may not write"):
        refuse_sabotage(Attachment(files={name: "x"}), tiny_task(), cage)


@pytest.mark.parametrize("name", [*sorted(CONTEXT_FILES), "deep/er/AGENTS.md", "folder/notes.md"])
def test_context_files_are_always_allowed_and_others_where_they_are_not_graded(cage: PlainCage, name: str) -> None:
    (cage.workdir / "folder").mkdir()
    task = tiny_task(deliverables=("answer.txt", "*.md", "deep/**"), fixture={"AGENTS.md": "House rules.\n"})
    refuse_sabotage(Attachment(files={name: "x"}), task, cage)


def test_a_sabotaging_system_is_a_fault_of_the_trial_under_off_too(tmp_path: Path) -> None:
    class Sabotages(StoreAround):
        def attach(self, realm: str, condition: Condition) -> Attachment:
            del realm, condition
            return Attachment(env={"PATH": "/nonexistent"})

    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(Sabotages), conditions=("off", "on"))
    assert [record.status for record in ran.records] == ["memory_error"] * 2
    assert {record.fault and record.fault.phase for record in ran.records} == {"attach"}
