"""The lifecycle suite: what becomes of memories that are corrected, forgotten, kept apart or written twice?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from smriti.protocols import Keep, MemorySystem
from smriti.receipts.writer import manifest_digest
from smriti.score.lifecycle import LifecycleScoring
from smriti.suites.lifecycle.attempt import Attempts, Outcome, Step
from smriti.types import LifecycleEvidence, LifecycleManifest, LifecycleText


class LifecycleSuite:
    """One run of the lifecycle suite. A step is one case: a check of a system in a fresh store."""

    def __init__(
        self,
        manifest: LifecycleManifest,
        texts: Mapping[str, Mapping[str, LifecycleText]],
        load: Callable[[str], MemorySystem],
    ) -> None:
        self.manifest = manifest
        self._manifest_sha256 = manifest_digest(manifest)
        self._scoring = LifecycleScoring(manifest)
        self._cases = {case.id: case for case in self._scoring.plan()}
        self._texts = texts
        self._load = load

    def steps(self, done: Collection[str]) -> list[Step]:
        return [
            Step(id_, case.system, tuple(self._scoring.planned(case.system, case.check)), self._texts[case.check])
            for id_, case in self._cases.items()
            if id_ not in done
        ]

    def work(self, keep: Keep) -> Attempts:
        del keep  # the evidence names no files
        return Attempts(self.manifest.config.timeout_s, self._load)

    def evidence(self, result: Outcome) -> list[LifecycleEvidence]:
        case = self._cases[result.case]
        return [
            LifecycleEvidence(
                case=case.id,
                run_id=self.manifest.run_id,
                manifest_sha256=self._manifest_sha256,
                order=case.order,
                system=case.system,
                check=case.check,
                observed=result.observed,
                fault=result.fault,
            )
        ]

    def close(self) -> None:
        """Nothing to close: every store ended with its step."""
