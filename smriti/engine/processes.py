"""Run steps on this machine, a process for each job: for steps that compute, where threads would take turns."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""Steps for each process that may be under way or done when the next result in order is not."""

_QUICK_S = 0.1
"""A process whose last step took less has the next but one in advance, and need not wait while results are written."""

_PATIENCE_S = 5.0
"""How long a process that is told to end may take to close what its step has opened."""

_LOOK_S = 0.2
"""How often it is looked whether a process has ended of which something else still holds the connection."""

_SENDING_S = 0.2
"""How long a process between two steps has to send the result of the last: half of one would never be read."""

_SPAWNED = multiprocessing.get_context("spawn")
"""A fork would carry over threads, and a fork server has a socket whose path can be too long."""


class ToldToEnd(KeyboardInterrupt):
    """Raised in a step whose process was told to end: nobody's fault, and to be let through."""


class ProcessEngine(Generic[T, R]):
    """At most `jobs` steps at a time, each in a process that is not this one. Results come in the order of the steps.

    `lost` says what stands for a step that took its process down, twice. Steps of which `alone` is true each get a
    process of their own, so that nothing that one leaves behind in it can touch the next; the others share theirs.
    """

    name = "processes"

    def __init__(self, jobs: int, lost: Callable[[T], R], alone: Callable[[T], bool]) -> None:
        self._jobs = jobs
        self._lost = lost
        self._alone = alone

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        """Yield results in order. Closed or interrupted, it ends the processes: their steps as an interrupt ends them.

        `work`, steps and results are pickled.
        """
        for alone, alike in itertools.groupby(steps, self._alone):
            yield from _Run(self._jobs, work, self._lost, alone=alone).results(alike)


@dataclass(frozen=True, slots=True)
class _Raised:
    """What a step raised, or what was raised in sending it, until it is its turn."""

    error: BaseException


class _Run(Generic[T, R]):
    """The steps that are under way, those that are done before their turn, and the processes."""

    def __init__(self, jobs: int, work: Callable[[T], R], lost: Callable[[T], R], *, alone: bool) -> None:
        self._jobs = jobs
        self._work = work
        self._lost = lost
        self._alone = alone
        self._again: deque[tuple[int, T]] = deque()
        self._tried: set[int] = set()
        self._done: dict[int, R | _Raised] = {}
        self._next = 0
        self._workers: list[_Worker[T]] = []
        self._ending: list[_Worker[T]] = []

    def results(self, steps: Iterable[T]) -> Iterator[R]:
        rest = enumerate(steps)
        finished = False
        try:
            while True:
                self._hand_out(rest)
                while self._next in self._done:
                    result = self._done.pop(self._next)
                    if isinstance(result, _Raised):
                        raise result.error
                    self._next += 1
                    self._hand_out(rest)
                    yield result
                if not self._workers_at_work():
                    finished = True
                    return
                self._look()
        finally:
            for worker in self._workers:
                worker.tell_end(at_once=not finished)
            _ended([*self._workers, *self._ending])

    def _workers_at_work(self) -> bool:
        return any(worker.under_way for worker in self._workers)

    def _hand_out(self, rest: Iterator[tuple[int, T]]) -> None:
        """Give each process a step, and to quick ones a second; start processes only for steps that there are."""
        for depth in (1, 2):
            for place in range(self._jobs):
                if place < len(self._workers) and not self._workers[place].takes(depth):
                    continue
                step = self._following(rest)
                if step is None:
                    return
                if place == len(self._workers):
                    self._workers.append(_Worker(self._work, alone=self._alone))
                try:
                    self._workers[place].give(*step)
                except Exception as error:  # noqa: BLE001  # of a step that cannot be pickled; it is raised in its turn
                    self._done[step[0]] = _Raised(error)

    def _following(self, rest: Iterator[tuple[int, T]]) -> tuple[int, T] | None:
        if self._again:
            return self._again.popleft()
        ahead = len(self._done) + sum(len(worker.under_way) for worker in self._workers)
        return None if ahead >= self._jobs * _AHEAD else next(rest, None)

    def _look(self) -> None:
        """Wait until a process has a result or has ended, and take in what there is."""
        wait([each for worker in self._workers for each in worker.waited_for], _LOOK_S)
        for worker in list(self._workers):
            while worker.under_way and (answer := worker.answer()) is not None:
                number, _ = worker.under_way.popleft()
                self._done[number] = answer
                if self._alone:
                    worker.tell_end(at_once=False)
                    self._workers.remove(worker)
                    self._ending.append(worker)
            if worker in self._workers and worker.ended():
                self._workers.remove(worker)
                self._give_up(worker)
        for worker in list(self._ending):
            if worker.ended() or worker.overdue():
                self._ending.remove(worker)
                _ended([worker])

    def _give_up(self, worker: _Worker[T]) -> None:
        """Have what a process had before it ended done elsewhere, but for a step that has done this twice."""
        if worker.under_way:
            number, step = worker.under_way.popleft()
            if number in self._tried:
                self._done[number] = self._lost(step)
            else:
                self._tried.add(number)
                worker.under_way.appendleft((number, step))
        self._again.extendleft(reversed(worker.under_way))


class _Worker(Generic[T]):
    """A process that takes steps, seen from here. It leads a group of its own, which ends with it."""

    def __init__(self, work: Callable[[T], Any], *, alone: bool) -> None:
        self._alone = alone
        self._quick = False
        self._since = 0.0
        self._connection, theirs = _SPAWNED.Pipe()
        self._process = _SPAWNED.Process(target=_serve, args=(theirs, work))
        self.under_way: deque[tuple[int, T]] = deque()
        self._deadline: float | None = None
        with theirs, _deaf_to_interrupts():
            self._process.start()

    @property
    def waited_for(self) -> tuple[Connection, int]:
        """What becomes ready when there is a result, or when the process has ended."""
        return self._connection, self._process.sentinel

    def takes(self, depth: int) -> bool:
        """Tell whether the process may have so many steps, and has fewer."""
        return len(self.under_way) < depth and (depth == 1 or (self._quick and not self._alone))

    def give(self, number: int, step: T) -> None:
        """Send a step. What has ended already gets it in vain, which is found when it is looked for."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send(step)
        self._since = self._since if self.under_way else time.monotonic()
        self.under_way.append((number, step))

    def answer(self) -> Any:
        """Return the next result, if there is one: what the step returned or raised."""
        try:
            if not self._connection.poll():
                return None
            fine, value = self._connection.recv()
            now = time.monotonic()
            self._quick, self._since = now - self._since < _QUICK_S, now
        except (EOFError, OSError):
            return None
        except Exception:  # noqa: BLE001  # whatever was sent, it was no result
            self._process.kill()
            return None
        return value if fine else _Raised(value)

    def ended(self) -> bool:
        """Tell whether the process has ended; what it has started and left in its group is ended, too."""
        if self._process.exitcode is None:
            return False
        self._end_group(signal.SIGKILL)
        return True

    def overdue(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def tell_end(self, *, at_once: bool) -> None:
        """Tell the process to end when it is done with what it has, or in the middle of it."""
        self._deadline = time.monotonic() + _PATIENCE_S
        if at_once:
            self._process.terminate()
        else:
            with contextlib.suppress(OSError):
                self._connection.send(_END)

    def end(self) -> None:
        """Wait for the end of a process that was told to, kill it if it takes too long, and let go of it."""
        while self._process.exitcode is None and not self.overdue():
            wait([self._process.sentinel], _LOOK_S)
        if self._process.exitcode is None:
            self._end_group(signal.SIGKILL)
            self._process.kill()
        self._process.join()
        self._end_group(signal.SIGKILL)
        self._connection.close()
        self._process.close()

    def _end_group(self, number: signal.Signals) -> None:
        pid = self._process.pid
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if pid is not None:
                os.killpg(pid, number)


def _ended(workers: Collection[_Worker[Any]]) -> None:
    for worker in workers:
        worker.end()


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let a process that is started now begin deaf to interrupts, which `_begin` keeps so."""
    resource_tracker.ensure_running()  # which lets them in again when it starts
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


# In a process

_END = None
"""What is sent in place of a step when there are no more."""


class _State:
    """What the process is doing when it is told to end."""

    def __init__(self) -> None:
        self.at_work = False
        self.ending = False

    def end(self, *_signal: object) -> None:
        if self.ending:  # told twice, it must not leave half closed what it is closing
            return
        self.ending = True
        if self.at_work:
            raise ToldToEnd
        timer = threading.Timer(_SENDING_S, _leave)
        timer.daemon = True
        timer.start()


_STATE = _State()


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Attempt steps as they come, and send back what each returned or raised."""
    _begin()
    received: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, received), daemon=True).start()
    while (step := _read(received.get())) is not _END:
        try:
            answer = (True, _run(work, step))
        except BaseException as error:  # noqa: BLE001  # it is raised again where the results go
            error.add_note(traceback.format_exc())
            answer = (False, error)
        _send(connection, answer)


def _begin() -> None:
    """Leave interrupts to the parent, which ends this process; and lead a group, which the parent ends with it."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _STATE.end)
    os.dup2(2, 1)  # whatever is printed in here, what is printed of the run is the parent's


def _receive(connection: Connection, received: SimpleQueue[bytes]) -> None:
    """Take in steps while others are attempted, so that whoever sends them never waits; end with the parent."""
    try:
        while True:
            received.put(connection.recv_bytes())
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_PATIENCE_S)
        _leave()


def _read(content: bytes) -> Any:
    try:
        return pickle.loads(content)  # noqa: S301  # the parent wrote it
    except BaseException:  # noqa: BLE001  # of a step that cannot be read nothing can be sent back but that it is lost
        os._exit(1)


def _run(work: Callable[[T], R], step: T) -> R:
    """Attempt a step; told to end, the process unwinds from it as from an interrupt, stores and folders closed."""
    _STATE.at_work = True
    try:
        if _STATE.ending:
            _leave()
        return work(step)
    except ToldToEnd:
        _leave()
        raise
    finally:
        _STATE.at_work = False


def _leave() -> None:
    """End this process and all that it has started and that is still of its group; the parent may be gone."""
    os.killpg(0, signal.SIGKILL)


def _send(connection: Connection, answer: tuple[bool, Any]) -> None:
    try:
        content = pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001  # of a result that cannot be sent, this can
        content = pickle.dumps((False, RuntimeError(f"a result that cannot be pickled: {error}")))
    connection.send_bytes(content)
