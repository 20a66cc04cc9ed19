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
from typing import Any, NoReturn

import pytest

import smriti
from smriti.engine import processes
from smriti.engine.processes import ProcessEngine
from smriti.errors import UsageError
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


def ending_or_refusing(number: int) -> int:
    return refusing(ending(number))


def exiting(number: int) -> int:
    raise SystemExit(number)


def ending(number: int) -> int:
    """Take the process down at every third step, as soon as anything is asked of it."""
    if number % 3 == 2:
        os._exit(0)
    return number


def ending_behind(folder: Path, number: int) -> int:
    """Take the process down at step 1 once step 3 is attempted: the other process has sent step 2 back before that."""
    noted(folder, number)
    if number == 1:
        assert eventually(lambda: attempts(folder, 3))
        os._exit(0)
    return number


def ending_behind_the_third(folder: Path, number: int) -> int:
    noted(folder, number)
    assert number != 1 or eventually(lambda: attempts(folder, 3))
    return number


def killed_once(folder: Path, number: int) -> int:
    """Wait, the first time that the step 1 is attempted, for a SIGKILL from outside."""
    noted(folder, number)
    if number == 1 and attempts(folder, 1) == 1:
        write_pid(folder / "pid-1")
        while True:
            signal.pause()
    return number


def logged(folder: Path, number: int) -> int:
    """Write down when the step begins and when it ends."""
    for change in ("+", "-"):
        with (folder / "log").open("a") as log:
            log.write(change)
    return number


def leaving_a_child(folder: Path, number: int) -> int:
    """Fork a process that goes on, with all that this one has open."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    (folder / f"child-{pid}").touch()
    return number


def ending_before_its_child(folder: Path, number: int) -> int:
    if number == 1:
        leaving_a_child(folder, number)
        os._exit(1)
    return number


def noted(folder: Path, number: int) -> None:
    with (folder / f"attempts-{number}").open("a") as file:
        file.write("attempted\n")


def attempts(folder: Path, number: int) -> int:
    file = folder / f"attempts-{number}"
    return len(file.read_text().splitlines()) if file.exists() else 0


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


@dataclass(frozen=True)
class Unsendable:
    """What cannot be sent to another process."""

    number: int

    def __reduce__(self) -> tuple[object, ...]:
        raise UsageError(f"step {self.number} cannot be sent")


def shared(_step: object) -> bool:
    """Let all steps share processes."""
    return False


def odd_tens(step: int) -> bool:
    """Let steps of every other ten have a process each."""
    return step // 10 % 2 == 1


def no_loss(step: object) -> NoReturn:
    raise AssertionError(f"{step!r} was given up")


def minus(step: int) -> int:
    """Stand for a lost step by a number that no step has for its result."""
    return -step


def engine(jobs: int) -> ProcessEngine[Any, Any]:
    """Make an engine of which no step may be lost."""
    return ProcessEngine(jobs, no_loss, shared)


# Results


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_steps_whatever_the_number_of_jobs(jobs: int, count: int) -> None:
    assert list(engine(jobs).map(squared, range(count))) == [number * number for number in range(count)]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("alone", [False, True])
def test_a_result_waits_for_those_before_it(tmp_path: Path, alone: bool) -> None:
    engine: ProcessEngine[int, int] = ProcessEngine(2, no_loss, lambda _step: alone)
    assert list(engine.map(partial(waits_for_the_second, tmp_path), range(2))) == [0, 1]


def test_a_slow_step_keeps_no_other_waiting_while_a_process_is_idle(tmp_path: Path) -> None:
    """The first two are at work, and the second process has done the third by the time that the first one ends."""
    assert list(engine(2).map(partial(ending_behind_the_third, tmp_path), range(1, 6))) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("jobs", [1, 2])
def test_steps_are_done_in_no_more_processes_than_jobs_and_never_in_this_one(jobs: int) -> None:
    pids = set(engine(jobs).map(where, range(8)))
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= jobs
    assert not any(alive(pid) for pid in pids)


@pytest.mark.parametrize("jobs", [1, 2])
def test_steps_are_taken_no_further_ahead_than_there_is_use_for(jobs: int) -> None:
    taken: list[int] = []

    def steps() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = engine(jobs).map(squared, steps())
    assert taken == []
    next(results)
    assert len(taken) <= jobs * processes._AHEAD + 1
    results.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_is_to_be_alone_has_a_process_that_no_other_step_had_or_gets(jobs: int) -> None:
    mixed: ProcessEngine[int, int] = ProcessEngine(jobs, no_loss, odd_tens)
    pids = list(mixed.map(where, range(30)))
    alone, others = pids[10:20], {*pids[:10], *pids[20:]}
    assert len(set(alone)) == len(alone)
    assert others.isdisjoint(alone)
    assert len(others) <= 2 * jobs
    assert not any(alive(pid) for pid in pids)


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_more_steps_than_jobs_are_alone_at_a_time(jobs: int, tmp_path: Path) -> None:
    apart: ProcessEngine[int, int] = ProcessEngine(jobs, no_loss, lambda _step: True)
    assert list(apart.map(partial(logged, tmp_path), range(9))) == list(range(9))
    log = (tmp_path / "log").read_text()
    at_work = [log[:end].count("+") - log[:end].count("-") for end in range(len(log) + 1)]
    assert len(log) == 18
    assert max(at_work) <= jobs


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order_whether_steps_are_alone_or_not_and_some_are_lost(jobs: int) -> None:
    results = list(ProcessEngine(jobs, minus, odd_tens).map(ending, range(25)))
    assert results == [-number if number % 3 == 2 else number for number in range(25)]
    assert not multiprocessing.active_children()


# Errors


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_step_raises_arrives_after_the_results_before_it_and_ends_the_processes(jobs: int) -> None:
    seen: list[int] = []
    with pytest.raises(UsageError, match="step 3 cannot be done"):
        seen.extend(engine(jobs).map(refusing, range(10)))
    assert seen == [0, 1, 2]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exit_in_a_step_arrives_as_one(jobs: int) -> None:
    with pytest.raises(SystemExit) as raised:
        list(engine(jobs).map(exiting, [7]))
    assert raised.value.code == 7
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_result_that_cannot_be_sent_is_an_error_and_no_hang(jobs: int) -> None:
    with pytest.raises(Exception, match="pickle"):
        list(engine(jobs).map(lambda_of, range(2)))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_raised_in_sending_a_step_arrives_and_is_no_hang(jobs: int) -> None:
    results = engine(jobs).map(repr, [1, 2, Unsendable(3), *range(4, 20)])
    assert [next(results), next(results)] == ["1", "2"]
    with pytest.raises(UsageError, match="step 3 cannot be sent"):
        next(results)
    assert not multiprocessing.active_children()


# Steps that take their process down


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_cannot_be_read_where_it_is_to_run_is_lost_alone(jobs: int) -> None:
    lost: list[object] = []

    def told(step: object) -> str:
        lost.append(step)
        return "lost"

    steps: list[object] = [1, Bad(2), 3]
    assert list(ProcessEngine(jobs, told, shared).map(str, steps)) == ["1", "lost", "3"]
    assert lost == [Bad(2)]
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_step_that_takes_its_process_down_is_lost_alone_and_all_others_come_back(jobs: int) -> None:
    """Those before, beside and after it, over more of them than one pool is given at a time, in their order."""
    count = 2 * jobs * processes._AHEAD + 3
    results = list(ProcessEngine(jobs, minus, shared).map(ending, range(count)))
    assert results == [-number if number % 3 == 2 else number for number in range(count)]
    assert not multiprocessing.active_children()


def test_what_had_come_back_before_the_processes_broke_is_not_attempted_again(tmp_path: Path) -> None:
    """Step 2 had, and waited for step 1, which breaks them: that one alone is attempted twice."""
    results = ProcessEngine(2, minus, shared).map(partial(ending_behind, tmp_path), range(1, 6))
    assert list(results) == [-1, 2, 3, 4, 5]
    assert [attempts(tmp_path, number) for number in (1, 2)] == [2, 1]


def killed_when_at_work(folder: Path) -> subprocess.Popen[bytes]:
    """Send a SIGKILL to the process whose id is written, as the system does that runs out of memory."""
    kill = (
        "import os, pathlib, signal, sys, time\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "while not file.exists(): time.sleep(0.002)\n"
        "os.kill(int(file.read_text()), signal.SIGKILL)\n"
    )
    return subprocess.Popen([sys.executable, "-c", kill, str(folder / "pid-1")])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_whose_process_was_killed_from_outside_is_tried_again_and_completes(tmp_path: Path, jobs: int) -> None:
    with killed_when_at_work(tmp_path):
        assert list(engine(jobs).map(partial(killed_once, tmp_path), range(6))) == list(range(6))
    assert attempts(tmp_path, 1) == 2
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("alone", [False, True])
def test_a_process_that_ends_and_leaves_others_with_all_it_had_open_is_noticed(tmp_path: Path, alone: bool) -> None:
    """What it forked holds its end of the connection, so that nobody hears of it there; and it is ended, too."""
    engine: ProcessEngine[int, int] = ProcessEngine(1, minus, lambda _step: alone)
    assert list(engine.map(partial(ending_before_its_child, tmp_path), range(3))) == [0, -1, 2]
    children = [int(file.name.partition("-")[2]) for file in tmp_path.glob("child-*")]
    assert len(children) == 2, "step 1 was attempted twice"
    assert ended(children)


def test_what_a_step_has_started_ends_with_the_processes(tmp_path: Path) -> None:
    assert list(engine(1).map(partial(leaving_a_child, tmp_path), range(2))) == [0, 1]
    children = [int(file.name.partition("-")[2]) for file in tmp_path.glob("child-*")]
    assert len(children) == 2
    assert ended(children)


def test_what_a_step_raises_when_it_is_tried_again_arrives() -> None:
    """Step 3 is refused, and waits for the process that step 2 takes down."""
    seen: list[int] = []
    with pytest.raises(UsageError, match="step 3 cannot be done"):
        seen.extend(ProcessEngine(1, minus, shared).map(ending_or_refusing, range(6)))
    assert seen == [0, 1, -2]
    assert not multiprocessing.active_children()


# Ends


def ended(pids: list[int]) -> bool:
    return eventually(lambda: not any(alive(pid) for pid in pids))


def test_closed_early_it_leaves_no_process() -> None:
    results = engine(2).map(where, range(1000))
    pid = next(results)
    assert alive(pid)
    results.close()
    assert not alive(pid)
    assert not multiprocessing.active_children()


def test_closed_while_results_are_being_sent_it_does_not_wait_for_their_rest() -> None:
    """A process that is killed in the middle of a result leaves half of it, of which the rest would never come."""
    for taken in range(1, 4):
        results = engine(2).map(large, range(1000))
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
            list(engine(2).map(work, range(2)))
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
from tests.engine import test_processes as steps

if __name__ == "__main__":
    work = functools.partial(getattr(steps, sys.argv[2]), pathlib.Path(sys.argv[1]))
    list(steps.engine(2).map(work, range(2)))
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
