"""The six retrieval lanes, and the one fusion of what they return.

| lane | returns |
|---|---|
| kw | memories of the realm that share a telling word with the query, by BM25 |
| sem | memories of the realm whose vector is near the query's (cosine at least 0.1), by cosine |
| ctx | the ten best by BM25, with statements of one fact side by side and the newest of them first |
| corr | corrections that share at least half as many telling words as the memory that shares most, at most two |
| hyb | kw and sem fused by reciprocal rank; of those two, an ablated one is not asked and takes no part |
| xr | memories of other realms that share two telling words with the query (one, if it has one), by BM25, at most two |

A memory of no project, whose realm is "", counts as one of every realm. Superseded memories are in none. FTS5 finds the
memories that hold a word; BM25 is then counted over the realm alone (for xr, over all others) and not over the whole
table, as FTS5's own bm25() does: what a realm returns must not depend on what its neighbours hold.

Two memories are taken for statements of one fact when their vectors have a cosine of at least 0.45 and the worse match
is at least 0.4 times as good as the better. In ctx both carry the better one's score: which of the two is more like the
query says nothing of which still holds.

The fusion: a memory's score is the sum over the lanes of 1 / (60 + rank) (reciprocal rank fusion: Cormack, Clarke and
Büttcher 2009, https://doi.org/10.1145/1571941.1572114). Then memories of one score in ctx, which are statements of one
fact, change places among themselves until the newest is first; nothing else is moved by its age. Last, what corr
returned goes ahead of all else, and what xr returned behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from math import log
from typing import NamedTuple

from smriti.memory.embedded.store import Extent, Matching, MemoryFile, Recorded
from smriti.memory.embedded.vector import cosine, unpack, vectorise
from smriti.memory.embedded.words import telling, words

_BM25_K1 = 1.2
_BM25_B = 0.75
_RRF_K = 60
_LEAST_DEPTH = 20
_MAX_QUERY_WORDS = 2_000
_SEM_FLOOR = 0.1
_CTX_COUNT = 10
_ONE_FACT_COSINE = 0.45
_ONE_FACT_FLOOR = 0.4
_CORR_COUNT = 2
_XR_COUNT = 2


class Ranked(NamedTuple):
    """A memory's number and its score in one lane."""

    seq: int
    score: float


class Recalled(NamedTuple):
    """A memory as the fusion ranks it: `score` falls from first to last, `lanes` are those that returned it."""

    memory: Recorded
    score: float
    lanes: tuple[str, ...]


class Match(NamedTuple):
    """A memory that shares words with the query: its BM25 score, and how many distinct ones it shares."""

    seq: int
    type: str
    score: float
    shared: int


def recall(question: Question) -> list[Recalled]:
    """Ask every lane that is not ablated and return the best of their fusion, best first."""
    with question.memories.snapshot():
        answers = {lane: question.ask(lane) for lane in LANES}
        scores = dict(fuse(answers)[: question.k])
        memories = question.memories.recorded(list(scores))
    held = {lane: {hit.seq for hit in answer} for lane, answer in answers.items()}
    return [
        Recalled(memory, scores[memory.seq], tuple(lane for lane, seqs in held.items() if memory.seq in seqs))
        for memory in memories
    ]


def recall_from(lane: str, question: Question) -> list[Recalled]:
    """Ask `lane` alone and return its best, with the lane's own scores."""
    with question.memories.snapshot():
        scores = dict(question.ask(lane)[: question.k])
        memories = question.memories.recorded(list(scores))
    return [Recalled(memory, scores[memory.seq], (lane,)) for memory in memories]


def fuse(answers: Mapping[str, Sequence[Ranked]]) -> list[Ranked]:
    """Fuse the lanes' lists as this module's text says, best first; equal scores stand oldest first.

    So that scores fall from first to last, what corr returned has 1 added, and what xr returned has 1 taken off.
    """
    sums: dict[int, float] = {}
    for answer in answers.values():
        for rank, hit in enumerate(answer, start=1):
            sums[hit.seq] = sums.get(hit.seq, 0.0) + 1 / (_RRF_K + rank)
    places = _best_first([Ranked(seq, score) for seq, score in sums.items()])
    seqs = _newer_statements_first([place.seq for place in places], answers.get("ctx", ()))
    scores = {seq: place.score for seq, place in zip(seqs, places, strict=True)}
    for lane, shift in (("corr", 1.0), ("xr", -1.0)):
        for hit in answers.get(lane, ()):
            scores[hit.seq] += shift
    return _best_first([Ranked(seq, score) for seq, score in scores.items()])


def _newer_statements_first(seqs: list[int], ctx: Sequence[Ranked]) -> list[int]:
    """Put the memories of each score in `ctx` into its order, in the places that they hold in `seqs`."""
    ordered = list(seqs)
    for _, group in groupby(ctx, key=lambda hit: hit.score):
        members = [hit.seq for hit in group]
        for place, seq in zip(sorted(map(seqs.index, members)), members, strict=True):
            ordered[place] = seq
    return ordered


class Question:
    """What is asked of the lanes: the `k` best for a query in a realm, by the lanes that are not ablated.

    A lane returns at most `depth` memories. Of a query, the first 2,000 telling words count.
    """

    def __init__(
        self, memories: MemoryFile, query: str, realm: str, k: int, ablated: frozenset[str] = frozenset()
    ) -> None:
        self.memories = memories
        self.realm = realm
        self.k = max(k, 0)
        self.depth = max(k, _LEAST_DEPTH)
        self.ablated = ablated
        self.words = telling(words(query))[:_MAX_QUERY_WORDS]
        self._answers: dict[str, list[Ranked]] = {}

    def ask(self, lane: str) -> list[Ranked]:
        """Return what `lane` answers, best first; it is called once, and an ablated one never."""
        if lane in self.ablated:
            return []
        if lane not in self._answers:
            self._answers[lane] = LANES[lane](self)
        return self._answers[lane]

    @cached_property
    def matches(self) -> list[Match]:
        """The memories of the realm that share a word with the query, best first by BM25."""
        return bm25(self.words, self.memories.matching(self.words, self.realm), self.memories.extent(self.realm))


def bm25(query_words: Sequence[str], matching: Sequence[Matching], extent: Extent) -> list[Match]:
    """Rank memories by BM25 (Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019), equal ones oldest first.

    k1 = 1.2, b = 0.75. The inverse document frequency is log(1 + N / n), since the usual one, made for large
    collections, takes a word that both of two memories hold for nearly worthless. `matching` are all memories of a
    collection that hold a query word, so n is counted on them; `extent` is the whole collection's.
    """
    counted = [(memory, Counter(memory.words)) for memory in matching]
    holding = Counter(word for _, counts in counted for word in query_words if word in counts)
    rarity = {word: log(1 + extent.memories / n) for word, n in holding.items()}
    matches = []
    for memory, counts in counted:
        shared = [word for word in rarity if word in counts]
        damping = _BM25_K1 * (1 - _BM25_B + _BM25_B * len(memory.words) / extent.mean_words)
        score = sum(rarity[word] * counts[word] * (_BM25_K1 + 1) / (counts[word] + damping) for word in shared)
        matches.append(Match(memory.seq, memory.type, score, len(shared)))
    return sorted(matches, key=lambda match: (-match.score, match.seq))


def _kw(question: Question) -> list[Ranked]:
    return _ranked(question.matches[: question.depth])


def _sem(question: Question) -> list[Ranked]:
    vector = vectorise(question.words)
    near = [Ranked(seq, cosine(vector, packed)) for seq, packed in question.memories.vectors(question.realm)]
    return _best_first([hit for hit in near if hit.score >= _SEM_FLOOR])[: question.depth]


def _ctx(question: Question) -> list[Ranked]:
    left = question.matches[:_CTX_COUNT]
    vectors = question.memories.vectors(question.realm, [match.seq for match in left])
    packed = dict(vectors)
    ranked: list[Ranked] = []
    while left:
        best = left[0]
        vector = unpack(packed[best.seq])
        one_fact = [
            match
            for match in left
            if match.score >= _ONE_FACT_FLOOR * best.score and cosine(vector, packed[match.seq]) >= _ONE_FACT_COSINE
        ]
        ranked += [Ranked(match.seq, best.score) for match in sorted(one_fact, key=lambda match: -match.seq)]
        left = [match for match in left if match not in one_fact]
    return ranked


def _corr(question: Question) -> list[Ranked]:
    most = max((match.shared for match in question.matches), default=0)
    corrections = [match for match in question.matches if match.type == "correction" and match.shared >= most / 2]
    return _ranked(corrections[:_CORR_COUNT])


def _hyb(question: Question) -> list[Ranked]:
    return fuse({lane: question.ask(lane) for lane in ("kw", "sem")})[: question.depth]


def _xr(question: Question) -> list[Ranked]:
    matching = question.memories.matching(question.words, question.realm, elsewhere=True)
    matches = bm25(question.words, matching, question.memories.extent(question.realm, elsewhere=True))
    return _ranked([match for match in matches if match.shared >= min(2, len(question.words))][:_XR_COUNT])


LANES: dict[str, Callable[[Question], list[Ranked]]] = {
    "kw": _kw,
    "sem": _sem,
    "ctx": _ctx,
    "corr": _corr,
    "hyb": _hyb,
    "xr": _xr,
}


def _ranked(matches: Sequence[Match]) -> list[Ranked]:
    return [Ranked(match.seq, match.score) for match in matches]


def _best_first(hits: Sequence[Ranked]) -> list[Ranked]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.seq))
