"""Stores for trials that run side by side: each has one to itself, so that no search sees another's memories."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from smriti.errors import MemorySystemError
from smriti.protocols import MemorySystem, Store
from smriti.suites.bench.boundary import open_store


@dataclass
class Lease:
    """A store on loan; set `reusable` to False and it is closed instead of lent again."""

    store: Store
    reusable: bool = True


class StorePool:
    """Opens as many stores of one system as are in use at once, and lends one again once its trial forgot all."""

    def __init__(self, system: MemorySystem, workspace: Path) -> None:
        self._system = system
        self._workspace = workspace
        self._free: list[Store] = []
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def borrow(self) -> Iterator[Lease]:
        """Lend a store. MemorySystemError when the system cannot open one."""
        with self._lock:
            store = self._free.pop() if self._free else None
            number = next(self._numbers) if store is None else 0
        lease = Lease(store or self._open(number))
        try:
            yield lease
        except BaseException:
            with contextlib.suppress(MemorySystemError):  # what is raised already is the cause
                lease.store.close()
            raise
        if lease.reusable:
            with self._lock:
                self._free.append(lease.store)
        else:
            lease.store.close()

    def close(self) -> None:
        """Close every store that is not on loan; MemorySystemError if one did not close, after all were asked to."""
        with self._lock:
            free, self._free = self._free, []
        with contextlib.ExitStack() as closing:
            for store in free:
                closing.callback(store.close)

    def _open(self, number: int) -> Store:
        workspace = self._workspace / str(number)
        workspace.mkdir(parents=True)
        return open_store(self._system, workspace)
