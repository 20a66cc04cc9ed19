"""Commands: how they end, what of their output is kept, and that nothing of them is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from smriti import process
from smriti.types import Completed
from tests.processes import PATH, alive, eventually, open_descriptors, pid_in

LONG_S = 100.0
"""A limit that no test is meant to reach."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has orphans adopted")

STUBBORN = (
    """sh -c 'trap "" TERM HUP INT; echo $$ >pid.partial; mv pid.partial pid; while :; do sleep 600; done' &"""
    "while [ ! -e pid ]; do sleep 0.01; done;"
)
"""Leaves a process behind that ignores signals, holds the pipes, and has written its id to the file `pid`."""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Completed]:
    """Run a command in an empty directory, with nothing in its environment but a PATH."""

    def run(*command: str, **options: Any) -> Completed:
        return process.run(command, **{"cwd": tmp_path, "env": {"PATH": PATH}, "timeout_s": LONG_S, **options})

    return run


@pytest.fixture
def sh(run: Callable[..., Completed]) -> Callable[..., Completed]:
    return lambda script, **options: run("sh", "-c", script, **options)


@pytest.fixture
def time_is_up_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let every time limit pass at the moment when a file appears: no test of a limit depends on a machine's speed."""

    def arm(file: Path) -> None:
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + (10 * LONG_S if file.exists() else 0.0))
        monkeypatch.setattr(process, "time", clock)

    return arm


# How a command ends


@pytest.mark.parametrize("status", [0, 1, 3, 255])
def test_the_exit_status_is_the_commands_own(sh: Callable[..., Completed], status: int) -> None:
    done = sh(f"exit {status}")
    assert (done.exit_status, done.timed_out, done.truncated) == (status, False, False)
    assert 0 <= done.seconds < LONG_S


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_a_death_by_signal_is_a_negative_status(sh: Callable[..., Completed], name: str) -> None:
    done = sh(f"ulimit -c 0; kill -{name} $$")
    assert (done.exit_status, done.timed_out) == (-signal.Signals[f"SIG{name}"], False)


def test_a_timeout_has_no_exit_status_and_the_output_so_far(
    sh: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "said")
    done = sh("echo early; echo warned >&2; touch said; sleep 600; echo late")
    assert (done.exit_status, done.timed_out) == (None, True)
    assert (done.stdout, done.stderr) == (b"early\n", b"warned\n")


@pytest.mark.parametrize("timeout_s", [0.1, 0.0, -1.0])
@pytest.mark.parametrize("script", ["sleep 600", "exec >&- 2>&-; sleep 600", "trap '' TERM; while :; do :; done"])
def test_a_limit_holds_whatever_the_command_does(sh: Callable[..., Completed], script: str, timeout_s: float) -> None:
    done = sh(script, timeout_s=timeout_s)
    assert (done.exit_status, done.timed_out) == (None, True)
    assert done.seconds < LONG_S


@pytest.mark.parametrize("command", ["no-such-command-anywhere", "/no/such/command", "./here"])
def test_a_missing_command_is_not_found(run: Callable[..., Completed], command: str) -> None:
    with pytest.raises(FileNotFoundError):
        run(command)


def test_a_missing_working_directory_is_not_found(run: Callable[..., Completed], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run("true", cwd=tmp_path / "nowhere")


def test_a_file_that_may_not_be_executed_is_refused(run: Callable[..., Completed], tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    with pytest.raises(PermissionError):
        run("./script")


# What a command is given


def test_the_environment_is_exactly_what_is_given(
    run: Callable[..., Completed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMRITI_CANARY", "leaked")
    assert _without_mark(run("/usr/bin/env", env={"A": "b c", "EMPTY": ""})) == ["A=b c", "EMPTY="]
    assert _without_mark(run("/usr/bin/env", env={})) == []


def test_the_mark_is_another_for_each_command_and_nobody_sets_it(run: Callable[..., Completed]) -> None:
    first, second = (run("/usr/bin/env", env={process.MARK: "mine"}).stdout for _ in range(2))
    assert first.startswith(f"{process.MARK}=".encode())
    assert first != second
    assert b"mine" not in first


def test_a_command_is_looked_up_on_the_path_that_is_given(
    run: Callable[..., Completed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bin" / "hello"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    assert run("hello", env={"PATH": f"{script.parent}:{PATH}"}).stdout == b"hello\n"
    monkeypatch.setenv("PATH", str(script.parent), prepend=":")
    with pytest.raises(FileNotFoundError):
        run("hello")


def test_it_runs_in_its_working_directory(run: Callable[..., Completed], tmp_path: Path) -> None:
    assert run("pwd", "-P").stdout.decode() == f"{tmp_path.resolve()}\n"


def test_arguments_pass_through_no_shell(run: Callable[..., Completed]) -> None:
    assert run("printf", "%s\n", "$HOME", "*", "a b", "'", "").stdout == b"$HOME\n*\na b\n'\n\n"


def test_it_leads_a_session_of_its_own(run: Callable[..., Completed]) -> None:
    ask = "import os; print(os.getpid() == os.getpgrp() == os.getsid(0))"
    assert run(sys.executable, "-I", "-S", "-c", ask).stdout == b"True\n"


def test_it_inherits_no_open_file(run: Callable[..., Completed], tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as file:
        ask = f"import os\ntry: os.fstat({file.fileno()})\nexcept OSError: print('closed')"
        assert run(sys.executable, "-I", "-S", "-c", ask).stdout == b"closed\n"


# Standard input


@pytest.mark.parametrize("size", [1, 65_536, 65_537, 1_000_003])
def test_input_of_any_size_is_delivered_whole(run: Callable[..., Completed], size: int) -> None:
    sent = random.Random(size).randbytes(size)
    done = run("cat", stdin=sent)
    assert (done.exit_status, done.truncated) == (0, False)
    assert done.stdout == sent


def test_no_input_is_an_end_of_file(run: Callable[..., Completed]) -> None:
    assert run("cat").stdout == b""


@pytest.mark.parametrize("script", ["exit 3", "exec <&-; echo said; exit 3", "head -c 10 >/dev/null; exit 3"])
def test_a_command_that_does_not_read_its_input_ends_as_it_likes(sh: Callable[..., Completed], script: str) -> None:
    assert sh(script, stdin=b"x" * 1_000_000).exit_status == 3


def test_a_command_that_never_reads_its_input_meets_its_limit(sh: Callable[..., Completed]) -> None:
    assert sh("sleep 600", stdin=b"x" * 1_000_000, timeout_s=0.1).timed_out


def test_a_command_that_reads_a_part_of_its_input_and_stops_meets_its_limit(
    sh: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "read")
    done = sh("dd bs=5000 count=1 of=/dev/null 2>/dev/null; touch read; sleep 600", stdin=b"x" * 1_000_000)
    assert done.timed_out


# Output


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 65_536, 3_000_000])
def test_output_is_kept_up_to_the_bound_and_the_rest_never_blocks(sh: Callable[..., Completed], size: int) -> None:
    done = sh(f"head -c {size} /dev/zero; echo end >&2; exit 7", max_output_bytes=1000)
    assert done.stdout == bytes(min(size, 1000))
    assert done.truncated == (size > 1000)
    assert (done.stderr, done.exit_status) == (b"end\n", 7)


def test_the_beginning_is_what_is_kept(sh: Callable[..., Completed]) -> None:
    whole = "".join(f"{number}\n" for number in range(50_000)).encode()
    program = "import sys; sys.stderr.write(''.join(f'{number}\\n' for number in range(50_000)))"
    done = sh(f'"{sys.executable}" -I -S -c "{program}"; echo out', max_output_bytes=100_001)
    assert done.stderr == whole[:100_001]
    assert (done.stdout, done.truncated) == (b"out\n", True)


def test_nothing_is_kept_under_a_bound_of_0(sh: Callable[..., Completed]) -> None:
    done = sh("echo x", max_output_bytes=0)
    assert (done.stdout, done.truncated, done.exit_status) == (b"", True, 0)


def test_output_is_bytes_of_any_kind(run: Callable[..., Completed]) -> None:
    assert run("cat", stdin=bytes(range(256))).stdout == bytes(range(256))


def test_a_timeout_in_a_flood_of_output_keeps_the_bound(
    sh: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "said")
    done = sh("head -c 500000 /dev/zero; touch said; exec cat /dev/zero", max_output_bytes=400_000)
    assert (done.timed_out, done.truncated) == (True, True)
    assert done.stdout == bytes(400_000)


# What is left of a command


def test_a_process_left_behind_is_ended_with_the_command_and_holds_nothing_up(
    sh: Callable[..., Completed], tmp_path: Path
) -> None:
    done = sh(STUBBORN + "echo done; exit 5")
    assert (done.exit_status, done.timed_out, done.stdout) == (5, False, b"done\n")
    assert eventually(lambda: not alive(pid_in(tmp_path / "pid")))


def test_a_process_left_behind_is_ended_after_a_timeout(
    sh: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "pid")
    done = sh(STUBBORN + "wait")
    assert (done.exit_status, done.timed_out) == (None, True)
    assert eventually(lambda: not alive(pid_in(tmp_path / "pid")))


def test_a_command_that_stops_itself_is_ended_too(
    sh: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "pid")
    assert sh("echo $$ >pid.partial; mv pid.partial pid; kill -STOP $$").timed_out
    assert eventually(lambda: not alive(pid_in(tmp_path / "pid")))


def leaving(then: str) -> str:
    """A program that leaves a process in a session of its own, which does `then` after it wrote its id."""
    return (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    open('pid.partial', 'w').write(f'{os.getpid()}\\n')\n"
        "    os.rename('pid.partial', 'pid')\n"
        f"    {then}\n"
        "    time.sleep(600)\n"
        "while not os.path.exists('pid'): time.sleep(0.01)\n"
        "print('done', flush=True)\n"
    )


def test_a_process_that_left_the_group_does_not_keep_the_caller_waiting(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    """Where it is out of reach, too, the command's end is still the command's end."""
    done = run(sys.executable, "-I", "-S", "-c", leaving("pass"))
    assert (done.exit_status, done.stdout) == (0, b"done\n")
    assert done.seconds < LONG_S
    if sys.platform != "linux":
        os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


@on_linux
def test_a_process_that_left_the_group_is_ended_and_reaped(run: Callable[..., Completed], tmp_path: Path) -> None:
    run(sys.executable, "-I", "-S", "-c", leaving("pass"))
    assert not _exists(pid_in(tmp_path / "pid"))


@on_linux
def test_a_process_that_left_the_group_is_ended_after_a_timeout(
    run: Callable[..., Completed], tmp_path: Path, time_is_up_with: Callable[[Path], None]
) -> None:
    time_is_up_with(tmp_path / "pid")
    assert run(sys.executable, "-I", "-S", "-c", leaving("pass") + "time.sleep(600)").timed_out
    assert not _exists(pid_in(tmp_path / "pid"))


@on_linux
def test_what_such_a_process_started_with_another_environment_is_ended_with_it(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    nested = '\'import os, time; os.setsid(); open("below", "w").write(f"{os.getpid()}\\\\n"); time.sleep(600)\''
    start = f"os.spawnve(os.P_NOWAIT, {sys.executable!r}, ['python', '-I', '-S', '-c', {nested}], {{}})"
    program = leaving(start).replace("os.path.exists('pid')", "(os.path.exists('below') and os.path.getsize('below'))")
    run(sys.executable, "-I", "-S", "-c", program)
    assert not _exists(pid_in(tmp_path / "pid"))
    assert not _exists(pid_in(tmp_path / "below"))


@on_linux
def test_dead_members_of_the_group_are_reaped_too(sh: Callable[..., Completed]) -> None:
    before = set(process._children())  # of other tests in this process
    for _ in range(3):
        sh("sleep 600 & sleep 600 & exit 0")
    assert set(process._children()) <= before


@on_linux
def test_no_child_of_this_process_that_is_not_the_commands_is_touched(
    run: Callable[..., Completed], tmp_path: Path
) -> None:
    """A memory system's server, say, and another thread's command with what it left in a session of its own."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as server, ThreadPoolExecutor(1) as pool:
        other = leaving("pass") + "while not os.path.exists('over'): time.sleep(0.01)\n"
        running = pool.submit(run, sys.executable, "-I", "-S", "-c", other)
        left = pid_in(tmp_path / "pid")
        run("true")
        assert server.poll() is None
        assert alive(left)
        (tmp_path / "over").touch()
        running.result()
        assert not _exists(left)
        assert server.poll() is None
        server.kill()


@on_linux
def test_orphans_are_adopted_only_while_a_command_runs(sh: Callable[..., Completed], tmp_path: Path) -> None:
    sh("true")
    with pytest.raises(FileNotFoundError):
        sh("true", cwd=tmp_path / "nowhere")
    subprocess.run(["sh", "-c", "sleep 600 & echo $! >pid"], cwd=tmp_path, check=True)
    orphan = pid_in(tmp_path / "pid")
    assert orphan not in process._children()
    os.kill(orphan, signal.SIGKILL)


def test_an_interrupt_ends_the_command_and_comes_out(
    sh: Callable[..., Completed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> NoReturn:
        pid_in(tmp_path / "pid")
        raise KeyboardInterrupt

    before = open_descriptors()
    monkeypatch.setattr(process._Streams, "pump_until_exit", interrupted)
    with pytest.raises(KeyboardInterrupt) as raised:
        sh(STUBBORN + "wait", stdin=b"unread")
    assert eventually(lambda: not alive(pid_in(tmp_path / "pid")))
    assert not process._running
    del raised
    assert open_descriptors() == before


def test_no_descriptor_is_left_open_over_many_runs(run: Callable[..., Completed], sh: Callable[..., Completed]) -> None:
    before = open_descriptors()
    for _ in range(10):
        run("cat", stdin=b"x" * 100_000)
        sh("exit 1", stdin=b"x" * 100_000)
        sh("head -c 100000 /dev/zero", max_output_bytes=10)
        sh("sleep 600", timeout_s=0.0)
        with pytest.raises(FileNotFoundError):
            run("no-such-command-anywhere")
    assert open_descriptors() == before
    assert not process._running


# Many at once


def test_many_threads_get_each_their_own_output(run: Callable[..., Completed]) -> None:
    def shouted(number: int) -> bool:
        sent = f"{number}\n".encode() * 30_000
        done = run("cat", stdin=sent)
        return done.stdout == sent and done.exit_status == 0

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(shouted, range(64)))


def test_end_all_ends_what_is_running_and_nothing_else(sh: Callable[..., Completed], tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        ended = [pool.submit(sh, f"echo said; touch running{number}; sleep 600") for number in range(3)]
        assert eventually(lambda: len(list(tmp_path.glob("running*"))) == 3)
        process.end_all()
        for future in ended:
            done = future.result()
            assert (done.exit_status, done.timed_out, done.stdout) == (-signal.SIGKILL, False, b"said\n")
    assert sh("exit 4").exit_status == 4


def test_end_all_is_harmless_where_nothing_runs() -> None:
    process.end_all()


def _without_mark(done: Completed) -> list[str]:
    return [line for line in done.stdout.decode().splitlines() if not line.startswith(f"{process.MARK}=")]


def _exists(pid: int) -> bool:
    """Tell whether there is a process, even a dead one that nobody has reaped."""
    return Path(f"/proc/{pid}").exists()
