"""A system that can do everything passes every check, and each break is found by its check and by no other."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from smriti.engine.processes import ProcessEngine
from smriti.memory import embedded
from smriti.protocols import Store
from smriti.score.lifecycle import LifecycleScoring
from smriti.suites.lifecycle import LifecycleSuite
from smriti.suites.lifecycle import attempt as lifecycle_attempt
from smriti.suites.lifecycle.attempt import WRITERS, Attempts, Outcome, Step, lost
from smriti.types import Hit, LifecycleRecord, Memory, Recalled
from tests.suites.lifecycle.breaks import (
    FOUND_BY,
    DiesInCapture,
    FailsWhatIsWrittenBesides,
    HangsInCapture,
    StuckInCapture,
)
from tests.suites.lifecycle.fakes import Able, System, attempt, no_files, own_checks, plan, protocol, records, sent

CHECKS = [check.id for check in own_checks().checks]


def failing(found: dict[str, LifecycleRecord]) -> dict[str, str]:
    """Return check → the part or phase in which it failed."""
    return {
        check: str(record.fault.phase if record.fault else record.broken_part)
        for check, record in found.items()
        if record.status == "failed"
    }


def test_a_system_that_keeps_every_promise_passes_every_check() -> None:
    protocol(System())
    found = records(System())
    assert list(found) == CHECKS
    assert {record.status for record in found.values()} == {"passed"}, failing(found)


@pytest.mark.parametrize("make", FOUND_BY, ids=lambda make: make.__name__)
def test_a_break_is_found_by_its_check_and_by_no_other(make: Callable[[], Able]) -> None:
    check, unmade = FOUND_BY[make]
    timeout_s = 0.3 if make is HangsInCapture else 20.0
    only = ["capture", "recall", "action"] if make is HangsInCapture else None
    assert failing(records(System(make), timeout_s=timeout_s, only=only)) == {
        check: "check",
        **dict.fromkeys(unmade, "control"),
    }


def test_every_check_finds_some_break() -> None:
    assert {check for check, _ in FOUND_BY.values()} == set(CHECKS)


def test_what_became_of_a_changed_fact_is_recorded() -> None:
    found = {
        make.__name__: records(System(make), only=["supersede-remember"])["supersede-remember"].changed_fact
        for make, (check, _) in FOUND_BY.items()
        if check == "supersede-remember"
    }
    assert found == {"KeepsBoth": "both", "KeepsTheStale": "stale only", "LosesTheChangedFact": "neither"}
    assert records(System(), only=["supersede-remember"])["supersede-remember"].changed_fact == "superseded"
    assert records(System(), only=["recall"])["recall"].changed_fact is None


def test_lost_writes_are_counted() -> None:
    lossy = next(make for make in FOUND_BY if make.__name__ == "LosesEveryTenthOfMany")
    record = records(System(lossy), only=["templated"])["templated"]
    assert (record.missed, record.strays) == (10, 0)


def test_what_a_system_does_not_declare_is_unsupported_and_it_is_not_even_opened() -> None:
    def never() -> Store:
        raise AssertionError("it was opened")

    system = System(never, capabilities=frozenset())
    needy = [check.id for check in own_checks().checks if check.needs]
    found = records(system, only=needy)
    assert {record.status for record in found.values()} == {"unsupported"}
    assert found["restart-corrected"].missing == ("restart", "supersede")
    assert all(row.observed == () and row.fault is None for row in attempt(system, only=needy))


def test_a_system_without_capabilities_passes_what_is_asked_of_every_system() -> None:
    found = records(System(capabilities=frozenset()))
    assert {check for check, record in found.items() if record.status == "passed"} == {
        check.id for check in own_checks().checks if not check.needs
    }


def test_every_search_that_the_system_offers_is_asked() -> None:
    (row,) = attempt(System(), only=["isolation"])
    looks = [(each.asking.verb, each.asking.layer, each.asking.form) for each in row.observed if each.hits]
    asked = [(each.asking.verb, each.asking.layer, each.asking.form) for each in row.observed]
    expected = {
        ("search", None, None),
        ("search", "memories", None),
        ("search", "observations", None),
        ("compact", None, None),
        ("recall", None, "full"),
        ("recall", None, "narrative"),
    }
    assert expected <= set(asked)
    assert ("search", "observations", None) not in looks


def test_writers_write_at_once() -> None:
    together = threading.Barrier(WRITERS)

    class Waits(Able):
        def one(self, memory: Memory, realm: str) -> str:
            return super().one(memory, realm)

        def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
            if threading.current_thread() is not threading.main_thread():
                together.wait(timeout=10)
            return super().remember(memories, realm)

    assert records(System(Waits), only=["concurrent"])["concurrent"].status == "passed"


def test_what_one_writer_ran_into_is_told() -> None:
    record = records(System(FailsWhatIsWrittenBesides), only=["concurrent"])["concurrent"]
    assert record.fault is not None
    assert record.fault.message == "forty are written by eight at once: RuntimeError: database is locked"


def test_a_case_that_was_not_gone_through_to_its_end_has_not_passed() -> None:
    (row,) = attempt(System(), only=["recall"])
    cut = row.model_copy(update={"observed": row.observed[:-1]})
    assert LifecycleScoring(plan(System())).record(cut, "0" * 64).status == "failed"


# Failures


def test_a_hanging_system_is_told_from_its_silence_and_its_store_is_closed() -> None:
    closed = []

    class Hangs(HangsInCapture):
        def close(self) -> None:
            closed.append("closed")

    (row,) = attempt(System(Hangs), timeout_s=0.2, only=["capture"])
    assert row.fault is not None
    assert (row.fault.phase, row.fault.message) == ("check", "an observation is captured: no answer within 0.2 s")
    assert closed == ["closed"]


def test_a_system_that_catches_its_time_out_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.suites.lifecycle.attempt._AGAIN_S", 0.05)

    class Stubborn(Able):
        def restart(self) -> None:
            for _ in range(3):
                with contextlib.suppress(BaseException):
                    threading.Event().wait()
            threading.Event().wait()

    (row,) = attempt(System(Stubborn), timeout_s=0.2, only=["restart-forgotten"])
    assert row.fault is not None
    assert row.fault.message == "the store is restarted: no answer within 0.2 s"


def test_the_time_of_a_case_leaves_no_alarm_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    attempt(System(), only=["recall"])
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_a_system_that_cannot_be_opened_fails_in_init() -> None:
    def broken() -> Store:
        raise OSError("no such engine")

    (row,) = attempt(System(broken), only=["recall"])
    assert row.observed == ()
    assert row.fault is not None
    assert (row.fault.phase, row.fault.message) == ("init", "OSError: no such engine")


def test_a_system_that_cannot_be_closed_fails_in_teardown() -> None:
    class Stays(Able):
        def close(self) -> None:
            raise RuntimeError("still here")

    record = records(System(Stays), only=["recall"])["recall"]
    assert record.status == "failed"
    assert record.fault is not None
    assert record.fault.phase == "teardown"
    assert record.broken is None


@pytest.mark.parametrize(
    ("garbage", "said"),
    [
        ({}, "search gave dict, expected a list of hits"),
        (["text"], "search gave str, expected a Hit"),
        ([Hit("m1", "secret text", float("nan"))], "search gave Hit(id='m1', content='…', score=nan"),
        ([Hit("m1", "text", 1.0, ["s"])], "source_ids=['s']"),  # type: ignore[arg-type]
        ([Hit("m1", "text", 1.0)] * 11, "search gave 11 hits, expected at most 10"),
        ([Hit("\ud800", "text", 1.0)], "expected a Hit"),
        (None, "search gave NoneType"),
    ],
)
def test_garbage_is_a_failure_that_says_what_was_found(garbage: Any, said: str) -> None:
    class Garbage(Able):
        def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
            del query, realm, k, layer
            return garbage  # type: ignore[no-any-return]

    (row,) = attempt(System(Garbage), only=["recall"])
    assert row.fault is not None
    assert row.fault.phase == "control"
    assert said in row.fault.message
    assert "secret text" not in row.fault.message


@pytest.mark.parametrize("found", [None, Recalled([], "", 0), Recalled((), None, 0)])  # type: ignore[arg-type]
def test_a_recall_that_is_none_is_a_failure(found: Any) -> None:
    class Garbage(Able):
        def recall(self, *_: Any, **__: Any) -> Recalled:
            return found  # type: ignore[no-any-return]

    record = records(System(Garbage), only=["forget"])["forget"]
    assert record.fault is not None
    assert "expected a Recalled" in record.fault.message


def test_a_failure_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")

    def broken() -> Store:
        raise RuntimeError("refused: very-secret-value")

    (row,) = attempt(System(broken), only=["recall"])
    assert row.fault is not None
    assert row.fault.message == "RuntimeError: refused: [redacted]"


def test_a_system_that_gives_too_few_ids_fails_its_first_control() -> None:
    class Few(Able):
        def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
            return super().remember(memories, realm)[:-1]

    record = records(System(Few), only=["recall"])["recall"]
    assert (record.status, record.broken, record.broken_part) == ("failed", "all are remembered", "control")


def test_one_id_for_two_texts_is_not_an_id_each() -> None:
    class Same(Able):
        def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
            return [super().remember(memories, realm)[0]] * len(memories)

    assert records(System(Same), only=["forget"])["forget"].broken == "both are remembered"


def test_nothing_is_left_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    attempt(System(), only=["recall", "forget"])
    attempt(System(HangsInCapture), timeout_s=0.2, only=["capture"])
    assert list(tmp_path.iterdir()) == []


# In processes


def make_stuck(name: str) -> System:
    return System(StuckInCapture, name)


def test_a_system_that_no_alarm_can_interrupt_takes_its_process_down_and_is_told_as_that() -> None:
    manifest = plan(System(name="stuck"), timeout_s=1.0)
    suite = LifecycleSuite(manifest, own_checks().texts, make_stuck)
    steps = [step for step in suite.steps(()) if step.case == "stuck/capture"]
    engine: ProcessEngine[Step, Outcome] = ProcessEngine(1, lost, lambda _step: True)
    (outcome,) = engine.map(Impatient(suite.work(no_files)), steps)
    assert outcome.fault is not None
    assert outcome.fault.phase == "process"


@dataclass(frozen=True)
class Impatient:
    """Goes through cases with less time to close, in whatever process it is."""

    work: Attempts

    def __call__(self, step: Step) -> Outcome:
        lifecycle_attempt._CLOSING_S = 0.5
        return self.work(step)


def make_dying(name: str) -> System:
    return System(DiesInCapture, name)


def test_a_system_that_takes_its_process_down_has_failed_that_case_alone() -> None:
    manifest = plan(System(name="dying"))
    suite = LifecycleSuite(manifest, own_checks().texts, make_dying)
    asked = {"dying/expand", "dying/capture", "dying/provenance"}
    steps = [step for step in suite.steps(()) if step.case in asked]
    engine: ProcessEngine[Step, Outcome] = ProcessEngine(1, lost, lambda _step: True)
    outcomes = {result.case: result for result in engine.map(suite.work(no_files), steps)}
    assert outcomes["dying/capture"].observed == ()
    fault = outcomes["dying/capture"].fault
    assert fault is not None
    assert fault.phase == "process"
    assert [outcomes[f"dying/{check}"].fault for check in ("expand", "provenance")] == [None, None]


# The embedded memory


def test_embedded_fails_no_check_but_the_one_that_it_does_not_set_out_to_pass() -> None:
    """It keeps both of a fact that is remembered anew: only a correction supersedes in it."""
    system = embedded.create(None)
    adapter: Any = sent(system)
    fake = System(capabilities=frozenset(adapter.capabilities))
    fake.layers = tuple(getattr(adapter, "layers", adapter.lanes))
    fake.open = adapter.open  # type: ignore[method-assign]
    found = records(fake)
    assert failing(found) == {"supersede-remember": "check"}
    assert found["supersede-remember"].changed_fact == "both"
