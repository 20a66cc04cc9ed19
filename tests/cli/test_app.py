"""The `smriti` command itself: its groups, and how what happens becomes an exit status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from smriti import __version__
from smriti.errors import SmritiError
from tests.cli.command_line import Ended, Smriti


def raising(error: BaseException) -> Callable[..., NoReturn]:
    """A function that raises `error` whatever it is given."""

    def fail(*_arguments: Any, **_named: Any) -> NoReturn:
        raise error

    return fail


def test_version_is_the_packages(smriti: Smriti) -> None:
    assert smriti("--version") == Ended(0, f"smriti {__version__}\n", "")


def test_help_names_every_command(smriti: Smriti) -> None:
    ended = smriti("--help")
    assert ended.status == 0
    for command in ("bench", "verify", "tasks", "memory", "agents"):
        assert command in ended.out


def test_an_unknown_command_is_unusable_input(smriti: Smriti) -> None:
    smriti("bnech").assert_refused("No such command 'bnech'", "See smriti --help.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bench", "--trails", "3"), ("No such option", "--trails", "--trials", "See smriti bench --help.")),
        (("bench", "--trials", "three"), ("--trials", "integer", ". See smriti bench --help.")),
        (("bench", "--trials"), ("--trials", "requires an argument")),
        (("tasks", "show"), ("Missing argument 'ID'", "See smriti tasks show --help.")),
        (("verify",), ("Missing argument 'DIR…'",)),
        (("tasks", "shwo"), ("No such command 'shwo'",)),
    ],
)
def test_what_the_parser_cannot_read_is_one_paragraph(
    smriti: Smriti, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    smriti(*arguments).assert_refused(*words)


@pytest.mark.parametrize("group", ["tasks", "memory", "agents"])
def test_a_group_alone_shows_its_commands(smriti: Smriti, group: str) -> None:
    ended = smriti(group)
    assert ended.status == 2
    assert "list" in ended.out + ended.err
    assert "Traceback" not in ended.err


def test_what_a_user_can_mend_is_a_paragraph_on_stderr(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.cli.tasks.load_corpus", raising(SmritiError("the tasks are gone")))
    assert smriti("tasks", "list", "--json") == Ended(2, "", "smriti: the tasks are gone\n")


def test_an_interrupt_anywhere_is_exit_status_3(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.cli.tasks.load_corpus", raising(KeyboardInterrupt()))
    assert smriti("tasks", "list") == Ended(3, "", "smriti: interrupted\n")


def test_what_nobody_foresaw_is_shown_in_full(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.cli.tasks.load_corpus", raising(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        smriti("tasks", "list")


def test_what_the_machine_refuses_is_a_paragraph(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.cli.tasks.load_corpus", raising(PermissionError(13, "Permission denied", "a/folder")))
    smriti("tasks", "list").assert_refused("a/folder: Permission denied")
    monkeypatch.setattr("smriti.cli.tasks.load_corpus", raising(OSError("of some kind")))
    smriti("tasks", "list").assert_refused("of some kind")


def test_the_installed_command_runs_and_hands_its_status_on(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("smriti")
    done = subprocess.run([command, "bench"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("smriti: --trials is missing")
