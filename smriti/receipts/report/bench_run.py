"""What the sections of a bench report are made from: one run, its figures at hand by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from smriti.receipts.report.words import Figures, by_name
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest, Score, TaskIdentity, TrialRecord

Links = Mapping[str, str]
"""Case → the page of its trial."""


@dataclass(frozen=True)
class BenchRun:
    """One run of the bench."""

    manifest: BenchManifest
    records: Sequence[TrialRecord]
    figures: Figures
    links: Links

    @property
    def conditions(self) -> tuple[str, ...]:
        """The arms of the run, as they were asked for."""
        return self.manifest.config.conditions

    @property
    def paired(self) -> bool:
        """Tell whether off and on can be laid side by side."""
        return {"off", "on"} <= set(self.conditions)

    @cached_property
    def tasks(self) -> list[TaskIdentity]:
        """The tasks, the greatest rise from off to on first."""
        return sorted(self.manifest.tasks, key=lambda task: (-self.change(task.id), task.id))

    def of(self, metric: str, condition: str, group: str = "all") -> Score | None:
        """Return a figure; None where the run has none of that name."""
        return self.figures.get((metric, self.manifest.config.memory, condition, group))

    def change(self, task: str) -> float:
        """Return by how much the success rate of a task rises from off to on; 0 where nothing can be said."""
        score = self.of("delta_sr", "on", task)
        return 0.0 if score is None or score.value is None else score.value


def bench_run(receipt: SealedReceipt, links: Links) -> BenchRun:
    """Read a receipt of the bench."""
    assert isinstance(receipt.manifest, BenchManifest)
    return BenchRun(receipt.manifest, receipt.records, by_name(receipt.summary.scores), links)
