"""A run is laid out corpus by corpus, and only what the receipt does not hold yet is asked."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from smriti import registry
from smriti.datasets import longmemeval, prepared, synthetic
from smriti.protocols import MemorySystem
from smriti.receipts.writer import manifest_digest, stated
from smriti.score.retrieval import RetrievalScoring
from smriti.suites.retrieval import RetrievalSuite
from smriti.suites.retrieval.attempt import Answer, Answers, Asked, Attempts, Step, lost
from smriti.types import Corpus, Document
from tests.suites.retrieval.fakes import Remembering, System, corpus, no_files, nobodys, plan, question

CORPORA = [corpus("c1", question("q1"), question("q2")), corpus("c2", question("q3")), corpus("c3", question("q4"))]
SYSTEMS = ["one", "two"]


@pytest.fixture(autouse=True)
def _cache_of_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "cache"))


def load(name: str) -> MemorySystem:
    return System(lambda _: Remembering(), name)


def suite(corpora: Sequence[Corpus] = CORPORA, systems: Sequence[str] = SYSTEMS) -> RetrievalSuite:
    return RetrievalSuite(plan(systems, corpora, [1, 5]), corpora, load, nobodys)


def test_a_step_is_a_corpus_and_a_system_with_the_questions_that_it_is_asked() -> None:
    steps = suite().steps(())
    assert [(step.system, step.corpus) for step in steps] == [
        (system, corpus) for system in SYSTEMS for corpus in ("c1", "c2", "c3")
    ]
    assert steps[3].questions == (Asked("q1", "q1?"), Asked("q2", "q2?"))
    assert steps[3].documents == CORPORA[0].documents
    assert [f"{step.system}/{asked.id}" for step in steps for asked in step.questions] == [
        case.id for case in RetrievalScoring(suite().manifest).plan()
    ]


def test_what_is_done_is_not_asked_again_and_keeps_its_place_in_the_order() -> None:
    opened = suite()
    steps = opened.steps({"one/q1", "two/q3", "one/q3", "nobody/q9"})
    assert [(step.corpus, step.system, [asked.id for asked in step.questions]) for step in steps] == [
        ("c1", "one", ["q2"]),
        ("c3", "one", ["q4"]),
        ("c1", "two", ["q1", "q2"]),
        ("c3", "two", ["q4"]),
    ]
    rows = [row for step in steps for row in opened.evidence(opened.work(no_files)(step))]
    assert [(row.case, row.order) for row in rows] == [
        ("one/q2", 1), ("one/q4", 3), ("two/q1", 4), ("two/q2", 5), ("two/q4", 7),
    ]  # fmt: skip


def test_when_all_is_done_no_step_is_left() -> None:
    assert suite().steps({case.id for case in RetrievalScoring(suite().manifest).plan()}) == []


def test_what_is_left_comes_from_the_manifest_and_not_from_more_corpora_that_were_read() -> None:
    steps = RetrievalSuite(plan(SYSTEMS, CORPORA[:1]), CORPORA, load, nobodys).steps(())
    assert {step.corpus for step in steps} == {"c1"}


def test_the_work_gives_a_row_for_each_case_of_the_plan_in_its_order() -> None:
    opened = suite()
    work = opened.work(no_files)
    rows = [row for step in opened.steps(()) for row in opened.evidence(work(step))]
    cases = RetrievalScoring(suite().manifest).plan()
    assert [(row.case, row.order, row.corpus) for row in rows] == [(case.id, case.order, case.corpus) for case in cases]
    assert {row.run_id for row in rows} == {"run"}
    assert {row.manifest_sha256 for row in rows} == {manifest_digest(suite().manifest)}


def test_the_digest_is_that_of_the_manifest_as_it_is_written() -> None:
    opened = suite()
    (row, *_) = opened.evidence(lost(opened.steps(())[0]))
    assert row.manifest_sha256 == hashlib.sha256(stated(opened.manifest)).hexdigest()


def test_the_evidence_reaches_as_far_as_the_largest_k() -> None:
    assert suite().work(no_files).widest == 5


def test_what_attempts_can_be_sent_to_another_process() -> None:
    opened = RetrievalSuite(plan(["grep"], CORPORA[1:2]), CORPORA, registry_load, nobodys)
    work = pickle.loads(pickle.dumps(opened.work(no_files)))
    (step,) = opened.steps(())
    result = pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(step)))))
    (row,) = opened.evidence(result)
    assert (row.case, row.fault) == ("grep/q3", None)


def registry_load(name: str) -> MemorySystem:
    found: MemorySystem = registry.load("memory", name)
    return found


def test_closing_has_nothing_to_do_and_may_be_done_at_any_time() -> None:
    opened = suite()
    opened.close()
    assert opened.steps(())


@pytest.mark.parametrize("corpora", [CORPORA, CORPORA[::-1]])
def test_corpora_come_in_the_order_in_which_they_were_given(corpora: list[Corpus]) -> None:
    assert [step.corpus for step in suite(corpora, ["one"]).steps(())] == [corpus.id for corpus in corpora]


# What goes to where a memory system runs

TELLTALE = question(
    "q1",
    ["GOLD"],
    text="what was said?",
    type="TYPE",
    date="DATE",
    groups=("GROUP", "all"),
    group_gold={"GROUP": ("OTHER",)},
    answerable=True,
)


def test_what_is_sent_of_a_step_has_just_the_documents_and_the_id_and_text_of_each_question() -> None:
    """By its structure, since gold is named by ids of documents: there is no field in which it could lie."""
    assert [field.name for field in fields(Asked)] == ["id", "text"]
    assert [field.name for field in fields(Step)] == ["corpus", "documents", "system", "questions", "own"]
    assert [field.name for field in fields(Document)] == ["source_id", "content"]
    assert [field.name for field in fields(Attempts)] == ["widest", "load"]
    telltale = corpus("c1", TELLTALE, documents=("a", "b"))
    (step,) = suite([telltale], ["one"]).steps(())
    written = pickle.dumps(step)
    for secret in ("GOLD", "OTHER", "TYPE", "DATE", "GROUP"):
        assert secret.encode() not in written
        assert secret.encode() in pickle.dumps(telltale), "or else this would say nothing"
    assert made_of(step) == {Step, Asked, Document, tuple, str, bool}


def test_what_is_sent_of_a_step_is_the_same_whatever_its_gold_is() -> None:
    """All of what attempts it, too."""
    written = set()
    for gold in (["a"], ["h", "g"], []):
        other = suite([corpus("c1", question("q1", gold, type=f"of {len(gold)}", answerable=bool(gold)))], ["grep"])
        (step,) = other.steps(())
        work = Attempts(other.work(no_files).widest, registry_load)
        written.add((pickle.dumps(step), pickle.dumps(work)))
    assert len(written) == 1


@pytest.mark.parametrize("source", ["validated", "prepared"])
def test_of_a_file_of_longmemeval_no_label_and_no_answer_is_sent(tmp_path: Path, source: str) -> None:
    """Nor is where it stands: the documents themselves are, to all but a system that comes with smriti."""
    path = tmp_path / "some.json"
    rows = [row | {"answer": "ANSWER"} for row in synthetic.make_rows(3, seed=3)]
    path.write_text(json.dumps(rows))
    state = longmemeval.FileState.of(path)
    if source == "prepared":
        read = [prepared.read(path, hashlib.sha256(path.read_bytes()).hexdigest(), state) for _ in range(2)]
        assert read[-1].origin == "index"
        corpora = read[-1].reading.corpora
    else:
        corpora = longmemeval.read(path).corpora
    for row, step in zip(rows, suite(corpora, ["one"]).steps(()), strict=True):
        written = pickle.dumps(step)
        secrets = ("ANSWER", "has_answer", "answer_", row["question_type"], str(path), *row["answer_session_ids"])
        for secret in secrets:
            assert secret.encode() not in written
        there = pickle.loads(written)
        assert made_of(there) == {Step, Asked, Document, tuple, str, bool}
        assert there.documents == tuple(step.documents)
        assert len(there.documents) == len(set(row["haystack_session_ids"]))


def made_of(value: object) -> set[type]:
    """Return the types of all that a value consists of."""
    inner: Iterable[object] = ()
    if isinstance(value, Step | Asked | Document):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, tuple):
        inner = value
    return {type(value)}.union(*map(made_of, inner))


# What a step brought


def test_gold_is_ranked_here_among_all_that_a_step_brought() -> None:
    asked = question("q1", ["a", "h", "c"], group_gold={"plain": ("b", "x")})
    opened = suite([corpus("c1", asked)], ["one"])
    answer = Answer("q1", returned=3, ranked=("c", "f", "b", "a"), query_ms=2.0)
    (row,) = opened.evidence(Answers("c1", "one", 1.0, (answer,)))
    assert (row.gold, row.group_gold) == (("a", "h", "c"), {"plain": ("b", "x")})
    assert row.gold_ranks == {"a": 4, "b": 3, "c": 1}
    assert (row.returned, row.ingest_ms, row.query_ms, row.fault) == (3, 1.0, 2.0, None)


def test_a_step_that_ended_its_process_is_a_failure_of_each_of_its_questions() -> None:
    opened = suite()
    step = opened.steps({"two/q1"})[3]
    assert (step.system, step.corpus, len(step.questions)) == ("two", "c1", 1)
    rows = [row for step in opened.steps(()) for row in opened.evidence(lost(step))]
    assert [row.case for row in rows] == [case.id for case in RetrievalScoring(opened.manifest).plan()]
    for row in rows:
        assert row.fault is not None
        assert row.fault.phase == "process"
        assert (row.hits, row.returned, row.gold_ranks, row.ingest_ms, row.query_ms) == ((), 0, {}, None, None)
        assert row.gold == ("a",)
