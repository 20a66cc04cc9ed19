"""Run steps on this machine, a thread for each job: a trial waits for its subprocesses most of the time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TypeVar

from smriti import process

T = TypeVar("T")
R = TypeVar("R")

_STOP_POLL_S = 0.05


class LocalEngine:
    """At most `jobs` steps at a time, started in their order."""

    name = "local"

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        """Yield results as they come. Closed or interrupted, it ends the running commands and starts no further one."""
        rest = iter(steps)
        # A queue and not concurrent.futures.wait: an interrupt in the middle of that leaves a future locked for ever.
        ended: SimpleQueue[Future[R]] = SimpleQueue()
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="trial") as pool:
            running: set[Future[R]] = set()
            try:
                for step in itertools.islice(rest, self._jobs):
                    running.add(_started(pool, work, step, ended))
                while running:
                    future = ended.get()
                    running.discard(future)
                    for step in itertools.islice(rest, 1):
                        running.add(_started(pool, work, step, ended))
                    yield future.result()
            finally:
                _stop(running)


def _started(pool: ThreadPoolExecutor, work: Callable[[T], R], step: T, ended: SimpleQueue[Future[R]]) -> Future[R]:
    future = pool.submit(work, step)
    future.add_done_callback(ended.put)
    return future


def _stop(running: set[Future[R]]) -> None:
    """End what is still running; a step may start one more command after the first was ended, so look again."""
    for future in running:
        future.cancel()
    while any(not future.done() for future in running):
        process.end_all()
        wait(running, timeout=_STOP_POLL_S)
