"""What systems and agents under test raise and return: always their own trial's fault, and never the run's end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smriti import registry
from smriti.errors import MemorySystemError, UsageError
from smriti.protocols import AgentJob, MemorySystem, Store
from smriti.suites.bench.boundary import GuardedStore
from smriti.types import AgentRun, Fault, Phase, Status, TrialRecord
from tests.benches import Acting, Ran, StoreAround, SystemAround, run_bench, tiny_task

RAISED = [TypeError("two words"), RuntimeError("two words"), ValueError("two words"), UsageError("two words")]
LONE = "lone \ud800 surrogate"


class Sabotaged(StoreAround):
    """Does in one method what `act` does."""

    def __init__(self, inner: Store, method: str, act: Callable[..., Any]) -> None:
        super().__init__(inner)
        setattr(self, method, act)


def raising(error: BaseException) -> Callable[..., Any]:
    def act(*_arguments: object) -> None:
        raise error

    return act


def run_with(tmp_path: Path, method: str, act: Callable[..., Any]) -> Ran:
    system = SystemAround(lambda store: Sabotaged(store, method, act))
    return run_bench(tmp_path, [tiny_task()], memory=system, conditions=("on",), trials=2)


def assert_all_ended(ran: Ran, status: Status, phase: Phase, *words: str) -> None:
    assert len(ran.records) == 2, "the run went on"
    for record in ran.records:
        fault = _fault(record)
        assert (record.status, fault.phase) == (status, phase)
        assert all(word in fault.message for word in words), fault.message


@pytest.mark.parametrize("error", [*RAISED, SystemExit("two words")], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    ("method", "status", "phase"),
    [
        ("remember", "plant_failed", "plant"),
        ("attach", "memory_error", "attach"),
        ("injected", "memory_error", "confirm"),
        ("forget", "forget_failed", "forget"),
    ],
)
def test_whatever_a_store_raises_is_a_fault_of_its_trial(
    tmp_path: Path, method: str, status: Status, phase: Phase, error: BaseException
) -> None:
    ran = run_with(tmp_path, method, raising(error))
    assert_all_ended(ran, status, phase, "'embedded'", method, type(error).__name__, "two words")


def test_a_store_that_cannot_be_opened_for_any_reason_is_a_fault_of_its_trial(tmp_path: Path) -> None:
    def refuse(store: Store) -> Store:
        store.close()
        raise RuntimeError("two words")

    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(refuse), conditions=("on",), trials=2)
    assert_all_ended(ran, "memory_error", "prepare", "open: RuntimeError: two words")


def test_what_closing_raises_is_the_memory_systems(tmp_path: Path) -> None:
    store = GuardedStore("torn", Sabotaged(_opened(tmp_path), "close", raising(TypeError("two words"))))
    with pytest.raises(MemorySystemError, match=r"'torn', close: TypeError: two words"):
        store.close()


@pytest.mark.parametrize("error", [MemorySystemError("as promised"), OSError("the machine's"), KeyboardInterrupt()])
def test_what_a_store_may_raise_comes_through_as_it_is(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        GuardedStore("honest", Sabotaged(_opened(tmp_path), "restart", raising(error))).restart()
    assert raised.value is error


@pytest.mark.parametrize("ids", [None, "m", ("m",), [1], [b"m"], [LONE], {"m": 1}])
def test_ids_are_a_list_of_strings(tmp_path: Path, ids: object) -> None:
    ran = run_with(tmp_path, "remember", lambda *_: ids)
    assert_all_ended(ran, "plant_failed", "plant", "remember: it gave ", "expected a list of ids")


@pytest.mark.parametrize("ids", ["m", [1], [LONE], 7])
def test_injected_ids_are_a_list_of_strings_or_none(tmp_path: Path, ids: object) -> None:
    ran = run_with(tmp_path, "injected", lambda *_: ids)
    assert_all_ended(ran, "memory_error", "confirm", "injected: it gave ", "expected a list of ids")


def test_a_message_that_is_no_unicode_can_be_told_all_the_same(tmp_path: Path) -> None:
    ran = run_with(tmp_path, "remember", raising(MemorySystemError(LONE)))
    assert_all_ended(ran, "plant_failed", "plant", r"lone \ud800 surrogate")


@pytest.mark.parametrize("error", [*RAISED, SystemExit("two words")], ids=lambda error: type(error).__name__)
def test_whatever_an_agent_raises_is_a_fault_of_its_trial(tmp_path: Path, error: BaseException) -> None:
    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(raising(error)), conditions=("on",), trials=2)
    assert_all_ended(ran, "agent_error", "agent", "'acting'", "run: ", type(error).__name__, "two words")


def test_an_interrupt_inside_an_agent_is_an_interrupt(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_bench(tmp_path, [tiny_task()], agent=Acting(raising(KeyboardInterrupt())), conditions=("on",))


class Answering(Acting):
    """Ends its run as `change` says."""

    def run(self, job: AgentJob) -> AgentRun:
        changed: AgentRun = self.change(super().run(job))
        return changed

    change: Callable[[AgentRun], Any]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _run: None, "it gave None, expected an AgentRun"),
        (lambda run: replace(run, transcript="text"), "transcript is 'text'"),
        (lambda run: replace(run, said=None), "said is None"),
        (lambda run: replace(run, usage=None), "usage is None"),
        (lambda run: replace(run, turns="2", exit_status="0"), "turns is '2', exit_status is '0'"),
        (lambda run: replace(run, session_id=LONE), "session_id is 'lone"),
        (lambda run: replace(run, fault="none"), "fault is 'none'"),
        (lambda run: replace(run, fault=Fault(status="passed", phase="agent", message="")), "fault is Fault"),
    ],
)
def test_an_agent_that_gives_anything_but_a_run_has_failed(
    tmp_path: Path, change: Callable[[AgentRun], Any], message: str
) -> None:
    agent = Answering(lambda _job: None)
    object.__setattr__(agent, "change", change)
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",), trials=2)
    assert_all_ended(ran, "agent_error", "agent", message)


def _opened(tmp_path: Path) -> Store:
    system: MemorySystem = registry.load("memory", "file")
    return system.open(tmp_path)


def _fault(record: TrialRecord) -> Fault:
    assert record.fault is not None
    return record.fault
