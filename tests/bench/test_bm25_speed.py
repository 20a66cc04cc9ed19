"""What `bm25` and `grep` cost beside a plain loop over rank-bm25. Run by `nox -s perf`; prints ratios."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rank_bm25 import BM25Okapi

from smriti.datasets import locomo, longmemeval, synthetic
from smriti.memory import bm25, grep
from smriti.protocols import MemorySystem
from smriti.types import Hit, Memory
from tests.shared import shared

ROWS = 25
"""Of about 48 sessions each; what is timed grows with the rows, so that a ratio needs no more of them."""

SPEEDUP_OF_ONE_QUERY = 4.0
SPEEDUP_OF_MANY_QUERIES = 2.0
"""Less, as most of the time is that of making the hits, which both have to make."""

Load = Sequence[tuple[Sequence[str], Sequence[str]]]
"""The texts of each corpus, and what is asked of them."""


def test_one_query_of_each_corpus_of_long_documents_costs_a_quarter_of_a_plain_rank_bm25_loop(tmp_path: Path) -> None:
    synthetic.write(tmp_path / "longmemeval.json", ROWS)
    reading = longmemeval.read(tmp_path / "longmemeval.json")
    load = [
        ([document.content for document in corpus.documents], [question.text for question in corpus.questions])
        for corpus in reading.corpora
    ]
    assert compared("longmemeval", load) >= SPEEDUP_OF_ONE_QUERY


def test_many_queries_of_each_corpus_of_short_documents_cost_half_of_a_plain_rank_bm25_loop() -> None:
    reading = locomo.read(shared("locomo10.json"), "turn")
    load = [
        ([document.content for document in corpus.documents], [question.text for question in corpus.questions])
        for corpus in reading.corpora[:3]
    ]
    assert compared("locomo, turns", load) >= SPEEDUP_OF_MANY_QUERIES


def compared(name: str, load: Load) -> float:
    """Return how many times faster `bm25` is than the plain loop, and print it."""
    plain_s = seconds(lambda: plain(load), 1)
    bm25_s = seconds(lambda: ranked(bm25.create(None), load), 3)
    grep_s = seconds(lambda: ranked(grep.create(None), load), 3)
    print(  # noqa: T201  # the figure is what this is for
        f"\n{name}: a plain rank-bm25 loop {plain_s:.2f} s; bm25 {bm25_s:.3f} s, {plain_s / bm25_s:.1f} × faster; "
        f"grep {grep_s:.3f} s, {plain_s / grep_s:.1f} × faster"
    )
    return plain_s / bm25_s


def seconds(work: Callable[[], object], times: int) -> float:
    """Return the processor time of the fastest of some runs."""
    took = []
    for _ in range(times):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def plain(load: Load) -> None:
    """Tokenise, score, sort and make the hits as people do who use rank-bm25."""
    for texts, queries in load:
        index = BM25Okapi([re.findall("[a-z0-9]+", text.lower()) for text in texts])
        for query in queries:
            scores = index.get_scores(re.findall("[a-z0-9]+", query.lower())).tolist()
            hits = [Hit(str(at), texts[at], score, (str(at),)) for at, score in enumerate(scores)]
            hits.sort(key=lambda hit: -hit.score)


def ranked(system: MemorySystem, load: Load) -> None:
    """Remember each corpus in a store of its own, and have every text back for every query."""
    for texts, queries in load:
        store = system.open(Path("unused"))
        store.remember(
            [
                Memory(content=text, type="episode", role="distractor", source_id=str(at))
                for at, text in enumerate(texts)
            ],
            "corpus",
        )
        for query in queries:
            store.search(query, "corpus", len(texts))
        store.close()
