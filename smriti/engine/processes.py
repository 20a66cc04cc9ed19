"""Run steps on this machine, a process for each job: for steps that compute, where threads would take turns."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""Steps that wait for each process, so that none of them idles while results are written."""

_PATIENCE_S = 5.0
"""How long a process that is told to end may take to close what its step has opened."""

_SENDING_S = 0.2
"""How long a process between two steps has to send the result of the last: half of one would never be read."""


class ToldToEnd(KeyboardInterrupt):
    """Raised in a step whose process was told to end: nobody's fault, and to be let through."""


class ProcessEngine(Generic[T, R]):
    """At most `jobs` steps at a time, each in a process that is not this one. Results come in the order of the steps.

    `lost` says what stands for a step that took its process down. Steps share processes only where `key` is the same,
    so that what one leaves behind in its process cannot touch another's; steps of one key come side by side.
    """

    name = "processes"

    def __init__(self, jobs: int, lost: Callable[[T], R], key: Callable[[T], object]) -> None:
        self._jobs = jobs
        self._lost = lost
        self._key = key

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        """Yield results in order. Closed or interrupted, it ends the processes: their steps as an interrupt ends them.

        `work`, steps and results are pickled.
        """
        for _, alike in itertools.groupby(steps, self._key):
            yield from self._map(work, alike)

    def _map(self, work: Callable[[T], R], rest: Iterator[T]) -> Generator[R, None, None]:
        waiting: deque[tuple[T, Future[R]]] = deque()
        while True:
            with _processes(self._jobs) as pool:
                try:
                    for step in itertools.islice(rest, self._jobs * _AHEAD):
                        waiting.append((step, _submitted(pool, work, step)))
                    while waiting:
                        result = waiting[0][1].result()
                        waiting.popleft()
                        for step in itertools.islice(rest, 1):
                            waiting.append((step, _submitted(pool, work, step)))
                        yield result
                except BrokenProcessPool:
                    begun = list(waiting)
                    waiting.clear()
                else:
                    return
            # One of these ended its process, and with it the pool: each that did not come back shows by itself which.
            for step, future in begun:
                came_back = future.done() and not future.cancelled() and future.exception() is None
                yield future.result() if came_back else self._alone(work, step)

    def _alone(self, work: Callable[[T], R], step: T) -> R:
        with _processes(1) as pool:
            try:
                return _submitted(pool, work, step).result()
            except BrokenProcessPool:
                return self._lost(step)


@contextlib.contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool, and leave none of its processes behind."""
    before = set(multiprocessing.active_children())
    # Spawned: a fork would carry over threads, and a fork server has a socket whose path can be too long.
    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
    finished = False
    try:
        yield pool
        finished = True
    finally:
        started = set(multiprocessing.active_children()) - before
        if not finished:
            _end(started)
        closing = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
        closing.start()
        closing.join(_PATIENCE_S)
        if closing.is_alive():  # a step has left a thread behind that would keep its process for ever
            _end(started)
            closing.join()


def _submitted(pool: ProcessPoolExecutor, work: Callable[[T], R], step: T) -> Future[R]:
    """Submit a step. The process that may be started for it begins deaf to interrupts, and `_begin` keeps it so."""
    resource_tracker.ensure_running()  # which lets them in again when it starts
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_run, work, step)
    except BrokenProcessPool as error:  # it ended between two steps: told like any other
        broken: Future[R] = Future()
        broken.set_exception(error)
        return broken
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end(processes: Collection[BaseProcess]) -> None:
    """Tell processes to end, and kill those that do not."""
    for process in processes:
        process.terminate()
    for process in _wait(processes):
        process.kill()


def _wait(processes: Collection[BaseProcess]) -> Collection[BaseProcess]:
    """Wait a while for processes to end, and return those that did not."""
    running = {process.sentinel: process for process in processes}
    deadline = time.monotonic() + _PATIENCE_S
    while running and (ended := wait(list(running), max(0.0, deadline - time.monotonic()))):
        for sentinel in ended:
            del running[sentinel]  # type: ignore[arg-type]
    return running.values()


# In a process of the pool


class _Worker:
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
        timer = threading.Timer(_SENDING_S, os._exit, (1,))
        timer.daemon = True
        timer.start()


_WORKER = _Worker()


def _begin() -> None:
    """Leave interrupts to the parent, which ends this process; and end with it if it is killed."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, _WORKER.end)
    os.dup2(2, 1)  # whatever is printed in here, what is printed of the run is the parent's
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _run(work: Callable[[T], R], step: T) -> R:
    """Attempt a step; told to end, the process unwinds from it as from an interrupt, stores and folders closed."""
    _WORKER.at_work = True
    try:
        if _WORKER.ending:
            os._exit(1)
        return work(step)
    except ToldToEnd:
        os._exit(1)
    finally:
        _WORKER.at_work = False


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)
    os._exit(1)
