"""Steps on this machine's threads: how many at once, in which order, and what an early end leaves."""

from __future__ import annotations

import itertools
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smriti import process
from smriti.engine.local import LocalEngine
from smriti.types import Completed
from tests.processes import PATH, eventually

LONG_S = 100.0


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("trial")] == []
    assert not process._running


class Sleepers:
    """Steps that each run a command which does not end by itself."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ended: list[Completed] = []

    def sleep(self, name: str) -> Completed:
        script = f"touch {name}; exec sleep 600"
        done = process.run(["sh", "-c", script], cwd=self.root, env={"PATH": PATH}, timeout_s=LONG_S)
        self.ended.append(done)
        return done

    def wait_for(self, *names: str) -> None:
        assert eventually(lambda: all((self.root / name).exists() for name in names))

    def assert_ended(self, count: int) -> None:
        assert [(done.exit_status, done.timed_out) for done in self.ended] == [(-signal.SIGKILL, False)] * count


@pytest.fixture
def sleepers(tmp_path: Path) -> Sleepers:
    return Sleepers(tmp_path)


def test_it_has_a_name() -> None:
    assert LocalEngine(1).name == "local"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(), max_size=20), st.integers(1, 5))
def test_every_case_has_one_result(cases: list[int], jobs: int) -> None:
    assert sorted(LocalEngine(jobs).map(lambda case: case * 2, cases)) == sorted(case * 2 for case in cases)


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_as_many_steps_as_there_are_jobs_run_at_once_and_no_more(jobs: int) -> None:
    together, lock = threading.Barrier(jobs), threading.Lock()
    running = most = 0

    def step(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(LONG_S)  # breaks unless all jobs come
        with lock:
            running -= 1

    list(LocalEngine(jobs).map(step, range(5 * jobs)))
    assert most == jobs


def test_one_job_takes_the_cases_in_their_order() -> None:
    started: list[int] = []

    def step(case: int) -> int:
        started.append(case)
        return case

    assert list(LocalEngine(1).map(step, range(50))) == list(range(50))
    assert started == list(range(50))


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_cases_are_taken_in_their_order_and_each_is_run_once(jobs: int) -> None:
    taken: list[int] = []
    ran: list[int] = []

    def cases() -> Iterator[int]:
        for case in range(200):
            taken.append(case)
            yield case

    list(LocalEngine(jobs).map(ran.append, cases()))
    assert taken == list(range(200))
    assert sorted(ran) == taken
    assert jobs > 1 or ran == taken


def test_a_result_comes_as_soon_as_it_is_there() -> None:
    """The first case waits until the result of the second has been taken."""
    taken = threading.Event()
    with closing(LocalEngine(2).map(lambda case: case or taken.wait(LONG_S), [0, 1])) as results:
        assert next(results) == 1
        taken.set()
        assert next(results) is True


def test_nothing_starts_before_the_first_result_is_asked_for() -> None:
    started: list[int] = []
    results = LocalEngine(2).map(started.append, range(3))
    assert started == []
    results.close()
    assert started == []


def test_no_cases_have_no_results() -> None:
    assert list(LocalEngine(3).map(lambda case: case, [])) == []


def test_no_more_cases_are_asked_for_than_can_start() -> None:
    asked = 0

    def cases() -> Iterator[int]:
        nonlocal asked
        while True:
            asked += 1
            yield asked

    with closing(LocalEngine(3).map(lambda case: case, cases())) as results:
        for taken in range(1, 20):
            next(results)
            assert asked < taken + 2 * 3
    assert asked < 19 + 2 * 3


def test_closing_early_starts_no_further_case() -> None:
    started: list[int] = []

    def step(case: int) -> int:
        started.append(case)
        return case

    with closing(LocalEngine(2).map(step, itertools.count())) as results:
        next(results)
    before = list(started)
    assert before[0] in {0, 1}
    assert len(before) <= 1 + 2 * 2
    assert list(results) == []
    assert started == before


def test_closing_early_ends_the_commands_that_run(sleepers: Sleepers) -> None:
    def step(case: str) -> object:
        return sleepers.sleep(case) if case else None

    with closing(LocalEngine(3).map(step, ["", "a", "b"])) as results:
        assert next(results) is None
        sleepers.wait_for("a", "b")
    sleepers.assert_ended(2)


def test_a_command_that_a_step_starts_after_the_first_was_ended_is_ended_too(sleepers: Sleepers) -> None:
    def step(case: str) -> None:
        if case:
            sleepers.sleep(case)
            sleepers.sleep(case + "-more")

    with closing(LocalEngine(2).map(step, ["", "a"])) as results:
        next(results)
        sleepers.wait_for("a")
    sleepers.assert_ended(2)


@pytest.mark.parametrize("error", [ValueError("broken step"), KeyboardInterrupt(), SystemExit(3)])
def test_what_a_step_raises_comes_out_and_ends_the_rest(sleepers: Sleepers, error: BaseException) -> None:
    started: list[str] = []

    def step(case: str) -> None:
        started.append(case)
        if case == "bad":
            sleepers.wait_for("slow")
            raise error
        sleepers.sleep(case)

    with pytest.raises(type(error)) as raised:
        list(LocalEngine(2).map(step, ["slow", "bad", "next", "never"]))
    assert raised.value is error
    assert "never" not in started
    sleepers.assert_ended(len(started) - 1)


def test_what_the_cases_raise_comes_out() -> None:
    def cases() -> Iterator[int]:
        yield 1
        raise ValueError("no second case")

    with pytest.raises(ValueError, match="no second case"):
        list(LocalEngine(1).map(lambda case: case, cases()))


def test_what_the_caller_raises_between_results_ends_the_rest(sleepers: Sleepers) -> None:
    def step(case: str) -> object:
        return sleepers.sleep(case) if case else None

    def loop() -> None:
        with closing(LocalEngine(2).map(step, ["", "a"])) as results:
            for _ in results:
                sleepers.wait_for("a")
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop()
    sleepers.assert_ended(1)


def test_an_interrupt_while_it_waits_ends_the_commands_and_starts_no_further_case(sleepers: Sleepers) -> None:
    """A real SIGINT, sent to the thread that waits for results once two commands are asleep."""
    waiting = threading.get_ident()

    def interrupt() -> None:
        sleepers.wait_for("a", "b")
        signal.pthread_kill(waiting, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(2).map(sleepers.sleep, ["a", "b", "c"]))
    interrupter.join()
    sleepers.assert_ended(2)
    assert not (sleepers.root / "c").exists()
