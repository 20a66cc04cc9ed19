"""bm25 on the real LoCoMo, by the suite itself, has the figures that were measured apart from it.

The figures are of the same file under the same rules: rank_bm25 Okapi 0.2.2, documents `speaker: text`, tokens
`[a-z0-9]+` in lower case, stable ties, strict evidence.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest

from smriti import registry
from smriti.datasets import locomo
from smriti.datasets.locomo import Granularity
from smriti.score.retrieval import RetrievalScoring
from smriti.types import Corpus, Question, QuestionEvidence, Score
from tests.shared import shared
from tests.suites.retrieval.fakes import attempt, plan

K = (5, 10)
STRICT = {"all": 1973, "default": 1527}
"""Questions with strict evidence in all five categories, and in those that make up `all` where nothing else is said."""

ANCHORS = {
    ("turn", "all"): {
        "recall@5": 0.4530,
        "recall@10": 0.5335,
        "hit@5": 0.4911,
        "recall_all@5": 0.4237,
        "ndcg@10": 0.3930,
        "mrr": 0.3742,
    },
    ("session", "all"): {
        "recall@5": 0.8254,
        "recall@10": 0.9035,
        "hit@5": 0.8753,
        "recall_all@5": 0.7795,
        "ndcg@10": 0.7607,
        "mrr": 0.7368,
    },
    ("turn", "default"): {"recall@5": 0.4372, "recall@10": 0.5178},
    ("session", "default"): {"recall@5": 0.8006, "recall@10": 0.8864},
}


def read(granularity: str, categories: str) -> tuple[Corpus, ...]:
    chosen = tuple(locomo.CATEGORIES) if categories == "all" else None
    reading = locomo.read(shared("locomo10.json"), cast("Granularity", granularity), chosen)
    return tuple(reading.corpora)


@cache
def asked(granularity: str) -> dict[str, QuestionEvidence]:
    """Ask every question of the file once; which of them make up `all` changes nothing of what is returned."""
    corpora = read(granularity, "all")
    return {row.question: row for row in attempt({"bm25": registry.load("memory", "bm25")}, corpora, K)}


def scores(granularity: str, categories: str) -> dict[str, Score]:
    """Score what was returned with the groups and the gold of this reading."""
    corpora = read(granularity, categories)
    rows, questions = asked(granularity), {question.id: question for of in corpora for question in of.questions}
    assert rows.keys() == questions.keys()
    scoring = RetrievalScoring(plan(["bm25"], corpora, K))
    records = [scoring.record(regrouped(rows[name], questions[name]), "0" * 64) for name in questions]
    assert all(record.status == "completed" for record in records)
    return {score.metric: score for score in scoring.scores(records) if score.group == "all"}


def regrouped(row: QuestionEvidence, question: Question) -> QuestionEvidence:
    assert row.gold == question.gold
    return row.model_copy(update={"groups": question.groups, "group_gold": {}})


@pytest.mark.parametrize(("granularity", "categories"), ANCHORS)
def test_bm25_on_locomo_has_the_figures_that_were_measured_apart(granularity: str, categories: str) -> None:
    found = scores(granularity, categories)
    for metric, expected in ANCHORS[granularity, categories].items():
        assert found[metric].n == STRICT[categories]
        assert found[metric].value == pytest.approx(expected, abs=0.0005), metric
