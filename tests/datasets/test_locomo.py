"""LoCoMo is read with its evidence as it stands and as it was meant, and the counts are those of the real file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.datasets import errata
from smriti.datasets.locomo import CATEGORIES, ERRATA, REPAIRED, read, repaired_evidence, strict_evidence
from smriti.errors import UsageError
from smriti.metrics.ranking import Metric
from tests.shared import shared

KNOWN = frozenset({"D1:1", "D1:2", "D2:1", "D11:26", "D30:5"})
same_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def sample(**fields: Any) -> dict[str, Any]:
    """A conversation of two sessions with a question of each category; `fields` are put in the place of its own."""
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red house"},
    ]
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
            "session_2_date_time": "1:56 pm on 9 May, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Thanks."}],
            "session_3_date_time": "1:56 pm on 10 May, 2023",
        },
        "qa": [
            {"question": f"Q{number}?", "category": number, "evidence": ["D1:2", "D2:1"]}
            | ({"adversarial_answer": "no"} if number == 5 else {"answer": number})
            for number in CATEGORIES
        ],
    } | fields


@pytest.mark.parametrize(
    ("evidence", "strict", "repaired"),
    [
        (["D1:1", "D2:1"], ("D1:1", "D2:1"), ("D1:1", "D2:1")),
        (["D1:1", "D1:1"], ("D1:1",), ("D1:1",)),
        ([], (), ()),
        (["D1:1; D2:1"], (), ("D1:1", "D2:1")),
        (["D1:1 D1:2 D2:1"], (), ("D1:1", "D1:2", "D2:1")),
        (["D:11:26", "D1:1"], (), ("D11:26", "D1:1")),
        (["D30:05"], (), ("D30:5",)),
        (["D1:1", "D"], (), ()),
        (["D1:" + "9" * 5000], (), ()),
        (["D1:1", "D10:19"], (), ()),
    ],
)
def test_evidence_is_what_stands_there_or_what_was_meant_or_nothing(
    evidence: list[str], strict: tuple[str, ...], repaired: tuple[str, ...]
) -> None:
    assert strict_evidence(evidence, KNOWN) == strict
    assert repaired_evidence(evidence, KNOWN) == repaired


@given(st.lists(st.sampled_from([*KNOWN, "D", "D9:9", "D:1:1", "D01:02", "D1:1;D1:2", ""]) | st.text(), max_size=4))
def test_repairing_never_changes_strict_evidence_and_only_ever_names_turns(evidence: list[str]) -> None:
    strict, repaired = strict_evidence(evidence, KNOWN), repaired_evidence(evidence, KNOWN)
    assert set(repaired) <= KNOWN
    assert len(set(repaired)) == len(repaired)
    if strict:
        assert repaired == strict


def test_a_document_is_a_session_or_a_turn(tmp_path: Path) -> None:
    path = written(tmp_path, [sample()])
    (by_session,), (by_turn,) = read(path, "session").corpora, read(path, "turn").corpora
    assert [(d.source_id, d.content) for d in by_session.documents] == [
        ("D1", "Ann: I moved.\nBob: Look!"),
        ("D2", "Ann: Thanks."),
    ]
    assert [d.source_id for d in by_turn.documents] == ["D1:1", "D1:2", "D2:1"]
    assert by_session.questions[0].gold == ("D1", "D2")
    assert by_turn.questions[0].gold == ("D1:2", "D2:1")


def test_captions_and_dates_are_added_where_they_are_asked_for(tmp_path: Path) -> None:
    (corpus,) = read(written(tmp_path, [sample()]), "turn", captions=True, dates=True).corpora
    assert corpus.documents[1].content == "1:56 pm on 8 May, 2023\nBob: Look! [image: a red house]"


def test_category_5_is_apart_from_all_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, [sample()])
    reading = read(path)
    groups = {question.type: question.groups for question in reading.corpora[0].questions}
    assert groups["category-1"] == ("all", REPAIRED, "category-1")
    assert groups["category-5"] == ("category-5",)
    assert reading.flags == ()
    asked = read(path, categories=[5])
    assert [question.groups for question in asked.corpora[0].questions] == [("all", REPAIRED, "category-5")]
    assert "category 5" in asked.flags[0]
    assert reading.labels["category-1"] == "1 multi-hop"


def test_a_question_with_irregular_evidence_has_repaired_gold_alone_and_is_counted(tmp_path: Path) -> None:
    qa = [
        {"question": "Q?", "category": 1, "evidence": ["D1:1; D2:1"], "answer": "a"},
        {"question": "R?", "category": 1, "evidence": ["D1:1", "D9:9"], "answer": "a"},
        {"question": "S?", "category": 3, "evidence": [], "answer": 3},
    ]
    reading = read(written(tmp_path, [sample(qa=qa)]), "turn")
    first, second, third = reading.corpora[0].questions
    assert (first.gold_in("all"), first.gold_in(REPAIRED), first.gold_in("category-1")) == ((), ("D1:1", "D2:1"), ())
    assert second.gold_in(REPAIRED) == third.gold_in(REPAIRED) == ()
    counts = reading.counts
    assert (counts["evidence_irregular"], counts["evidence_unresolvable"], counts["evidence_empty"]) == (2, 1, 1)
    assert Metric("recall", 5)(["D1:1"], first.gold_in("all")) is None


def test_errata_give_a_second_gold_and_leave_the_official_one_as_it_was(tmp_path: Path) -> None:
    qa = [
        {"question": "Corrected?", "category": 1, "evidence": ["D1:1"], "answer": "a"},
        {"question": "Gained?", "category": 2, "evidence": ["D9:9"], "answer": "a"},
        {"question": "Lost?", "category": 3, "evidence": ["D1:1"], "answer": "a"},
        {"question": "Untouched?", "category": 4, "evidence": ["D1:1", "D2:1"], "answer": "a"},
        {"question": "Untouched and irregular?", "category": 4, "evidence": ["D1:1; D2:1"], "answer": "a"},
        {"question": "Never asked for?", "category": 5, "evidence": ["D1:1"]},
    ]
    path = written(tmp_path, [sample(qa=qa)])
    overlay = overlaid(
        tmp_path,
        path,
        ("conv-1/q0", ["D1:1"], ["D1:2", "D2:1"]),
        ("conv-1/q1", ["D9:9"], ["D1:2"]),
        ("conv-1/q2", ["D1:1"], []),
        ("conv-1/q5", ["D1:1"], ["D2:1"]),
    )
    plain, corrected = read(path, "turn"), read(path, "turn", errata=overlay)
    questions = corrected.corpora[0].questions
    assert [question.gold_in(ERRATA) for question in questions[:5]] == [
        ("D1:2", "D2:1"),
        ("D1:2",),
        (),
        ("D1:1", "D2:1"),
        (),
    ]
    for before, after in zip(plain.corpora[0].questions, questions, strict=True):
        assert after.gold == before.gold
        assert [g for g in after.groups if g != ERRATA] == list(before.groups)
        assert all(after.gold_in(group) == before.gold_in(group) for group in before.groups)
        assert (ERRATA in after.groups) == ("all" in after.groups)
    assert ERRATA not in plain.labels
    assert corrected.labels == dict(plain.labels) | {ERRATA: "all-errata (overlay.toml)"}
    assert corrected.counts == dict(plain.counts) | {"errata_entries": 4, "errata_applied": 3}
    by_session = read(path, "session", errata=overlay).corpora[0].questions
    assert [question.gold_in(ERRATA) for question in by_session[:3]] == [("D1", "D2"), ("D1",), ()]


def test_errata_count_as_applied_where_their_question_is_in_all(tmp_path: Path) -> None:
    path = written(tmp_path, [sample()])
    entries = [(f"conv-1/q{number}", ["D1:2", "D2:1"], ["D1:1"]) for number in range(5)]
    overlay = overlaid(tmp_path, path, *entries)
    assert [read(path, categories=c, errata=overlay).counts["errata_applied"] for c in (None, [1], [1, 5])] == [4, 1, 2]
    (question,) = read(path, "turn", [5], errata=overlay).corpora[0].questions
    assert (question.groups, question.gold_in(ERRATA)) == (("all", REPAIRED, ERRATA, "category-5"), ("D1:1",))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (("conv-1/q5", ["D1:2", "D2:1"], ["D1:1"]), "entry 0, field question: found 'conv-1/q5'"),
        (("conv-2/q0", ["D1:2", "D2:1"], ["D1:1"]), "entry 0, field question: found 'conv-2/q0'"),
        (
            ("conv-1/q0", ["D1:2"], ["D1:1"]),
            r"entry 'conv-1/q0', field cited: found \['D1:2'\]; expected \['D1:2', 'D2:1'\]",
        ),
        (("conv-1/q0", ["D2:1", "D1:2"], ["D1:1"]), "entry 'conv-1/q0', field cited"),
        (("conv-1/q0", ["D1:2", "D2:1"], ["D1:1", "D9:9"]), r"entry 'conv-1/q0', field corrected\[1\]: found 'D9:9'"),
    ],
)
@pytest.mark.parametrize("categories", [None, [4]])
def test_an_erratum_that_does_not_fit_its_question_is_refused_even_where_that_is_not_selected(
    tmp_path: Path, categories: list[int] | None, entry: tuple[str, list[str], list[str]], told: str
) -> None:
    path = written(tmp_path, [sample()])
    with pytest.raises(UsageError, match=told):
        read(path, categories=categories, errata=overlaid(tmp_path, path, entry))


def test_errata_of_another_file_are_refused_with_both_digests(tmp_path: Path) -> None:
    path = written(tmp_path, [sample()])
    overlay = overlaid(tmp_path, path, ("conv-1/q0", ["D1:2", "D2:1"], ["D1:1"]))
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match=f"found sha256 [0-9a-f]{{64}}; expected {overlay.overlay.data_sha256}"):
        read(path, errata=overlay)


def test_the_errata_that_come_with_smriti_fit_the_real_file() -> None:
    path = shared("locomo10.json")
    overlay = errata.shipped(hashlib.sha256(path.read_bytes()).hexdigest())
    assert overlay is not None
    reading = read(path, "turn", errata=overlay)
    assert (reading.counts["errata_entries"], reading.counts["errata_applied"]) == (96, 96)
    questions = [q for corpus in reading.corpora for q in corpus.questions if ERRATA in q.groups]
    changed = {q.id: (q.gold, q.gold_in(ERRATA)) for q in questions if set(q.gold) != set(q.gold_in(ERRATA))}
    assert changed.keys() == overlay.entries.keys()
    assert changed["conv-26/q1"] == (("D1:12",), ("D1:14",))
    assert {question_id for question_id, (strict, _) in changed.items() if not strict} == {
        "conv-26/q37",
        "conv-42/q58",
        "conv-42/q88",
        "conv-47/q38",
        "conv-50/q69",
    }
    assert [question_id for question_id, (_, corrected) in changed.items() if not corrected] == ["conv-47/q11"]
    assert sum(bool(q.gold) for q in questions) == 1527
    assert sum(bool(q.gold_in(ERRATA)) for q in questions) == 1531


def test_the_counts_are_those_of_the_real_file() -> None:
    reading = read(shared("locomo10.json"), "turn")
    assert reading.counts == {
        "conversations": 10,
        "sessions": 272,
        "turns": 5882,
        "documents": 5882,
        "questions": 1986,
        "category_1": 282,
        "category_2": 321,
        "category_3": 96,
        "category_4": 841,
        "category_5": 446,
        "strict_evidence_in_1_to_4": 1527,
        "strict_evidence_in_5": 446,
        "repaired_evidence_in_1_to_4": 1533,
        "repaired_evidence_in_5": 446,
        "evidence_empty": 4,
        "evidence_irregular": 9,
        "evidence_unresolvable": 3,
        "evidence_with_a_duplicate": 1,
        "adversarial_with_the_evidence_of_another": 442,
        "repeated_question_texts": 12,
        "session_dates_without_a_session": 16,
        "captions_without_an_image": 316,
    }
    questions = [question for corpus in reading.corpora for question in corpus.questions]
    assert sum(bool(question.gold) for question in questions) == 1973
    assert {question.groups[-1] for question in questions} == {f"category-{number}" for number in CATEGORIES}
    assert len({question.id for question in questions}) == 1986
    for corpus in reading.corpora:
        source_ids = {document.source_id for document in corpus.documents}
        assert all(set(question.gold) <= source_ids for question in corpus.questions)


@pytest.mark.parametrize("categories", [[0], [6], [1, 9], []])
def test_unknown_categories_are_refused_with_the_known_ones(tmp_path: Path, categories: list[int]) -> None:
    with pytest.raises(UsageError, match="expected some of 1 multi-hop"):
        read(written(tmp_path, [sample()]), categories=categories)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"sample_id": 5}, "row 0, field sample_id: found 5"),
        ({"qa": {}}, "field qa: found {}"),
        ({"conversation": {}}, "field conversation: found no session"),
        ({"conversation": {"session_01": []}}, "found 'session_01'; expected session_<number>"),
        ({"conversation": {"session_" + "9" * 5000: []}}, "expected session_<number>"),
        ({"qa": [{"question": "Q?", "category": 6, "evidence": []}]}, r"field qa\[0\]\.category: found 6"),
        ({"qa": [{"question": "Q?", "category": "1", "evidence": []}]}, r"field qa\[0\]\.category: found '1'"),
        ({"qa": [{"question": "Q?", "category": 1, "evidence": "D1:1"}]}, r"field qa\[0\]\.evidence: found 'D1:1'"),
        ({"qa": [{"question": "Q?", "category": 1, "evidence": []}]}, r"field qa\[0\]\.answer: found nothing"),
        ({"qa": [{"question": " ", "category": 5, "evidence": []}]}, r"field qa\[0\]\.question: found ' '"),
        ({"qa": ["Q?"]}, r"field qa\[0\]: found 'Q\?'"),
    ],
)
def test_what_is_wrong_with_a_conversation_is_told(tmp_path: Path, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(written(tmp_path, [sample(**fields)]))


@pytest.mark.parametrize(
    ("session", "told"),
    [
        ([], r"conversation\.session_1: found \[\]"),
        ("text", r"conversation\.session_1: found 'text'"),
        ([{"speaker": "Ann", "dia_id": "D2:1", "text": "a"}], r"session_1\[0\]\.dia_id: found 'D2:1'"),
        ([{"speaker": "Ann", "dia_id": "D1:1", "text": "a"}] * 2, r"session_1\[1\]\.dia_id: found 'D1:1'"),
        ([{"speaker": "Ann", "dia_id": "D1:1"}], r"session_1\[0\]\.text: found nothing"),
    ],
)
def test_what_is_wrong_with_a_session_is_told(tmp_path: Path, session: Any, told: str) -> None:
    conversation = sample()["conversation"] | {"session_1": session}
    with pytest.raises(UsageError, match=told):
        read(written(tmp_path, [sample(conversation=conversation)]))


def test_a_conversation_that_is_there_twice_or_a_session_without_a_date_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="row 1, field sample_id: found 'conv-1', as in row 0"):
        read(written(tmp_path, [sample(), sample()]))
    conversation = sample()["conversation"]
    del conversation["session_2_date_time"]
    with pytest.raises(UsageError, match="session_2_date_time: found None"):
        read(written(tmp_path, [sample(conversation=conversation)]))


@same_file
@given(st.sampled_from(["sample_id", "conversation", "qa"]), st.none() | st.integers() | st.text() | st.booleans())
def test_a_field_of_another_type_is_refused_with_its_name(tmp_path: Path, field: str, value: Any) -> None:
    if field == "sample_id" and isinstance(value, str):
        return
    with pytest.raises(UsageError, match=f"field {field}"):
        read(written(tmp_path, [sample(**{field: value})]))


def written(folder: Path, samples: list[Any]) -> Path:
    path = folder / "samples.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def overlaid(folder: Path, data: Path, *entries: tuple[str, list[str], list[str]]) -> errata.Errata:
    """Write an overlay for the data file as it is now, and read it."""
    path = folder / "overlay.toml"
    lines = [
        f"{{ question = {json.dumps(q)}, cited = {json.dumps(c)}, corrected = {json.dumps(e)} }},"
        for q, c, e in entries
    ]
    head = f'data = "locomo10"\ndata_sha256 = "{hashlib.sha256(data.read_bytes()).hexdigest()}"\n'
    rest = 'schema = "smriti.errata/1"\nsource = "s"\nrevision = "r"\nlicence = "l"\n'
    path.write_text("\n".join([head, rest, "entries = [", *lines, "]"]), encoding="utf-8")
    return errata.read(path)
