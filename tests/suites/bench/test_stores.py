"""Stores on loan: one for each trial at a time, lent again while it can be trusted, and closed in any case."""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.errors import MemorySystemError
from smriti.protocols import Store
from smriti.suites.bench.stores import StorePool
from tests.benches import StoreAround, SystemAround


class Closing(StoreAround):
    """Counts how often it was closed."""

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self.closed = 0

    def close(self) -> None:
        self.closed += 1
        super().close()


class WillNotClose(Closing):
    def close(self) -> None:
        super().close()
        raise MemorySystemError("its server does not stop")


def pool_of(tmp_path: Path, kind: type[Closing] = Closing) -> tuple[StorePool, SystemAround, list[Closing]]:
    """A pool, its system, and the stores that the system has opened so far."""
    stores: list[Closing] = []

    def around(store: Store) -> Store:
        stores.append(kind(store))
        return stores[-1]

    system = SystemAround(around)
    return StorePool(system, tmp_path / "stores"), system, stores


def test_a_store_that_came_back_is_lent_again(tmp_path: Path) -> None:
    pool, system, _ = pool_of(tmp_path)
    with pool.borrow() as first:
        pass
    with pool.borrow() as second:
        pass
    assert first.store is second.store
    assert len(system.opened) == 1
    pool.close()


def test_two_loans_at_once_are_two_stores_in_two_workspaces(tmp_path: Path) -> None:
    pool, system, _ = pool_of(tmp_path)
    with pool.borrow() as first, pool.borrow() as second:
        assert first.store is not second.store
    assert len(set(system.opened)) == 2
    assert all(workspace.is_dir() and workspace.is_relative_to(tmp_path) for workspace in system.opened)
    pool.close()


def test_a_store_that_is_not_reusable_is_closed_and_not_lent_again(tmp_path: Path) -> None:
    pool, system, stores = pool_of(tmp_path)
    with pool.borrow() as lease:
        lease.reusable = False
    assert stores[0].closed == 1
    with pool.borrow():
        pass
    assert len(set(system.opened)) == 2, "and its workspace is not used again either"
    pool.close()


def test_whatever_is_raised_on_loan_closes_the_store(tmp_path: Path) -> None:
    pool, _, stores = pool_of(tmp_path)
    with pytest.raises(KeyboardInterrupt), pool.borrow():
        raise KeyboardInterrupt
    pool.close()
    assert [store.closed for store in stores] == [1]


def test_a_store_that_will_not_close_does_not_hide_what_was_raised_on_loan(tmp_path: Path) -> None:
    pool, _, _ = pool_of(tmp_path, WillNotClose)
    with pytest.raises(KeyboardInterrupt), pool.borrow():
        raise KeyboardInterrupt


def test_closing_the_pool_closes_every_store_once_also_when_one_refuses(tmp_path: Path) -> None:
    pool, _, stores = pool_of(tmp_path, WillNotClose)
    with pool.borrow(), pool.borrow(), pool.borrow():
        pass
    with pytest.raises(MemorySystemError, match="does not stop"):
        pool.close()
    assert [store.closed for store in stores] == [1, 1, 1]
    pool.close()
    assert [store.closed for store in stores] == [1, 1, 1]


def test_a_system_that_cannot_be_opened_says_so_to_the_borrower(tmp_path: Path) -> None:
    def refuse(store: Store) -> Store:
        store.close()
        raise MemorySystemError("its server does not answer")

    pool = StorePool(SystemAround(refuse), tmp_path / "stores")
    with pytest.raises(MemorySystemError, match="does not answer"), pool.borrow():
        pytest.fail("there is nothing to lend")
