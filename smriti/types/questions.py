"""Questions, and the corpora that they are asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a corpus, with its gold evidence. Systems see no more than `text`."""

    id: str
    text: str
    type: str
    date: str | None
    """As the set gives it; None where it gives none."""
    gold: tuple[str, ...]
    """Distinct source ids of the documents that hold the evidence; empty where nothing can be scored."""
    answerable: bool
    """False where the set says that the corpus holds no answer: such a question has null metrics."""
    groups: tuple[str, ...] = ("all",)
    """The groups of scores that the question counts in."""
    group_gold: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Group → gold, for the groups that are scored against other evidence than `gold`."""

    def gold_in(self, group: str) -> tuple[str, ...]:
        """Return the gold evidence that `group` is scored against."""
        return self.group_gold.get(group, self.gold)


@dataclass(frozen=True, slots=True)
class Document:
    """One memory of a corpus as systems see it: `source_id` says nothing about what is asked."""

    source_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is ingested at once, and the questions that are asked of it; `id` may be seen by systems."""

    id: str
    documents: Sequence[Document]
    """In the order of the set. May be read from disk on each iteration; its length is always at hand."""
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class DatasetReading:
    """A data set, wholly validated, and what was found in it."""

    corpora: Sequence[Corpus]
    counts: Mapping[str, int]
    """For the manifest: what the set holds, and what the reader decided about it."""
    flags: tuple[str, ...] = ()
    """What a reader of the scores must know first."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Group → the name to print for it, where that says more than the group's own."""
