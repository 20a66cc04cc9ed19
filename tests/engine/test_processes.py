"""Steps run in processes, come back in order, and leave no process behind however it ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

import smriti
from smriti.engine import processes
from smriti.engine.processes import ProcessEngine
from smriti.errors import SmritiError, UsageError
from tests.processes import alive, eventually, pid_in

# What runs in the processes


def squared(number: int) -> int:
    return number * number


def where(_step: int) -> int:
    return os.getpid()


def refusing(number: int) -> int:
    if number == 3:
        raise UsageError("step 3 cannot be done")
    return number


def exiting(number: int) -> int:
    raise SystemExit(number)


def ending(number: int) -> int:
    if number == 2:
        os._exit(0)
    return number


def lambda_of(_step: int) -> object:
    return lambda: None


def large(_step: int) -> bytes:
    return b"x" * (1 << 20)


def waits_for_the_second(folder: Path, number: int) -> int:
    """Let the first step end after the second has: what comes first in time is the second."""
    if number == 0:
        assert eventually((folder / "1").exists)
    (folder / str(number)).touch()
    return number


def hanging(folder: Path, number: int) -> None:
    """Hold a folder open, say so, and wait for an end that does not come."""
    with tempfile.TemporaryDirectory(prefix="held-", dir=folder) as held:
        (Path(held) / "content").touch()
        write_pid(folder / f"pid-{number}")
        while True:
            signal.pause()


def closing_slowly(folder: Path, number: int) -> None:
    """Be told to end a second time in the middle of closing."""
    try:
        hanging(folder, number)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        (folder / f"closed-{number}").touch()


def stubborn(folder: Path, number: int) -> None:
    """Let no interrupt through."""
    write_pid(folder / f"pid-{number}")
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


def write_pid(file: Path) -> None:
    part = file.with_suffix(".part")
    part.write_text(f"{os.getpid()}\n")
    part.rename(file)


@dataclass(frozen=True)
class Bad:
    """What can be sent to another process and not be read there."""

    number: int

    def __reduce__(self) -> tuple[object, ...]:
        return (refusing, (3,))


# Results


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_steps_whatever_the_number_of_jobs(jobs: int, count: int) -> None:
    assert list(ProcessEngine(jobs).map(squared, range(count))) == [number * number for number in range(count)]
    assert not multiprocessing.active_children()


def test_a_result_waits_for_those_before_it(tmp_path: Path) -> None:
    assert list(ProcessEngine(2).map(partial(waits_for_the_second, tmp_path), range(2))) == [0, 1]


def test_one_job_is_done_in_this_process_and_several_in_others() -> None:
    assert set(ProcessEngine(1).map(where, range(3))) == {os.getpid()}
    pids = set(ProcessEngine(2).map(where, range(8)))
    assert os.getpid() not in pids
    assert len(pids) <= 2
    assert not any(alive(pid) for pid in pids)


def test_with_one_job_nothing_has_to_be_sent_anywhere() -> None:
    assert all(map(callable, ProcessEngine(1).map(lambda_of, range(2))))


@pytest.mark.parametrize("jobs", [1, 2])
def test_steps_are_taken_no_further_ahead_than_there_is_use_for(jobs: int) -> None:
    taken: list[int] = []

    def steps() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = ProcessEngine(jobs).map(squared, steps())
    assert taken == []
    next(results)
    assert len(taken) <= (1 if jobs == 1 else jobs * processes._AHEAD + 1)
    results.close()


# Errors


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_step_raises_arrives_after_the_results_before_it_and_ends_the_processes(jobs: int) -> None:
    seen: list[int] = []
    with pytest.raises(UsageError, match="step 3 cannot be done"):
        seen.extend(ProcessEngine(jobs).map(refusing, range(10)))
    assert seen == [0, 1, 2]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exit_in_a_step_arrives_as_one(jobs: int) -> None:
    with pytest.raises(SystemExit) as raised:
        list(ProcessEngine(jobs).map(exiting, [7]))
    assert raised.value.code == 7
    assert not multiprocessing.active_children()


def test_a_result_that_cannot_be_sent_is_an_error_and_no_hang() -> None:
    with pytest.raises(Exception, match="pickle"):
        list(ProcessEngine(2).map(lambda_of, range(2)))
    assert not multiprocessing.active_children()


def test_a_step_that_cannot_be_read_is_one_error_and_no_hang() -> None:
    with pytest.raises(SmritiError, match="a worker process ended by itself"):
        list(ProcessEngine(2).map(str, [Bad(1)]))
    assert not multiprocessing.active_children()


def test_a_process_that_ends_by_itself_is_one_error_that_says_what_to_do() -> None:
    seen: list[int] = []
    with pytest.raises(SmritiError, match=r"a worker process ended by itself: .*--jobs 1 runs everything in one"):
        seen.extend(ProcessEngine(2).map(ending, range(20)))
    assert seen == list(range(len(seen)))
    assert len(seen) <= 2
    assert not multiprocessing.active_children()


# Ends


def ended(pids: list[int]) -> bool:
    return eventually(lambda: not any(alive(pid) for pid in pids))


def test_closed_early_it_leaves_no_process() -> None:
    results = ProcessEngine(2).map(where, range(1000))
    pid = next(results)
    assert alive(pid)
    results.close()
    assert not alive(pid)
    assert not multiprocessing.active_children()


def test_closed_while_results_are_being_sent_it_does_not_wait_for_their_rest() -> None:
    """A process that is killed in the middle of a result leaves half of it, of which the rest would never come."""
    for taken in range(1, 4):
        results = ProcessEngine(2).map(large, range(1000))
        for _ in range(taken):
            assert len(next(results)) == 1 << 20
        results.close()
        assert not multiprocessing.active_children()


@pytest.fixture
def released() -> Iterator[None]:
    """Turn SIGUSR1 into an interrupt of this process, as the command line does with the signals of a user."""

    def interrupt(*_signal: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


def interrupted(folder: Path, work: partial[None]) -> list[int]:
    """Run two steps that do not end, interrupt this process when both are at work, and return the ids of theirs."""
    watch = (
        "import os, pathlib, signal, sys, time\n"
        "folder, parent = pathlib.Path(sys.argv[1]), int(sys.argv[2])\n"
        "while len(list(folder.glob('pid-?'))) < 2: time.sleep(0.002)\n"
        "os.kill(parent, signal.SIGUSR1)\n"
    )
    watcher = subprocess.Popen([sys.executable, "-c", watch, str(folder), str(os.getpid())])
    try:
        with pytest.raises(KeyboardInterrupt):
            list(ProcessEngine(2).map(work, range(2)))
    finally:
        watcher.kill()
        watcher.wait()
    return [pid_in(folder / f"pid-{number}") for number in range(2)]


@pytest.mark.usefixtures("released")
def test_interrupted_it_leaves_no_process_and_no_folder_of_a_step(tmp_path: Path) -> None:
    pids = interrupted(tmp_path, partial(hanging, tmp_path))
    assert not any(alive(pid) for pid in pids)
    assert not list(tmp_path.glob("held-*"))


@pytest.mark.usefixtures("released")
def test_told_twice_to_end_a_step_still_closes_what_it_has_opened(tmp_path: Path) -> None:
    pids = interrupted(tmp_path, partial(closing_slowly, tmp_path))
    assert not any(alive(pid) for pid in pids)
    assert sorted(file.name for file in tmp_path.glob("closed-*")) == ["closed-0", "closed-1"]


@pytest.mark.usefixtures("released")
def test_a_step_that_lets_no_interrupt_through_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PATIENCE_S", 0.1)
    pids = interrupted(tmp_path, partial(stubborn, tmp_path))
    assert not any(alive(pid) for pid in pids)


PARENT = """
import functools, pathlib, sys
from smriti.engine.processes import ProcessEngine
from tests.engine import test_processes as steps

if __name__ == "__main__":
    work = functools.partial(getattr(steps, sys.argv[2]), pathlib.Path(sys.argv[1]))
    list(ProcessEngine(2).map(work, range(2)))
"""


@contextlib.contextmanager
def parent(folder: Path, work: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that runs two steps of `work`, and wait until both are at it."""
    roots = (Path(smriti.__file__).parents[1], Path(__file__).parents[2])
    (folder / "parent.py").write_text(PARENT)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots))}
    process = subprocess.Popen(
        [sys.executable, str(folder / "parent.py"), str(folder), work],
        env=env,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert eventually(lambda: len(list(folder.glob("pid-?"))) == 2 or process.poll() is not None)
        assert process.poll() is None
        yield process
    finally:
        process.kill()
        process.wait()


def test_when_its_parent_is_killed_a_process_ends_and_its_step_is_closed(tmp_path: Path) -> None:
    with parent(tmp_path, "hanging") as process:
        pids = [pid_in(tmp_path / f"pid-{number}") for number in range(2)]
        assert all(alive(pid) for pid in pids)
        process.kill()
        process.wait()
        assert ended(pids)
    assert not list(tmp_path.glob("held-*"))


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_what_a_terminal_sends_to_all_its_processes_is_left_to_the_parent(tmp_path: Path, kind: signal.Signals) -> None:
    """The signal reaches the processes of the steps alone; then the parent is told, and ends them."""
    with parent(tmp_path, "hanging") as process:
        pids = [pid_in(tmp_path / f"pid-{number}") for number in range(2)]
        for pid in pids:
            os.kill(pid, kind)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
        assert ended(pids)
    assert not list(tmp_path.glob("held-*"))
