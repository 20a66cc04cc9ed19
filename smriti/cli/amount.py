"""Show how much of one long step is done: a bar on a terminal, a plain line a tenth elsewhere. All on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

UNKNOWN_STEP = 100_000_000
"""How much lies between two plain lines where nobody knows how much there is."""


class Amount:
    """To be called with how much is done, and of how much, or None where that is not known."""

    def __init__(self, name: str, unit: str) -> None:
        self._name = name
        self._unit = unit
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[amount]}", markup=False),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._task: TaskID | None = None
        self._told = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def __call__(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` is done."""
        if not self._console.is_terminal:
            self._tell(done, total)
        elif self._task is None:
            # What an earlier run did is where the bar starts: as a step it would count towards the speed of this one.
            amount = self._amount(done, total)
            self._task = self._bar.add_task(self._name, total=total, completed=done, amount=amount)
        else:
            self._bar.update(self._task, total=total, completed=done, amount=self._amount(done, total))

    def say(self, line: str) -> None:
        """Print a line of its own, above the bar where there is one."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _tell(self, done: int, total: int | None) -> None:
        step = UNKNOWN_STEP if total is None else total / 10
        if done == total or done - self._told >= step:
            self._told = done
            self.say(f"{self._name}  {self._amount(done, total)}")

    def _amount(self, done: int, total: int | None) -> str:
        return f"{done:,} {self._unit}" if total is None else f"{done:,} of {total:,} {self._unit}"
