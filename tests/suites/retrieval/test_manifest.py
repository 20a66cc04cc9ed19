"""Which questions a run asks, and what it states of itself before it asks any."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti import registry
from smriti.errors import UsageError
from smriti.protocols import MemorySystem
from smriti.receipts.questions import QuestionRules
from smriti.suites.retrieval import manifest as module
from smriti.suites.retrieval.manifest import Chosen, retrieval_manifest, select
from smriti.types import CodeIdentity, Corpus, CorpusPlan, DatasetReading, RetrievalConfig, RetrievalManifest
from tests.suites.retrieval.fakes import corpus, question

GREP: MemorySystem = registry.load("memory", "grep")
BM25: MemorySystem = registry.load("memory", "bm25")
CLEAN = CodeIdentity(version="1", commit="c" * 40, dirty=False, sha256="0" * 64)


def typed(*types: str, corpus_id: str = "c1") -> Corpus:
    """Make a corpus with a question of each of these types, named after its place."""
    return corpus(corpus_id, *(question(f"{corpus_id}/{n}", type=name) for n, name in enumerate(types)))


def asked(chosen: Chosen) -> list[str]:
    return [question.id for corpus in chosen.corpora for question in corpus.questions]


CORPORA = [typed("b", "a", "b", corpus_id="c1"), typed("c", "b", "a", corpus_id="c2"), typed("a", corpus_id="c3")]


def test_without_a_selection_every_question_is_asked_in_the_order_of_the_set() -> None:
    chosen = select(CORPORA, None, None)
    assert list(chosen.corpora) == CORPORA
    assert (chosen.selected, chosen.of) == (7, 7)


def test_a_limit_takes_the_first_questions_and_no_corpus_without_any() -> None:
    chosen = select(CORPORA, None, 4)
    assert asked(chosen) == ["c1/0", "c1/1", "c1/2", "c2/0"]
    assert [corpus.id for corpus in chosen.corpora] == ["c1", "c2"]
    assert (chosen.selected, chosen.of) == (4, 7)


def test_stratified_are_the_first_of_each_type_with_types_in_sorted_order() -> None:
    """Type a comes first, and so does the corpus of its first question; within a corpus, too, types are in order."""
    chosen = select(CORPORA, 1, None)
    assert [[question.id for question in corpus.questions] for corpus in chosen.corpora] == [["c1/1", "c1/0"], ["c2/0"]]
    chosen = select(CORPORA, 2, None)
    assert [(c.id, [q.id for q in c.questions]) for c in chosen.corpora] == [
        ("c1", ["c1/1", "c1/0", "c1/2"]),
        ("c2", ["c2/2", "c2/0"]),
    ]
    assert (chosen.selected, chosen.of) == (5, 7)


def test_the_limit_is_taken_of_what_is_stratified() -> None:
    assert asked(select(CORPORA, 2, 3)) == ["c1/1", "c1/0", "c2/2"]
    assert [question.type for c in select(CORPORA, 2, 3).corpora for question in c.questions] == ["a", "b", "a"]


def test_a_corpus_keeps_its_id_and_all_of_its_documents_whatever_is_asked_of_it() -> None:
    for chosen in (select(CORPORA, None, 1), select(CORPORA, 1, 1)):
        (taken,) = chosen.corpora
        assert (taken.id, taken.documents) == ("c1", CORPORA[0].documents)


def test_a_corpus_of_which_nothing_is_asked_is_not_remembered_at_all() -> None:
    assert select([Corpus("empty", CORPORA[0].documents, ())], None, None) == Chosen((), 0, 0)


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 12),
)
def test_a_selection_is_what_it_says_for_any_set(
    types: list[list[str]], stratify: int | None, limit: int | None
) -> None:
    corpora = [typed(*own, corpus_id=f"c{n}") for n, own in enumerate(types) if own]
    every = [question for corpus in corpora for question in corpus.questions]
    chosen = select(corpora, stratify, limit)
    taken = [question for corpus in chosen.corpora for question in corpus.questions]
    assert (chosen.selected, chosen.of) == (len(taken), len(every))
    by_type = [[question for question in every if question.type == name] for name in "abc"]
    expected = every if stratify is None else [question for own in by_type for question in own[:stratify]]
    assert {question.id for question in taken} == {question.id for question in expected[:limit]}
    assert len({corpus.id for corpus in chosen.corpora}) == len(chosen.corpora)


# The manifest


def stated(chosen: Chosen | None = None, **fields: Any) -> RetrievalManifest:
    config = RetrievalConfig(memory=("grep", "bm25"), k=(1, 5), options={"granularity": "turn"})
    reading = DatasetReading(
        CORPORA, counts={"questions": 7}, flags=("synthetic: made",), labels={"category-1": "1 multi-hop"}
    )
    usual: dict[str, Any] = {
        "systems": [GREP, BM25],
        "datasets": {"locomo10": "5" * 64},
        "whole": True,
        "artifacts": {"grep.py": "1" * 64},
        "engine": "processes",
        "jobs": 2,
    }
    config = fields.pop("config", config)
    return retrieval_manifest("locomo", config, chosen or select(CORPORA, None, None), reading, **{**usual, **fields})


def test_a_manifest_says_what_is_asked_of_whom_and_of_how_much() -> None:
    made = stated(select(CORPORA, None, 4))
    assert made.suite == "locomo"
    assert made.selection == {"stratify": None, "limit": None, "selected": 4, "of": 7}
    assert made.planned == 8
    assert made.corpora == (
        CorpusPlan(id="c1", documents=8, questions=("c1/0", "c1/1", "c1/2")),
        CorpusPlan(id="c2", documents=8, questions=("c2/0",)),
    )
    assert made.systems == (GREP.identity(), BM25.identity())
    assert (made.counts, made.notes, made.labels) == (
        {"questions": 7},
        ("synthetic: made",),
        {"category-1": "1 multi-hop"},
    )
    assert (made.artifacts, made.datasets) == ({"grep.py": "1" * 64}, {"locomo10": "5" * 64})
    assert (made.engine, made.jobs, made.sandbox, made.seed) == ("processes", 2, "none", 0)
    assert made.config.options == {"granularity": "turn"}
    assert datetime.fromisoformat(made.started).tzinfo is not None
    assert RetrievalManifest.model_validate_json(made.model_dump_json(by_alias=True)) == made


def test_the_flags_of_the_selection_are_stated_as_they_were_given() -> None:
    config = RetrievalConfig(memory=("grep",), k=(5,), stratify=2, limit=3, options={})
    made = stated(select(CORPORA, 2, 3), config=config, systems=[GREP])
    assert made.selection == {"stratify": 2, "limit": 3, "selected": 3, "of": 7}


def test_two_runs_of_one_second_have_different_ids() -> None:
    assert stated().run_id != stated().run_id


@pytest.mark.parametrize("chosen", [select([], None, None), select(CORPORA, None, 0)])
def test_a_run_without_a_question_is_refused(chosen: Chosen) -> None:
    with pytest.raises(UsageError, match="no question is selected; give a larger --limit or other categories"):
        stated(chosen)


@pytest.mark.parametrize(
    ("code", "selection", "whole", "expected"),
    [
        (CLEAN, None, True, "component"),
        (CLEAN, None, False, "development"),
        (CLEAN, 6, True, "development"),
        (CLEAN.model_copy(update={"dirty": True}), None, True, "development"),
        (CLEAN.model_copy(update={"dirty": None}), None, True, "development"),
        (CLEAN.model_copy(update={"commit": None}), None, True, "development"),
    ],
)
def test_only_the_whole_of_a_pinned_set_by_clean_code_is_a_component_measured(
    monkeypatch: pytest.MonkeyPatch, code: CodeIdentity, selection: int | None, whole: bool, expected: str
) -> None:
    monkeypatch.setattr(module, "code_identity", lambda: code)
    made = stated(select(CORPORA, None, selection), whole=whole)
    assert (made.evidence_class, made.code) == (expected, code)


@pytest.mark.parametrize("flag", ["stratify", "limit"])
def test_a_selection_is_development_even_where_it_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    """As verify has it, which would refuse a receipt that says anything else."""
    monkeypatch.setattr(module, "code_identity", lambda: CLEAN)
    config = RetrievalConfig(memory=("grep",), k=(5,), options={}, **{flag: 7})
    chosen = select(CORPORA, config.stratify, config.limit)
    assert chosen.selected == chosen.of
    made = stated(chosen, config=config, systems=[GREP])
    assert made.evidence_class == "development"
    assert QuestionRules(made).evidence_class().ok
