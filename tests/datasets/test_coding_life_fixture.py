"""The coding-life fixture that ships: large enough, sound, and not solved by matching words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from smriti.datasets.coding_life import UNANSWERABLE, folder, read
from smriti.memory import bm25, grep
from smriti.types import Corpus, Memory

K = 5


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    (corpus,) = read(folder()).corpora
    return corpus


def stated(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((folder() / f"{name}.json").read_text(encoding="utf-8"))[name]
    return rows


Recall = Callable[[str], float]
"""recall_all@5 of one system over the answerable questions of a group."""


@pytest.fixture(scope="module")
def recalls(corpus: Corpus) -> dict[str, Recall]:
    """Ask every question of `grep` and of `bm25`, each in a store of its own."""
    found: dict[str, Recall] = {}
    for system in (grep.create(None), bm25.create(None)):
        store = system.open(Path("unused"))
        store.remember(
            [
                Memory(content=document.content, type="episode", role="convention", source_id=document.source_id)
                for document in corpus.documents
            ],
            "project:coding-life",
        )
        whole = {
            question.id: {
                hit.source_ids[0] for hit in store.search(question.text, "project:coding-life", K)
            }.issuperset(question.gold)
            for question in corpus.questions
            if question.answerable
        }
        found[system.name] = partial(mean_of, corpus, whole)
    return found


def mean_of(corpus: Corpus, whole: dict[str, bool], group: str) -> float:
    members = [whole[question.id] for question in corpus.questions if question.answerable and group in question.groups]
    return sum(members) / len(members)


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


@pytest.mark.parametrize(("system", "bound"), [("grep", 0.75), ("bm25", 0.9)])
def test_matching_words_does_not_solve_it(recalls: dict[str, Recall], system: str, bound: float) -> None:
    assert 0.3 < recalls[system]("all") < bound


def test_the_scores_of_its_readme_are_those_of_today(corpus: Corpus, recalls: dict[str, Recall]) -> None:
    readme = (folder() / "README.md").read_text(encoding="utf-8")
    counts = Counter(group for question in corpus.questions if question.answerable for group in question.groups)
    for group, count in counts.items():
        scores = [f"{recalls[system](group):.3f}" for system in ("grep", "bm25")]
        assert f"| {group} | {count} | {' | '.join(scores)} |" in readme
