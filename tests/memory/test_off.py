"""The `off` memory: everything is accepted, nothing comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import off
from smriti.memory.off import OffStore
from smriti.types import Attachment, Condition, Memory

REALM, OTHER = "project:gatehouse", "project:boathouse"
GATE = Memory(content="The gate is red.", type="wisdom", role="convention", source_id="m1")


@pytest.fixture
def store(tmp_path: Path) -> OffStore:
    return off.create(None).open(tmp_path)


def test_nothing_that_was_remembered_is_found_in_any_realm_or_layer(store: OffStore) -> None:
    store.remember([GATE], REALM)
    assert store.search(GATE.content, REALM, 10) == store.search(GATE.content, OTHER, 10) == []
    assert store.search(GATE.content, REALM, 10, "kw") == []


@pytest.mark.parametrize("condition", ["off", "on", "handed", "placebo", "file", "ablate:all", "ablate:kw"])
def test_nothing_is_attached_under_any_condition(store: OffStore, condition: str) -> None:
    store.remember([GATE], REALM)
    assert store.attach(REALM, Condition.parse(condition)) == Attachment()


def test_it_knows_that_nothing_reached_an_agent(store: OffStore) -> None:
    store.remember([GATE], REALM)
    assert store.injected("session", (0, 2**53)) == []


def test_an_id_is_never_given_twice_not_even_after_it_was_forgotten(store: OffStore) -> None:
    first = store.remember([GATE, GATE], REALM)
    store.forget(first)
    given = [*first, *store.remember([GATE], REALM), *store.remember([GATE, GATE], OTHER)]
    assert given == [f"off-{number}" for number in range(5)]


def test_each_id_can_be_forgotten_once(store: OffStore) -> None:
    first, second, third = store.remember([GATE, GATE, GATE], REALM)
    store.forget([first, third])
    store.forget([second])
    for gone in (first, second, third):
        with pytest.raises(MemorySystemError, match=f"no memory has the id '{gone}'"):
            store.forget([gone])


def test_with_an_unknown_id_among_them_none_is_forgotten(store: OffStore) -> None:
    [known] = store.remember([GATE], REALM)
    with pytest.raises(MemorySystemError, match="no memory has the id 'off-9'; nothing was forgotten"):
        store.forget([known, "off-9"])
    store.forget([known])


def test_a_restart_keeps_the_ids(store: OffStore) -> None:
    [known] = store.remember([GATE], REALM)
    store.restart()
    store.forget([known])
    assert store.remember([GATE], REALM) != [known]


def test_an_argument_is_refused() -> None:
    with pytest.raises(UsageError, match="'off' takes no argument, found 'x'"):
        off.create("x")


def test_it_claims_no_lane_and_no_capability(tmp_path: Path) -> None:
    system = off.create(None)
    assert (system.name, system.version, system.lanes, system.capabilities) == ("off", "1", (), frozenset())
    system.open(tmp_path).close()
    assert list(tmp_path.iterdir()) == []
