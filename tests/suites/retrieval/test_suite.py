"""A run is laid out corpus by corpus, and only what the receipt does not hold yet is asked."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Sequence
from typing import Literal, NoReturn

import pytest

from smriti import registry
from smriti.protocols import MemorySystem
from smriti.receipts.writer import manifest_digest, stated
from smriti.score.retrieval import RetrievalScoring
from smriti.suites.retrieval import RetrievalSuite
from smriti.suites.retrieval.attempt import Attempts
from smriti.types import Corpus
from tests.suites.retrieval.fakes import Remembering, System, corpus, plan, question

CORPORA = [corpus("c1", question("q1"), question("q2")), corpus("c2", question("q3")), corpus("c3", question("q4"))]
SYSTEMS = ["one", "two"]


def no_files(kind: Literal["transcripts", "diffs", "checks"], content: bytes) -> NoReturn:
    del kind, content
    raise AssertionError("nothing of a question is kept in a file")


def load(name: str) -> MemorySystem:
    return System(lambda _: Remembering(), name)


def suite(corpora: Sequence[Corpus] = CORPORA, systems: Sequence[str] = SYSTEMS) -> RetrievalSuite:
    return RetrievalSuite(plan(systems, corpora, [1, 5]), corpora, load)


def test_a_step_is_a_corpus_and_a_system_with_the_questions_that_it_is_asked() -> None:
    steps = suite().steps(())
    assert [(step.corpus.id, step.system) for step in steps] == [
        (corpus, system) for corpus in ("c1", "c2", "c3") for system in SYSTEMS
    ]
    assert [case.id for case in steps[1].cases] == ["two/q1", "two/q2"]
    assert [case.order for step in steps for case in step.cases] == list(range(8))


def test_what_is_done_is_not_asked_again_and_keeps_its_place_in_the_order() -> None:
    steps = suite().steps({"one/q1", "two/q3", "one/q3", "nobody/q9"})
    assert [(step.corpus.id, [(case.id, case.order) for case in step.cases]) for step in steps] == [
        ("c1", [("one/q2", 1)]),
        ("c1", [("two/q1", 2), ("two/q2", 3)]),
        ("c3", [("one/q4", 6)]),
        ("c3", [("two/q4", 7)]),
    ]


def test_when_all_is_done_no_step_is_left() -> None:
    assert suite().steps({case.id for case in RetrievalScoring(suite().manifest).plan()}) == []


def test_what_is_left_comes_from_the_manifest_and_not_from_more_corpora_that_were_read() -> None:
    steps = RetrievalSuite(plan(SYSTEMS, CORPORA[:1]), CORPORA, load).steps(())
    assert {step.corpus.id for step in steps} == {"c1"}


def test_the_work_gives_a_row_for_each_case_of_the_plan_in_its_order() -> None:
    work = suite().work(no_files)
    rows = [row for step in suite().steps(()) for row in work(step)]
    cases = RetrievalScoring(suite().manifest).plan()
    assert [(row.case, row.order, row.corpus) for row in rows] == [(case.id, case.order, case.corpus) for case in cases]
    assert {row.run_id for row in rows} == {"run"}
    assert {row.manifest_sha256 for row in rows} == {manifest_digest(suite().manifest)}


def test_the_digest_is_that_of_the_manifest_as_it_is_written() -> None:
    work = suite().work(no_files)
    assert work.manifest_sha256 == hashlib.sha256(stated(suite().manifest)).hexdigest()


def test_the_evidence_reaches_as_far_as_the_largest_k() -> None:
    assert suite().work(no_files).widest == 5


def test_what_attempts_can_be_sent_to_another_process() -> None:
    made = Attempts("run", "0" * 64, 5, registry_load)
    sent = pickle.loads(pickle.dumps(made))
    (step,) = RetrievalSuite(plan(["grep"], CORPORA[1:2]), CORPORA, registry_load).steps(())
    (row,) = sent(pickle.loads(pickle.dumps(step)))
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
    assert [step.corpus for step in suite(corpora, ["one"]).steps(())] == list(corpora)
