"""Run steps on this machine, a process for each job: for steps that compute, where threads would take turns."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from smriti.errors import SmritiError

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""Steps that wait for each process, so that none of them idles while results are written."""

_PATIENCE_S = 5.0
"""How long a process that is told to end may take to close what its step has opened."""

_SENDING_S = 0.2
"""How long a process between two steps has to send the result of the last: half of one would never be read."""


class ProcessEngine:
    """At most `jobs` steps at a time; with one job they run in this process. Results come in the order of the steps."""

    name = "processes"

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        """Yield results in order. Closed or interrupted, it ends the processes: their steps as an interrupt ends them.

        `work`, steps and results are pickled where there is more than one job. SmritiError when a process ends by
        itself: whatever ran in it took the process down.
        """
        rest = iter(steps)
        if self._jobs == 1:
            yield from map(work, rest)
            return
        before = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self._jobs, mp_context=context, initializer=_begin)
        waiting: deque[Future[R]] = deque()
        finished = False
        try:
            for step in itertools.islice(rest, self._jobs * _AHEAD):
                waiting.append(_submitted(pool, work, step))
            while waiting:
                result = waiting.popleft().result()
                for step in itertools.islice(rest, 1):
                    waiting.append(_submitted(pool, work, step))
                yield result
            finished = True
        except BrokenProcessPool as error:
            raise SmritiError(
                "a worker process ended by itself: something in it ended the process or ran out of memory. "
                "--jobs 1 runs everything in one process and shows what"
            ) from error
        finally:
            if not finished:
                _end(set(multiprocessing.active_children()) - before)
            pool.shutdown(cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, work: Callable[[T], R], step: T) -> Future[R]:
    """Submit a step. The process that may be started for it begins deaf to interrupts, and `_begin` keeps it so."""
    resource_tracker.ensure_running()  # which lets them in again when it starts
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(_run, work, step)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end(processes: Collection[BaseProcess]) -> None:
    """Tell processes to end, and kill those that do not."""
    for process in processes:
        process.terminate()
    running = {process.sentinel: process for process in processes}
    deadline = time.monotonic() + _PATIENCE_S
    while running and (ended := wait(list(running), max(0.0, deadline - time.monotonic()))):
        for sentinel in ended:
            del running[sentinel]  # type: ignore[arg-type]
    for process in running.values():
        process.kill()


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
            raise KeyboardInterrupt
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
    except KeyboardInterrupt:
        if _WORKER.ending:
            os._exit(1)
        raise
    finally:
        _WORKER.at_work = False


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)
    os._exit(1)
