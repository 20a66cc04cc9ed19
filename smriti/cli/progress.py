"""Show a bench run as it goes: a live line a condition on a terminal, a plain line a trial elsewhere. All on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from smriti.types import Manifest, TrialRecord


class Progress:
    """Counts records by condition; `records` are those of an earlier run that is taken up."""

    def __init__(self, manifest: Manifest, records: Sequence[TrialRecord]) -> None:
        self._planned = manifest.planned
        self._console = Console(stderr=True)
        self._done: Counter[str] = Counter()
        self._passed: Counter[str] = Counter()
        self._bars = Bars(
            TextColumn("{task.description:>12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        each = manifest.planned // len(manifest.config.conditions)
        self._lines: dict[str, TaskID] = {
            condition: self._bars.add_task(condition, total=each, rate="") for condition in manifest.config.conditions
        }
        for record in records:
            self._count(record)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def on_record(self, record: TrialRecord) -> None:
        """Show one more trial."""
        self._count(record)
        if not self._console.is_terminal:
            seconds = "" if record.seconds.total is None else f"  {record.seconds.total:.2f} s"
            why = f"  {record.fault.phase}: {record.fault.message}" if record.fault else ""
            place = f"[{self._done.total():>{len(str(self._planned))}}/{self._planned}]"
            line = f"{place} {record.case}  {record.status}{seconds}{why}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _count(self, record: TrialRecord) -> None:
        self._done[record.condition] += 1
        self._passed[record.condition] += record.passed is True
        rate = f"{self._passed[record.condition] / self._done[record.condition]:.0%} passed"
        self._bars.update(self._lines[record.condition], advance=1, rate=rate)
