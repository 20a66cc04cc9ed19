"""How a realm is asked: search, its compact form, the whole of a hit, and recall within a budget.

| layer | searched |
|---|---|
| none, or memories | memories of the realm and of no project, by the fusion of all lanes but xr |
| observations | observations of the realm and of no project, by BM25 |
| kw, sem, ctx, corr, hyb | this lane alone |
| xr | this lane alone: the one that returns what belongs to other projects |

A recall without a layer ranks memories and observations together, by BM25 over both. Everything that matches is
ranked, and then disclosed best first: a hit whose paragraph does not fit into what is left of the budget is left out,
and a smaller one behind it may still fit. A token is four characters of the text that is disclosed, rounded up.

| form | text |
|---|---|
| full | a paragraph a hit: `[type id] content` |
| compact | the same with contents of more than 80 characters cut to 80 and `…` |
| narrative | a heading and `- content` a line, and how many were left out if that fits as well; no ids |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from smriti.errors import MemorySystemError
from smriti.memory.embedded.journal import OBSERVATION, Journal
from smriti.memory.embedded.lanes import LANES, Question, bm25, recall, recall_from
from smriti.memory.embedded.store import Extent, MemoryFile, Recorded, UnknownIdError

MEMORIES = "memories"
OBSERVATIONS = "observations"
LAYERS = (MEMORIES, OBSERVATIONS, *LANES)

COMPACT_CHARACTERS = 80
CHARACTERS_A_TOKEN = 4
FORMS = ("full", "compact", "narrative")

_NARRATIVE_HEADING = "What is remembered of this, best first:"
_MOST = sys.maxsize


class Found(NamedTuple):
    """A memory or an observation, its score, and whether its content is shortened."""

    recorded: Recorded
    score: float
    cut: bool = False


class Disclosed(NamedTuple):
    """What a recall gave: `matched` hits were ranked, and `cut` of them left out for the budget."""

    hits: tuple[Found, ...]
    text: str
    matched: int
    cut: int


def search(memories: MemoryFile, query: str, realm: str, k: int, layer: str | None = None) -> list[Found]:
    """Return at most `k` of what a layer finds, best first; MemorySystemError for a layer that there is not."""
    if layer == OBSERVATIONS:
        return _by_words(memories, query, realm, memories_too=False)[: max(k, 0)]
    if layer in LANES:
        found = recall_from(layer, Question(memories, query, realm, k))
    elif layer in (None, MEMORIES):
        found = recall(Question(memories, query, realm, k, ablated=frozenset({"xr"})))
    else:
        raise MemorySystemError(
            f"layer {layer!r} is not a lane of the embedded memory nor one of its other layers; "
            f"its layers are {', '.join(LAYERS)}"
        )
    return [Found(memory, score) for memory, score, _ in found]


def compacted(found: Found) -> Found:
    """Return a hit with the beginning of its content alone, and `…` where it was cut."""
    content = found.recorded.content
    if len(content) <= COMPACT_CHARACTERS:
        return found
    return found._replace(recorded=found.recorded._replace(content=f"{content[:COMPACT_CHARACTERS]}…"), cut=True)


def expand(memories: MemoryFile, given: str) -> Recorded:
    """Return the memory or observation that has an id; UnknownIdError where nothing has."""
    found = memories.find(given) or Journal(memories).find(given)
    if found is None:
        raise UnknownIdError(f"no memory or observation has the id {given!r}; expected one that a search returned")
    return found


def recall_within(
    memories: MemoryFile, query: str, realm: str, *, form: str, budget: int, layer: str | None = None
) -> Disclosed:
    """Disclose what matches in at most `budget` tokens; MemorySystemError for a form or layer that there is not."""
    if form not in FORMS:
        raise MemorySystemError(f"form {form!r} is not one of {', '.join(FORMS)}")
    if layer is None:
        ranked = _by_words(memories, query, realm, memories_too=True)
    else:
        ranked = search(memories, query, realm, _MOST, layer)
    return _disclose(ranked if form != "compact" else list(map(compacted, ranked)), form, budget)


def tokens(text: str) -> int:
    """Count the tokens of a text by the one rule of this module."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _by_words(memories: MemoryFile, query: str, realm: str, *, memories_too: bool) -> list[Found]:
    """Rank observations that share a telling word with the query by BM25, alone or as one collection with memories."""
    journal = Journal(memories)
    asked = Question(memories, query, realm, _MOST).words
    with memories.snapshot():
        both = (memories, journal) if memories_too else (journal,)
        matching = [match for layer in both for match in layer.matching(asked, realm)]
        matches = bm25(asked, matching, _together([layer.extent(realm) for layer in both]))
        observed = [match.seq for match in matches if match.type == OBSERVATION]
        remembered = [match.seq for match in matches if match.type != OBSERVATION]
        observations = {found.seq: found for found in journal.recorded(observed)}
        current = {found.seq: found for found in memories.recorded(remembered)}
    return [
        Found((observations if match.type == OBSERVATION else current)[match.seq], match.score) for match in matches
    ]


def _together(extents: Sequence[Extent]) -> Extent:
    count = sum(extent.memories for extent in extents)
    all_words = sum(extent.memories * extent.mean_words for extent in extents)
    return Extent(count, all_words / count if count else 0.0)


def _disclose(ranked: Sequence[Found], form: str, budget: int) -> Disclosed:
    most = budget * CHARACTERS_A_TOKEN
    start, between, paragraph = _FORMED[form]
    text = ""
    hits: list[Found] = []
    for found in ranked:
        longer = f"{text or start}{between if text or start else ''}{paragraph(found.recorded)}"
        if len(longer) <= most:
            text = longer
            hits.append(found)
    cut = len(ranked) - len(hits)
    if form == "narrative" and cut:
        said = f"{text}{between if text else ''}({cut} more matched and {'was' if cut == 1 else 'were'} left out.)"
        text = said if len(said) <= most else text
    return Disclosed(tuple(hits), text, len(ranked), cut)


def _named(recorded: Recorded) -> str:
    return f"[{recorded.type} {recorded.id}] {recorded.content}"


def _told(recorded: Recorded) -> str:
    return f"- {recorded.content}"


_FORMED: dict[str, tuple[str, str, Callable[[Recorded], str]]] = {
    "full": ("", "\n\n", _named),
    "compact": ("", "\n\n", _named),
    "narrative": (_NARRATIVE_HEADING, "\n", _told),
}
