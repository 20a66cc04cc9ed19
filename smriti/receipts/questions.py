"""What the receipts of the retrieval suites are held to: rows that the manifest's questions can have left behind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import attrgetter

from smriti.errors import ReceiptError
from smriti.metrics.ranking import MAX_K, distinct
from smriti.receipts.check import Check, judge, repeated
from smriti.receipts.writer import MANIFEST
from smriti.types import AskPhase, QuestionEvidence, RetrievalManifest

_PLACE = attrgetter("system", "corpus", "question", "order")
_QUESTION = attrgetter("type", "groups", "answerable", "gold", "group_gold")


class QuestionRules:
    """The rules of one run of a retrieval suite; ReceiptError where its metrics cannot be computed at all."""

    def __init__(self, manifest: RetrievalManifest) -> None:
        cutoffs = manifest.config.k
        if list(cutoffs) != sorted(set(cutoffs)) or not 1 <= cutoffs[0] <= cutoffs[-1] <= MAX_K:
            raise ReceiptError(f"{MANIFEST}: k is {cutoffs}; expected rising numbers from 1 to {MAX_K}")
        self._manifest = manifest
        self._documents = {corpus.id: corpus.documents for corpus in manifest.corpora}
        self._widest = max(manifest.config.k)
        self._asked: dict[str, tuple[object, ...]] = {}
        systems = len(manifest.config.memory)
        self.plan_size = systems * sum(len(corpus.questions) for corpus in manifest.corpora)
        self.step_size = max((len(corpus.questions) for corpus in manifest.corpora), default=0)

    def manifest_problems(self) -> Iterator[str]:
        manifest = self._manifest
        questions = [question for corpus in manifest.corpora for question in corpus.questions]
        for names in (manifest.config.memory, [corpus.id for corpus in manifest.corpora], questions):
            yield from (f"{name} twice" for name in repeated(names))
        if len(manifest.systems) != len(manifest.config.memory):
            yield f"{len(manifest.systems)} systems identified, {len(manifest.config.memory)} named"
        chosen, of = manifest.selection.get("selected"), manifest.selection.get("of")
        if chosen != len(questions) or not isinstance(of, int) or of < len(questions):
            yield f"{chosen!r} of {of!r} questions selected, {len(questions)} named"

    def evidence_class(self) -> Check:
        manifest = self._manifest
        if manifest.evidence_class == "development":
            held = "development: a selection, data without a pin or uncommitted code; it supports no claim"
            return Check("class", True, held)
        if manifest.evidence_class != "component":
            return Check("class", False, f"{manifest.evidence_class}: {manifest.suite} is run without an agent")
        code, chosen, of = manifest.code, manifest.selection.get("selected"), manifest.selection.get("of")
        wrong = []
        if code.commit is None or code.dirty is not False:
            wrong.append(f"component needs clean code of a known commit, found {code.commit!r}, dirty {code.dirty!r}")
        asked = sum(len(corpus.questions) for corpus in manifest.corpora)
        if not chosen == of == asked:
            wrong.append(f"component needs the whole set, found {chosen!r} of {of!r} and {asked} questions")
        if not manifest.datasets:
            wrong.append("component needs a pinned data set, found none")
        if manifest.config.stratify is not None or manifest.config.limit is not None:
            wrong.append("component needs the whole set, found stratify or limit")
        return judge("class", wrong, f"component: the whole set, by the code of commit {code.commit}")

    def row_problems(self, row: QuestionEvidence) -> Iterator[str]:
        """Say what no attempt can have left behind; a rank that contradicts the hits is such a thing."""
        if self._documents.get(row.corpus) != row.documents:
            yield f"{row.documents} documents in corpus {row.corpus!r}, which the manifest does not say"
        if len(set(row.groups)) != len(row.groups):
            yield "it counts twice in a group"
        yield from _strange_gold(row)
        asked = _QUESTION(row)
        if self._asked.setdefault(row.question, asked) != asked:
            yield "another question, or other gold, than another system was asked"
        if (row.ingest_ms or 0) < 0 or (row.query_ms or 0) < 0:
            yield "a time before it began"
        if row.fault is None:
            yield from self._misranked(row)
        else:
            yield from _strange_failure(row, row.fault.phase)

    def place(self, case: object) -> tuple[object, ...]:
        return tuple(_PLACE(case))

    def unchecked(self) -> Check:
        named = ", ".join(f"{name} {sha256}" for name, sha256 in self._manifest.datasets.items())
        return Check("data set", None, f"the gold ids: the data set is not part of a receipt ({named})")

    def _misranked(self, row: QuestionEvidence) -> Iterator[str]:
        if row.ingest_ms is None or row.query_ms is None:
            yield "no fault, and yet it was not asked"
        if row.returned < len(row.hits) or row.returned > row.documents:
            yield f"{row.returned} hits returned, {len(row.hits)} listed, {row.documents} asked for"
        sources = [hit.source_ids for hit in row.hits]
        listed = distinct(itertools.chain.from_iterable(sources))
        if row.returned > len(sources) and len(listed) < self._widest:
            yield "hits are left out that the largest k reaches"
        if len(listed) >= self._widest and len(set().union(*sources[:-1])) >= self._widest:
            yield "hits are listed that no k reaches"
        if max(len(listed), *row.gold_ranks.values(), 0) > row.documents:
            yield f"more sources than the {row.documents} of the corpus"
        gold = set(row.gold).union(*row.group_gold.values())
        ranks = {source_id: rank for rank, source_id in enumerate(listed, 1) if source_id in gold}
        if ranks == row.gold_ranks:
            return
        below = {source_id: rank for source_id, rank in row.gold_ranks.items() if source_id not in ranks}
        if not gold.issuperset(row.gold_ranks) or {**row.gold_ranks, **ranks} != row.gold_ranks:
            yield "the ranks of the gold are not those of the hits"
        if any(rank <= len(listed) for rank in below.values()) or len(set(below.values())) < len(below):
            yield "gold is ranked where another source is"
        if below and row.returned == len(row.hits):
            yield "gold is ranked that was not returned"


def _strange_gold(row: QuestionEvidence) -> Iterator[str]:
    golds = [row.gold, *row.group_gold.values()]
    if any(golds) and not row.answerable:
        yield "gold evidence for a question without an answer"
    if any(len(set(gold)) != len(gold) for gold in golds):
        yield "a gold source is named twice"
    if len(set().union(*golds)) > row.documents:
        yield f"more gold sources than the {row.documents} documents"
    if row.group_gold.keys() - set(row.groups):
        yield "gold evidence of a group that it is not in"


def _strange_failure(row: QuestionEvidence, phase: AskPhase) -> Iterator[str]:
    if row.hits or row.returned or row.gold_ranks or row.query_ms is not None:
        yield "failed, and yet it has hits"
    if phase != "ingest" and (row.ingest_ms is None) != (phase in {"init", "process"}):
        yield f"failed in {phase}, which its time of ingestion contradicts"
