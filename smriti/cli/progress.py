"""Show a bench run as it goes: a live line a condition on a terminal, a plain line a trial elsewhere. All on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from smriti.types import BenchManifest, TrialRecord


class Progress:
    """Counts records by condition; `records` are those of an earlier run that is taken up."""

    def __init__(self, manifest: BenchManifest, records: Sequence[TrialRecord]) -> None:
        self._planned = manifest.planned
        self._console = Console(stderr=True)
        self._done: Counter[str] = Counter()
        self._attempted: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._told: set[str] = set()
        """Tasks of which it has been said that they are skipped."""
        for record in records:
            self._count(record)
        self._bars = Bars(
            TextColumn("{task.description:>12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
        )
        each = manifest.planned // len(manifest.config.conditions)
        # Earlier records are where a bar starts: as steps they would count towards the speed of this run.
        self._lines: dict[str, TaskID] = {
            condition: self._bars.add_task(
                condition, total=each, completed=self._done[condition], rate=self._rate(condition)
            )
            for condition in manifest.config.conditions
        }

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def on_record(self, record: TrialRecord) -> None:
        """Show one more trial."""
        self._count(record)
        if self._console.is_terminal:
            self._tell_fault(record)
            self._bars.update(self._lines[record.condition], advance=1, rate=self._rate(record.condition))
        else:
            seconds = "" if record.seconds.total is None else f"  {record.seconds.total:.2f} s"
            place = f"[{self._done.total():>{len(str(self._planned))}}/{self._planned}]"
            self._print(f"{place} {record.case}  {record.status}{seconds}{_why(record)}")

    def _count(self, record: TrialRecord) -> None:
        self._done[record.condition] += 1
        self._attempted[record.condition] += record.status != "skipped"
        self._passed[record.condition] += record.passed is True

    def _rate(self, condition: str) -> str:
        """Say the success rate so far; nothing before there is an attempt."""
        attempted = self._attempted[condition]
        return f"{self._passed[condition] / attempted:.0%} passed" if attempted else ""

    def _tell_fault(self, record: TrialRecord) -> None:
        """Print a line above the bars for a fault; one for all trials of a task that is skipped."""
        if record.status == "skipped":
            if record.task_id not in self._told:
                self._told.add(record.task_id)
                self._print(f"{record.task_id}  skipped{_why(record)}")
        elif record.fault is not None:
            self._print(f"{record.case}  {record.status}{_why(record)}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _why(record: TrialRecord) -> str:
    """Give the fault's phase and message on the record's own line, without what would steer a terminal."""
    if record.fault is None:
        return ""
    printable = "".join(char if char.isprintable() else " " for char in record.fault.message)
    return f"  {record.fault.phase}: {' '.join(printable.split())}"
