"""A cage that is only a directory and an environment, and what its PATH holds."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from smriti import process
from smriti.sandbox.none import PlainCage, command_path, make_cage, missing_commands
from tests.processes import PATH

LONG_S = 100.0


@pytest.fixture
def cage(tmp_path: Path) -> PlainCage:
    return make_cage(tmp_path / "cage", PATH)


def program(path: Path, says: str) -> Path:
    """Write a program that says something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return path


# The cage


def test_nothing_of_the_users_environment_gets_in(cage: PlainCage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMRITI_CANARY", "leaked")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "leaked")
    monkeypatch.setenv("PYTHONPATH", "/leaked")
    monkeypatch.setenv("HOME", "/leaked")
    found = dict(line.split("=", 1) for line in cage.run(["env"], timeout_s=LONG_S).stdout.decode().splitlines())
    assert found.pop(process.MARK)
    assert found == cage.env
    assert set(found) == {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ"} | {
        f"XDG_{name}" for name in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR")
    }
    assert "leaked" not in "".join(found.values())


def test_every_directory_that_the_environment_names_is_its_own(cage: PlainCage, tmp_path: Path) -> None:
    named = {name: Path(value) for name, value in cage.env.items() if name in {"HOME", "TMPDIR"} or "XDG" in name}
    for directory in named.values():
        assert directory.is_relative_to(tmp_path / "cage")
        assert not directory.is_relative_to(cage.workdir)
    for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR"):
        assert list(named[name].iterdir()) == []


def test_two_cages_share_no_directory(tmp_path: Path) -> None:
    one, other = make_cage(tmp_path / "one", PATH), make_cage(tmp_path / "other", PATH)
    shared = {name for name in one.env if one.env[name] == other.env[name]}
    assert shared == {"PATH", "LANG", "LC_ALL", "TZ"}
    assert one.workdir != other.workdir


def test_a_cage_is_never_made_over_another(cage: PlainCage, tmp_path: Path) -> None:
    (cage.workdir / "work").write_text("x")
    with pytest.raises(FileExistsError):
        make_cage(tmp_path / "cage", PATH)
    assert (cage.workdir / "work").read_text() == "x"


def test_a_command_runs_in_the_empty_working_directory(cage: PlainCage) -> None:
    assert cage.run(["pwd", "-P"], timeout_s=LONG_S).stdout.decode().strip() == str(cage.workdir.resolve())
    assert list(cage.workdir.iterdir()) == []


def test_what_is_written_to_home_and_tmp_stays_below_the_root(cage: PlainCage, tmp_path: Path) -> None:
    cage.run(["sh", "-c", 'touch ~/mine; touch "$(mktemp -d)/mine"'], timeout_s=LONG_S)
    assert len(list((tmp_path / "cage").rglob("mine"))) == 2
    assert (Path(cage.env["HOME"]) / "mine").exists()


def test_env_is_added_for_one_command_alone(cage: PlainCage) -> None:
    before = dict(cage.env)
    script = ["sh", "-c", 'echo "$EXTRA-$TZ-$LANG"']
    assert cage.run(script, timeout_s=LONG_S, env={"EXTRA": "e", "TZ": "CET"}).stdout == b"e-CET-C.UTF-8\n"
    assert cage.run(script, timeout_s=LONG_S).stdout == b"-UTC-C.UTF-8\n"
    assert cage.env == before


def test_input_limit_and_bound_are_passed_on(cage: PlainCage) -> None:
    assert cage.run(["cat"], timeout_s=LONG_S, stdin=b"in").stdout == b"in"
    assert cage.run(["sleep", "600"], timeout_s=0.1).timed_out
    cut = cage.run(["echo", "long"], timeout_s=LONG_S, max_output_bytes=2)
    assert (cut.stdout, cut.truncated) == (b"lo", True)


def test_a_command_off_the_cages_path_is_not_found(
    cage: PlainCage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "users-own", "hello")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with pytest.raises(FileNotFoundError, match="'users-own' is not on the cage's PATH"):
        cage.run(["users-own"], timeout_s=LONG_S)
    added = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{PATH}"}
    assert cage.run(["users-own"], timeout_s=LONG_S, env=added).stdout == b"hello\n"


def test_a_path_to_a_command_starts_in_the_cage(
    cage: PlainCage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(cage.workdir / "tools" / "hello", "inside")
    program(tmp_path / "tools" / "hello", "outside")
    program(cage.workdir / "inner" / "only", "inside")
    program(tmp_path / "outer" / "only", "outside")
    monkeypatch.chdir(tmp_path)
    assert cage.run(["./tools/hello"], timeout_s=LONG_S).stdout == b"inside\n"
    assert cage.run(["tools/hello"], timeout_s=LONG_S).stdout == b"inside\n"
    assert cage.run(["inner/only"], timeout_s=LONG_S).stdout == b"inside\n"
    assert cage.run([str(tmp_path / "tools" / "hello")], timeout_s=LONG_S).stdout == b"outside\n"
    with pytest.raises(FileNotFoundError):
        cage.run(["outer/only"], timeout_s=LONG_S)


def test_a_file_that_may_not_be_executed_is_no_command(cage: PlainCage) -> None:
    (cage.workdir / "text").write_text("#!/bin/sh\n")
    with pytest.raises(FileNotFoundError):
        cage.run(["./text"], timeout_s=LONG_S)


# Its PATH


@pytest.mark.parametrize("required", [[], ["python3"], ["sh", "python3"]])
def test_python3_is_the_interpreter_below_the_environment_that_runs_smriti(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, required: list[str]
) -> None:
    program(tmp_path / "bin" / "python3", "another")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    cage = make_cage(tmp_path / "cage", command_path(required))
    ask = "import sys; print(sys.prefix == sys.base_prefix, sys.prefix, *sys.version_info)"
    told = cage.run(["python3", "-I", "-c", ask], timeout_s=LONG_S).stdout.decode()
    assert str(tmp_path / "bin") not in cage.env["PATH"].split(os.pathsep)
    assert told.split(" ") == ["True", sys.base_prefix, *f"{' '.join(map(str, sys.version_info))}\n".split(" ")]


def test_the_users_own_folders_are_on_it_only_for_what_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "a" / "tool-a", "a")
    program(tmp_path / "b" / "tool-b", "b")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b"), PATH]))
    listed = command_path(["tool-b", "no-such-tool"]).split(os.pathsep)
    assert str(tmp_path / "b") in listed
    assert str(tmp_path / "a") not in listed
    assert {"/usr/bin", "/bin"} <= set(listed)


def test_no_folder_is_on_it_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tool-a", "tool-b"):
        program(tmp_path / name, name)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), PATH]))
    listed = command_path(["tool-a", "tool-b", "sh", "sh"]).split(os.pathsep)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("entry", [".", "bin", ""])
def test_no_folder_on_it_is_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    """A relative one would lead into the agent's own repository."""
    program(tmp_path / entry / "tool-a", "a")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([entry, PATH]))
    assert all(Path(folder).is_absolute() for folder in command_path(["tool-a"]).split(os.pathsep))


def test_missing_commands_are_named_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = program(tmp_path / "tool-a", "a")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), PATH]))
    assert missing_commands([]) == []
    assert missing_commands(["python3", "sh", "tool-a"]) == []
    assert missing_commands(["no-such-b", "sh", "no-such-a"]) == ["no-such-b", "no-such-a"]
    tool.chmod(stat.S_IRUSR)
    assert missing_commands(["tool-a"]) == ["tool-a"]


def test_python3_is_never_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_commands(["python3"]) == []


def test_what_is_not_missing_is_found_in_a_cage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "tool-a", "a")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), PATH]))
    assert missing_commands(["tool-a"]) == []
    cage = make_cage(tmp_path / "cage", command_path(["tool-a"]))
    assert cage.run(["tool-a"], timeout_s=LONG_S).stdout == b"a\n"
