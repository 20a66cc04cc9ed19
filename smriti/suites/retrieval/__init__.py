"""The retrieval suites: does a search bring the evidence back? Corpora and questions as the runner sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from pydantic import ValidationError

from smriti.protocols import Keep, MemorySystem
from smriti.receipts.writer import first_error, manifest_digest
from smriti.score.retrieval import RetrievalScoring
from smriti.suites.retrieval.attempt import Answer, Answers, Asked, Attempts, Step
from smriti.types import AskFault, Corpus, Question, QuestionCase, QuestionEvidence, RetrievalManifest


class RetrievalSuite:
    """One run of a retrieval suite. A step is a corpus, which one system remembers in a fresh store.

    Gold evidence stays here: it is joined to what a step brought, and is never where a user's memory system runs.
    `own` tells a system that comes with smriti, which may read a file of documents, labels and all, by itself.
    """

    def __init__(
        self,
        manifest: RetrievalManifest,
        corpora: Sequence[Corpus],
        load: Callable[[str], MemorySystem],
        own: Callable[[str], bool],
    ) -> None:
        self.manifest = manifest
        self._manifest_sha256 = manifest_digest(manifest)
        self._corpora = {corpus.id: corpus for corpus in corpora}
        self._questions = {question.id: question for corpus in corpora for question in corpus.questions}
        self._cases = {(case.system, case.question): case for case in RetrievalScoring(manifest).plan()}
        self._load = load
        self._own = own

    def steps(self, done: Collection[str]) -> list[Step]:
        """Return each corpus and system of which something is left to ask, in the order of the plan."""
        left: dict[tuple[str, str], list[QuestionCase]] = {}
        for case in self._cases.values():
            if case.id not in done:
                left.setdefault((case.corpus, case.system), []).append(case)
        return [self._step(self._corpora[corpus], system, cases) for (corpus, system), cases in left.items()]

    def work(self, keep: Keep) -> Attempts:
        del keep  # the evidence names no files
        return Attempts(widest=max(self.manifest.config.k), load=self._load)

    def evidence(self, result: Answers) -> list[QuestionEvidence]:
        return [self._evidence(result, answer) for answer in result.answers]

    def close(self) -> None:
        """Nothing to close: every store ended with its step."""

    def _step(self, corpus: Corpus, system: str, cases: Sequence[QuestionCase]) -> Step:
        asked = tuple(Asked(case.question, self._questions[case.question].text) for case in cases)
        return Step(corpus.id, corpus.documents, system, asked, self._own(system))

    def _evidence(self, result: Answers, answer: Answer) -> QuestionEvidence:
        backwards = any(time is not None and time < 0 for time in (result.ingest_ms, answer.query_ms))
        why = "a time before it began" if backwards else ""
        try:
            if not why:
                return self._row(result, answer)
        except ValidationError as error:
            why = first_error(error)
        fault = AskFault(phase="process", message=f"what its process sent back is no answer: {why}")
        return self._row(replace(result, ingest_ms=None), Answer(answer.question, fault=fault))

    def _row(self, result: Answers, answer: Answer) -> QuestionEvidence:
        case, question = self._cases[result.system, answer.question], self._questions[answer.question]
        return QuestionEvidence(
            case=case.id,
            run_id=self.manifest.run_id,
            manifest_sha256=self._manifest_sha256,
            order=case.order,
            system=case.system,
            corpus=case.corpus,
            question=question.id,
            type=question.type,
            groups=question.groups,
            answerable=question.answerable,
            documents=len(self._corpora[case.corpus].documents),
            gold=question.gold,
            group_gold=dict(question.group_gold),
            hits=answer.hits,
            returned=answer.returned,
            gold_ranks=_ranks(answer.ranked, question),
            ingest_ms=result.ingest_ms,
            query_ms=answer.query_ms,
            fault=answer.fault,
        )


def _ranks(ranked: Sequence[str], question: Question) -> dict[str, int]:
    gold = set(question.gold).union(*question.group_gold.values())
    return {source_id: ranked.index(source_id) + 1 for source_id in sorted(gold.intersection(ranked))}
