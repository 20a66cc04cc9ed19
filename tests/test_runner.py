"""The one loop: over a suite that makes evidence up and an engine that runs nothing beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from smriti import runner
from smriti.errors import ReceiptError
from smriti.protocols import Keep
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SUMMARY, ReceiptWriter
from smriti.score.bench import planned_cases
from smriti.types import BenchManifest, TrialCase, TrialEvidence, TrialRecord
from tests.receipts.build import BenchReceipt, a_manifest, evidence_of, write

T = TypeVar("T")
R = TypeVar("R")


class MadeUp:
    """A suite whose trials cost nothing; `stop_at` names the case in which the user interrupts."""

    def __init__(self, receipt: BenchReceipt, stop_at: str | None = None) -> None:
        self.manifest: BenchManifest = receipt.manifest
        self.stepped: list[str] = []
        self._receipt = receipt
        self._stop_at = stop_at

    def steps(self, done: Collection[str]) -> Sequence[TrialCase]:
        return [case for case in planned_cases(self.manifest) if case.id not in done]

    def work(self, keep: Keep) -> Callable[[TrialCase], TrialEvidence]:
        assert keep == self._receipt.keep
        return self._attempt

    def evidence(self, result: TrialEvidence) -> list[TrialEvidence]:
        return [result]

    def _attempt(self, case: TrialCase) -> TrialEvidence:
        if case.id == self._stop_at:
            raise KeyboardInterrupt
        self.stepped.append(case.id)
        return evidence_of(self._receipt, case)

    def close(self) -> None:
        raise AssertionError("the runner was lent the suite, and does not close it")


class Backwards:
    """An engine whose cases end in the opposite order; `closed` tells whether its iterator was closed."""

    name = "backwards"

    def __init__(self) -> None:
        self.closed = False

    def map(self, work: Callable[[T], R], steps: Iterable[T]) -> Generator[R, None, None]:
        try:
            for step in reversed(list(steps)):
                yield work(step)
        finally:
            self.closed = True


@pytest.fixture
def receipt(tmp_path: Path) -> Iterator[BenchReceipt]:
    writer = ReceiptWriter.create(tmp_path / "receipt", a_manifest())
    yield writer
    writer.close()


def ignore(_: TrialRecord) -> None:
    """Take a record and do nothing."""


def plan() -> list[str]:
    return [case.id for case in planned_cases(a_manifest())]


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.is_file()}


def test_a_run_attempts_the_whole_plan_and_ends_with_a_seal_that_verifies(receipt: BenchReceipt) -> None:
    suite, engine = MadeUp(receipt), Backwards()
    summary = runner.run(suite, engine, receipt, ignore)
    assert sorted(suite.stepped) == sorted(plan())
    assert (receipt.directory / SUMMARY).exists()
    assert (summary.coverage.planned, len(receipt.records)) == (12, 12)
    assert verify(receipt.directory).state == "verified"
    assert engine.closed


def test_trials_are_appended_in_the_order_in_which_they_ended(receipt: BenchReceipt) -> None:
    runner.run(MadeUp(receipt), Backwards(), receipt, ignore)
    assert [record.case for record in receipt.records] == plan()[::-1]
    written = (receipt.directory / SCORES).read_bytes().splitlines()
    assert [TrialRecord.model_validate_json(line).case for line in written] == plan()[::-1]


def test_what_the_receipt_holds_already_is_not_attempted_again(tmp_path: Path) -> None:
    write(tmp_path, rows=5)
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    suite = MadeUp(receipt)
    told: list[str] = []
    runner.run(suite, Backwards(), receipt, lambda record: told.append(record.case))
    receipt.close()
    assert suite.stepped == told == plan()[5:][::-1]
    assert verify(tmp_path).state == "verified"


def test_a_run_with_nothing_left_to_do_is_only_sealed(tmp_path: Path) -> None:
    write(tmp_path, rows=12)
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    suite = MadeUp(receipt)
    runner.run(suite, Backwards(), receipt, ignore)
    receipt.close()
    assert suite.stepped == []
    assert verify(tmp_path).state == "verified"


def test_a_record_is_told_of_when_both_of_its_lines_are_on_the_disk_and_before_the_seal(receipt: BenchReceipt) -> None:
    told: list[TrialRecord] = []

    def on_record(record: TrialRecord) -> None:
        told.append(record)
        lines = (receipt.directory / SCORES).read_bytes().splitlines()
        assert TrialRecord.model_validate_json(lines[-1]) == record
        assert len((receipt.directory / EVIDENCE).read_bytes().splitlines()) == len(lines) == len(told)
        assert SUMMARY not in names(receipt.directory)

    runner.run(MadeUp(receipt), Backwards(), receipt, on_record)
    assert told == receipt.records


def test_an_interrupt_in_a_step_leaves_what_ended_and_no_seal_and_closes_the_engines_iterator(
    receipt: BenchReceipt,
) -> None:
    engine = Backwards()
    with pytest.raises(KeyboardInterrupt):
        runner.run(MadeUp(receipt, stop_at=plan()[4]), engine, receipt, ignore)
    assert [record.case for record in receipt.records] == plan()[:4:-1]
    assert engine.closed
    assert names(receipt.directory) == {MANIFEST, EVIDENCE, SCORES}
    assert verify(receipt.directory).state == "interrupted"


def test_an_interrupt_between_two_trials_closes_the_engines_iterator_at_once(receipt: BenchReceipt) -> None:
    """The engine ends what is running when its iterator is closed: that must not wait for the garbage collector."""
    engine = Backwards()
    suite = MadeUp(receipt)

    def interrupt(record: TrialRecord) -> None:
        if record.case == plan()[7]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        runner.run(suite, engine, receipt, interrupt)
    assert caught.traceback, "the frames that hold the iterator are still there"
    assert engine.closed
    assert suite.stepped == plan()[:6:-1]
    assert len(receipt.records) == 5, "a trial that was written counts, also when telling of it failed"
    assert verify(receipt.directory).state == "interrupted"


def test_a_receipt_that_cannot_be_written_ends_the_run_without_a_seal(
    receipt: BenchReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: TrialEvidence) -> TrialRecord:
        raise ReceiptError("no space left")

    engine = Backwards()
    suite = MadeUp(receipt)
    monkeypatch.setattr(receipt, "append", full)
    with pytest.raises(ReceiptError, match="no space left"):
        runner.run(suite, engine, receipt, ignore)
    assert engine.closed
    assert len(suite.stepped) == 1
    assert SUMMARY not in names(receipt.directory)


def test_a_suite_that_ends_without_all_of_its_plan_is_not_sealed(receipt: BenchReceipt) -> None:
    class Forgetful(MadeUp):
        def steps(self, done: Collection[str]) -> Sequence[TrialCase]:
            return super().steps(done)[:-1]

    with pytest.raises(ReceiptError, match="1 planned cases have no row"):
        runner.run(Forgetful(receipt), Backwards(), receipt, ignore)
    assert SUMMARY not in names(receipt.directory)
