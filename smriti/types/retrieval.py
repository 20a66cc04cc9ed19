"""Questions put to memory systems: case, evidence, record; and the manifest of a run of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from smriti.types.receipts import Config, Evidence, Manifest, Record
from smriti.types.stored import Stored

RetrievalSuite = Literal["longmemeval", "locomo", "coding-life"]
AskPhase = Literal["init", "ingest", "query", "teardown", "process"]
"""Where an attempt failed: opening the store, remembering the corpus, searching, closing the store, or anywhere, by the
end of the whole process."""

Metrics = dict[str, float | None]
"""Full name of a metric → what one question earns; None where nothing can be scored."""


@dataclass(frozen=True, slots=True)
class QuestionCase:
    """One question put to one system, with its place in the order of the whole run."""

    system: str
    corpus: str
    question: str
    order: int
    """From 0 over the whole run."""

    @property
    def id(self) -> str:
        return f"{self.system}/{self.question}"


class AskFault(Stored):
    """Why an attempt has no result: the phase that failed, and what was found there."""

    phase: AskPhase
    message: str


class ReturnedHit(Stored):
    """One search result as it was returned, but for its text."""

    id: str
    source_ids: tuple[str, ...]
    score: float = Field(allow_inf_nan=False)
    content_sha256: str


class QuestionEvidence(Evidence):
    """What the record of one question is computed from."""

    order: int = Field(ge=0)
    system: str
    corpus: str
    question: str
    type: str
    groups: tuple[str, ...]
    """The groups of scores that the question counts in."""
    answerable: bool
    documents: int = Field(ge=0)
    """In the corpus, and so the largest number of hits that was asked for."""
    gold: tuple[str, ...]
    group_gold: dict[str, tuple[str, ...]]
    """Group → gold, for the groups that are scored against other evidence than `gold`."""
    hits: tuple[ReturnedHit, ...]
    """Best first, as they were returned, as far as the largest k reaches over distinct sources."""
    returned: int = Field(ge=0)
    """Hits in all, of which `hits` are the first."""
    gold_ranks: dict[str, int]
    """Rank from 1, over the distinct sources of all that was returned, of each gold source that was among them."""
    ingest_ms: float | None = Field(allow_inf_nan=False)
    """Of the whole corpus, once for all of its questions; None where that was not reached."""
    query_ms: float | None = Field(allow_inf_nan=False)
    fault: AskFault | None


class QuestionRecord(Record):
    """A question, scored."""

    system: str
    corpus: str
    question: str
    type: str
    groups: tuple[str, ...]
    answerable: bool
    status: Literal["completed", "failed"]
    documents: int = Field(ge=0)
    gold: int = Field(ge=0)
    """Distinct sources of gold evidence."""
    metrics: Metrics
    """Against `gold`; all None for an attempt that failed and for a question without gold."""
    group_gold: dict[str, int]
    group_metrics: dict[str, Metrics]
    """Likewise, for the groups that are scored against other evidence."""
    unsourced_hits: int = Field(ge=0)
    """Of the hits in the evidence, those whose provenance was lost."""
    ingest_ms: float | None
    query_ms: float | None
    fault: AskFault | None


class RetrievalConfig(Config):
    """What one run is asked to do, as resolved."""

    memory: tuple[str, ...] = Field(min_length=1)
    k: tuple[int, ...] = Field(min_length=1)
    stratify: int | None = Field(default=None, ge=1)
    limit: int | None = Field(default=None, ge=1)
    options: dict[str, bool | str | tuple[int, ...]]
    """How the data set was read: what a document is, which categories count."""


class CorpusPlan(Stored):
    """A corpus as the manifest names it, and the questions that each system is asked of it."""

    id: str
    documents: int = Field(ge=0)
    questions: tuple[str, ...]


class RetrievalManifest(Manifest):
    """What a run of a retrieval suite is about to do."""

    suite: RetrievalSuite
    config: RetrievalConfig
    counts: dict[str, int]
    """What the data set holds, and what its reader decided about it."""
    notes: tuple[str, ...]
    """What a reader of the scores must know first of the data set; each is `name: sentence`."""
    labels: dict[str, str]
    """Group → the name to print for it, where that says more than the group's own."""
    corpora: tuple[CorpusPlan, ...]
