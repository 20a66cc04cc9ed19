"""Run steps on this machine, a process for each job: for steps that compute, where threads would take turns."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TypeVar

from smriti.errors import SmritiError

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""Steps that wait for each process, so that none of them idles while results are written."""


class ProcessEngine:
    """At most `jobs` steps at a time; with one job they run in this process. Results come in the order of the steps."""

    name = "processes"

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        """Yield results in order. Closed or interrupted, it ends the processes as they stand.

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
        try:
            for step in itertools.islice(rest, self._jobs * _AHEAD):
                waiting.append(pool.submit(work, step))
            while waiting:
                result = waiting.popleft().result()
                for step in itertools.islice(rest, 1):
                    waiting.append(pool.submit(work, step))
                yield result
        except BrokenProcessPool as error:
            raise SmritiError(
                "a worker process ended by itself: something in it ended the process or ran out of memory. "
                "--jobs 1 runs everything in one process and shows what"
            ) from error
        finally:
            for child in set(multiprocessing.active_children()) - before:
                child.terminate()
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Leave interrupts to the parent, which ends this process; and end with it if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
