"""The retrieval suites: does a search bring the evidence back? Corpora and questions as the runner sees them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence

from smriti.protocols import Keep, MemorySystem
from smriti.receipts.writer import stated
from smriti.score.retrieval import RetrievalScoring
from smriti.suites.retrieval.attempt import Attempts, Step
from smriti.types import Corpus, QuestionCase, RetrievalManifest


class RetrievalSuite:
    """One run of a retrieval suite. A step is a corpus, which one system remembers in a fresh store."""

    def __init__(
        self, manifest: RetrievalManifest, corpora: Sequence[Corpus], load: Callable[[str], MemorySystem]
    ) -> None:
        self.manifest = manifest
        self._corpora = corpora
        self._load = load

    def steps(self, done: Collection[str]) -> list[Step]:
        """Return each corpus and system of which something is left to ask, in the order of the plan."""
        left: dict[tuple[str, str], list[QuestionCase]] = {}
        for case in RetrievalScoring(self.manifest).plan():
            if case.id not in done:
                left.setdefault((case.corpus, case.system), []).append(case)
        corpora = {corpus.id: corpus for corpus in self._corpora}
        return [Step(corpora[corpus], system, tuple(cases)) for (corpus, system), cases in left.items()]

    def work(self, keep: Keep) -> Attempts:
        del keep  # the evidence names no files
        return Attempts(
            run_id=self.manifest.run_id,
            manifest_sha256=hashlib.sha256(stated(self.manifest)).hexdigest(),
            widest=max(self.manifest.config.k),
            load=self._load,
        )

    def close(self) -> None:
        """Nothing to close: every store ended with its step."""
