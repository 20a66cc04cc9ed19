"""The coding-life fixture that ships: large enough, sound, and not solved by matching words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from rank_bm25 import BM25Okapi

from smriti.datasets.coding_life import UNANSWERABLE, folder, read
from smriti.types import Corpus

K = 5

Score = Callable[[list[str]], list[float]]
"""Scores every document for the tokens of a question."""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    (corpus,) = read(folder()).corpora
    return corpus


def stated(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))[name]
    return rows


def tokens(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower())


def by_grep(corpus: Corpus) -> Score:
    lowered = [document.content.lower() for document in corpus.documents]
    return lambda asked: [sum(token in content for token in set(asked)) for content in lowered]


def by_bm25(corpus: Corpus) -> Score:
    index = BM25Okapi([tokens(document.content) for document in corpus.documents])
    return lambda asked: list(index.get_scores(asked))


def recall_all(corpus: Corpus, score: Score, group: str = "all") -> float:
    """Return recall_all@5 over the answerable questions of a group; ties are in input order."""
    answerable = [question for question in corpus.questions if question.answerable and group in question.groups]
    found = 0
    for question in answerable:
        scores = score(tokens(question.text))
        ranked = sorted(range(len(scores)), key=lambda i: -scores[i])[:K]
        found += set(question.gold) <= {corpus.documents[i].source_id for i in ranked}
    return found / len(answerable)


def test_every_type_has_its_number_of_questions(corpus: Corpus) -> None:
    assert Counter(question.type for question in corpus.questions) == {
        "single-fact": 14,
        "preference": 12,
        "multi-session": 14,
        "temporal": 12,
        "update": 15,
        "negation": 13,
        "cross-project": 12,
        "paraphrase": 13,
        UNANSWERABLE: 11,
    }


def test_there_are_sessions_and_questions_enough_of_several_projects(corpus: Corpus) -> None:
    assert len(corpus.documents) >= 60
    assert len(corpus.questions) >= 80
    assert len({session["project"] for session in stated("sessions")}) >= 4


def test_ids_are_unique(corpus: Corpus) -> None:
    sessions = [document.source_id for document in corpus.documents]
    questions = [question.id for question in corpus.questions]
    for ids in (sessions, questions):
        assert len(set(ids)) == len(ids)


def test_gold_evidence_is_in_the_corpus_and_only_the_unanswerable_have_none(corpus: Corpus) -> None:
    sessions = {document.source_id for document in corpus.documents}
    for question in corpus.questions:
        assert set(question.gold) <= sessions
        assert question.answerable == bool(question.gold) == (question.type != UNANSWERABLE)


def test_an_answer_is_stated_just_where_there_is_one() -> None:
    assert all((question["answer"] is None) == (question["type"] == UNANSWERABLE) for question in stated("questions"))


def test_sessions_are_in_the_order_of_their_dates_and_questions_come_after_them() -> None:
    dates = [session["date"] for session in stated("sessions")]
    assert dates == sorted(dates)
    assert all(question["date"] > dates[-1] for question in stated("questions"))


def test_the_five_go_by_nicknames() -> None:
    speakers = {turn["speaker"] for session in stated("sessions") for turn in session["turns"]}
    assert speakers == {"Skipper", "Stoker", "Ranger", "Miller", "Steward"}


@pytest.mark.parametrize(("make", "bound"), [(by_grep, 0.75), (by_bm25, 0.9)])
def test_matching_words_does_not_solve_it(corpus: Corpus, make: Callable[[Corpus], Score], bound: float) -> None:
    assert 0.3 < recall_all(corpus, make(corpus)) < bound


def test_the_scores_of_its_readme_are_those_of_today(corpus: Corpus) -> None:
    readme = (folder() / "README.md").read_text(encoding="utf-8")
    counts = Counter(group for question in corpus.questions if question.answerable for group in question.groups)
    grep, bm25 = by_grep(corpus), by_bm25(corpus)
    for group, count in counts.items():
        scores = [f"{recall_all(corpus, score, group):.3f}" for score in (grep, bm25)]
        assert f"| {group} | {count} | {' | '.join(scores)} |" in readme
