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
    """One run of a retrieval suite. A step is a corpus, which every system remembers in a fresh store."""

    def __init__(
        self, manifest: RetrievalManifest, corpora: Sequence[Corpus], load: Callable[[str], MemorySystem]
    ) -> None:
        self.manifest = manifest
        self._corpora = corpora
        self._load = load

    def steps(self, done: Collection[str]) -> list[Step]:
        """Return the corpora of which something is left to ask, each with that, in the order of the plan."""
        left: dict[str, list[QuestionCase]] = {}
        for case in RetrievalScoring(self.manifest).plan():
            if case.id not in done:
                left.setdefault(case.corpus, []).append(case)
        return [Step(corpus, tuple(left[corpus.id])) for corpus in self._corpora if corpus.id in left]

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
