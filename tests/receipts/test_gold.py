"""What a receipt says of its data set and its tasks is compared with them, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smriti.receipts.check import Check
from smriti.receipts.gold import check_gold, check_tasks, evidence_rows, settled, unsettled
from smriti.receipts.verify import verify
from smriti.score.retrieval import RetrievalScoring
from smriti.types import Corpus, CorpusPlan, DatasetReading, Question, QuestionEvidence, RetrievalConfig, TaskIdentity
from tests.receipts.claimable import bench_manifest, corpora, question_evidence, retrieval, retrieval_manifest


def rows() -> list[QuestionEvidence]:
    made = retrieval_manifest()
    return [question_evidence(made, case) for case in RetrievalScoring(made).plan()]


def with_question(**fields: Any) -> list[Corpus]:
    """The data set, with its first question another."""
    first, *rest = corpora()
    question, *others = first.questions
    return [replace(first, questions=(replace(question, **fields), *others)), *rest]


def of(read: Sequence[Corpus], **fields: Any) -> DatasetReading:
    """What reading a data set of these corpora gives, as the manifest has it but for `fields`."""
    made = retrieval_manifest()
    stated: dict[str, Any] = {"counts": made.counts, "flags": made.notes, "labels": made.labels}
    return DatasetReading(corpora=tuple(read), **{**stated, **fields})


def test_rows_that_are_as_the_data_set_has_them_hold() -> None:
    assert check_gold(retrieval_manifest(), rows(), of(corpora())).ok is True


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("gold", ("a3",)),
        ("gold", ("a0", "a3")),
        ("group_gold", {"fact": ("a1",)}),
        ("groups", ("all",)),
        ("type", "hard"),
        ("answerable", False),
    ],
)
def test_each_field_of_a_question_that_differs_from_the_data_set_is_refused(field: str, other: object) -> None:
    check = check_gold(retrieval_manifest(), rows(), of(with_question(**{field: other})))
    assert check.ok is False
    assert f"first/a-q1: {field} " in check.detail
    assert "second/a-q1" in check.detail


@pytest.mark.parametrize(
    ("field", "other"),
    [("counts", {"questions": 99}), ("flags", ("adversarial: left out",)), ("labels", {"fact": "another name"})],
)
def test_what_the_manifest_tells_of_the_set_is_compared_with_it(field: str, other: object) -> None:
    check = check_gold(retrieval_manifest(), rows(), of(corpora(), **{field: other}))
    assert check.ok is False
    assert f"{'notes' if field == 'flags' else field} " in check.detail


def test_a_hit_of_a_source_that_the_corpus_does_not_have_is_refused() -> None:
    first, *others = rows()
    hit = first.hits[0].model_copy(update={"source_ids": ("of another corpus",)})
    strange = first.model_copy(update={"hits": (hit, *first.hits[1:])})
    check = check_gold(retrieval_manifest(), [strange, *others], of(corpora()))
    assert check.ok is False
    assert f"{first.case}: a hit names a source that its corpus does not have" in check.detail


def test_more_or_fewer_documents_than_the_data_set_has_are_refused_in_rows_and_plan() -> None:
    first, second = corpora()
    check = check_gold(retrieval_manifest(), rows(), of([replace(first, documents=first.documents[:3]), second]))
    assert check.ok is False
    assert "corpus 'a' has 3 documents, 4 in the manifest" in check.detail
    assert "first/a-q1: documents 4, 3 in the data set" in check.detail


def test_a_question_that_the_data_set_does_not_have_is_refused() -> None:
    check = check_gold(retrieval_manifest(), rows(), of(with_question(id="another")))
    assert "first/a-q1: the data set has no such question of corpus 'a'" in check.detail
    assert check.ok is False


def test_a_question_of_another_corpus_is_refused() -> None:
    moved = [row.model_copy(update={"corpus": "b"}) if row.question == "a-q1" else row for row in rows()]
    assert "no such question of corpus 'b'" in check_gold(retrieval_manifest(), moved, of(corpora())).detail


def test_a_corpus_that_the_data_set_does_not_have_is_refused() -> None:
    plans = (*retrieval_manifest().corpora, CorpusPlan(id="z", documents=1, questions=()))
    assert "no corpus 'z'" in check_gold(retrieval_manifest(corpora=plans), rows(), of(corpora())).detail


def test_a_run_of_the_whole_set_that_leaves_questions_out_is_refused() -> None:
    """Whatever the manifest says of how many there are."""
    more = [*corpora(), Corpus("c", (), (Question("c-q1", "?", "fact", None, (), False),))]
    check = check_gold(retrieval_manifest(), rows(), of(more))
    assert check.ok is False
    assert "7 questions, 6 by the manifest" in check.detail
    assert "1 questions of the data set are left out, such as 'c-q1'" in check.detail


def test_a_selection_may_leave_questions_out_as_long_as_it_says_of_how_many() -> None:
    plan = retrieval_manifest().corpora[:1]
    config = RetrievalConfig(memory=("first", "second"), k=(1, 2), limit=3, options={})
    chosen = {"stratify": None, "limit": 3, "selected": 3, "of": 6}
    made = retrieval_manifest(corpora=plan, config=config, selection=chosen)
    kept = [row for row in rows() if row.corpus == "a"]
    assert check_gold(made, kept, of(corpora())).ok is True
    lying = made.model_copy(update={"selection": {**chosen, "of": 3}})
    assert check_gold(lying, kept, of(corpora())).ok is False


def test_what_was_looked_at_stands_in_the_place_of_what_verify_left_open(tmp_path: Path) -> None:
    verdict = verify(retrieval(tmp_path / "receipt"))
    assert [check.ok for check in verdict.checks if check.name == "data set"] == [None]
    good = settled(verdict, check_gold(retrieval_manifest(), evidence_rows(tmp_path / "receipt"), of(corpora())))
    assert (good.state, [check.ok for check in good.checks if check.name == "data set"]) == ("verified", [True])
    assert len(good.checks) == len(verdict.checks)
    bad = settled(verdict, Check("data set", False, "other gold"))
    assert bad.state == "refused"


def test_why_it_could_not_be_looked_at_is_added_and_changes_nothing_else(tmp_path: Path) -> None:
    verdict = verify(retrieval(tmp_path / "receipt"))
    told = unsettled(verdict, "it is not here")
    assert told.state == "verified"
    assert next(check for check in told.checks if check.ok is None).detail.endswith("; it is not here")
    assert told.checks[:-1] == verdict.checks[:-1]


def installed(**fields: Any) -> dict[str, TaskIdentity]:
    tasks = {task.id: task for task in bench_manifest(3).tasks}
    return {**tasks, "t01": tasks["t01"].model_copy(update=fields)}


def test_tasks_that_are_those_installed_here_hold() -> None:
    assert check_tasks(bench_manifest(3), installed(), same_code=False).ok is True


@pytest.mark.parametrize(
    ("field", "other"), [("sha256", "9" * 64), ("version", 2), ("family", "misleading"), ("split", "holdout")]
)
def test_another_task_refutes_a_receipt_of_the_very_code_that_is_installed(field: str, other: object) -> None:
    check = check_tasks(bench_manifest(3), installed(**{field: other}), same_code=True)
    assert check.ok is False
    assert f"t01: {field} " in check.detail


def test_a_choice_from_fewer_tasks_than_the_very_code_has_is_refused() -> None:
    more = {**installed(), "t99": installed()["t01"].model_copy(update={"id": "t99"})}
    assert check_tasks(bench_manifest(3), more, same_code=False).ok is True
    check = check_tasks(bench_manifest(3), more, same_code=True)
    assert check.ok is False
    assert "3 tasks to choose from, 4 here" in check.detail


def test_another_task_of_other_code_is_told_and_left_open() -> None:
    check = check_tasks(bench_manifest(3), installed(sha256="9" * 64), same_code=False)
    assert check.ok is None
    assert "1 of 3 are not those that are installed here: t01: sha256 " in check.detail


def test_a_task_that_is_not_installed_is_told() -> None:
    check = check_tasks(bench_manifest(3), {}, same_code=False)
    assert check.ok is None
    assert "t00: not here" in check.detail
