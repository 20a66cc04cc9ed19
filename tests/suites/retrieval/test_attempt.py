"""A system gets a fresh store and opaque documents, and whatever it does becomes evidence: never a lost row."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.engine.processes import ToldToEnd
from smriti.errors import MemorySystemError, UsageError
from smriti.memory.off import OffStore
from smriti.metrics.ranking import distinct
from smriti.protocols import MemorySystem, Store
from smriti.receipts.writer import manifest_digest
from smriti.suites.retrieval import RetrievalSuite
from smriti.types import AskFault, Corpus, Document, Hit, Memory, Question, QuestionEvidence
from tests.suites.retrieval.fakes import (
    NAMES,
    Call,
    Recording,
    Remembering,
    System,
    answering,
    attempt,
    corpus,
    hit_of,
    no_files,
    nobodys,
    plan,
)
from tests.suites.retrieval.fakes import question as a_question

GOOD = System(lambda _: Remembering())

# What a system is given


def test_every_corpus_and_system_has_a_store_and_a_workspace_of_its_own_that_are_gone_afterwards() -> None:
    one, other = Recording(), Recording()
    attempt({"one": one.system(), "other": other.system()}, [corpus("c1"), corpus("c2")])
    for recording in (one, other):
        assert [call.name for call in recording.calls] == ["open", "remember", "search", "close"] * 2
    workspaces = [*one.workspaces, *other.workspaces]
    assert len(set(workspaces)) == 4
    assert not any(workspace.exists() for workspace in workspaces)


def test_a_corpus_is_remembered_once_for_all_of_its_questions() -> None:
    recording = Recording()
    asked = [a_question(f"q{number}") for number in range(3)]
    attempt({"fake": recording.system()}, [corpus("c1", *asked)])
    assert [call.name for call in recording.calls] == ["open", "remember", *["search"] * 3, "close"]


def test_a_system_sees_opaque_documents_and_the_text_of_questions_and_nothing_else() -> None:
    """All that it is given, written out: neither gold nor type, answerability, groups or id of a question."""
    secret = Question(
        id="LABEL-id",
        text="what was said?",
        type="LABEL-type",
        date="LABEL-date",
        gold=("s2",),
        answerable=True,
        groups=("LABEL-group",),
        group_gold={"LABEL-group": ("s1",)},
    )
    documents = (Document("s1", "one"), Document("s2", "two"))
    recording = Recording()
    (row,) = attempt({"fake": recording.system()}, [Corpus("c1", documents, (secret,))])
    assert row.fault is None
    memories = tuple(
        Memory(content=d.content, type="episode", role="convention", source_id=d.source_id) for d in documents
    )
    assert recording.calls == [
        Call("open", (recording.workspaces[0],)),
        Call("remember", (memories, "project:smriti-c1")),
        Call("search", ("what was said?", "project:smriti-c1", 2, None)),
        Call("close", ()),
    ]
    assert "LABEL" not in repr(recording.calls)


def test_the_gold_is_in_nothing_that_differs_between_one_gold_and_another() -> None:
    """Two corpora that differ in what is labelled alone look the same from inside of a system."""
    seen = []
    for gold in (["a"], ["h", "g"], []):
        recording = Recording()
        attempt({"fake": recording.system()}, [corpus("c1", a_question("q", gold, answerable=bool(gold)))])
        seen.append([call for call in recording.calls if call.name != "open"])
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u2003"])
def test_a_blank_document_is_not_remembered_and_still_counts_as_one_of_the_corpus(blank: str) -> None:
    documents = (Document("a", "text"), Document("b", blank), Document("c", "more"))
    recording = Recording()
    (row,) = attempt({"fake": recording.system()}, [Corpus("c1", documents, (a_question(gold=["b"]),))])
    (given_,) = [call.arguments[0] for call in recording.calls if call.name == "remember"]
    assert [memory.source_id for memory in given_] == ["a", "c"]
    assert (row.documents, row.fault, row.gold, row.gold_ranks) == (3, None, ("b",), {})


def test_as_many_hits_as_documents_are_asked_for_whatever_k_is() -> None:
    recording = Recording()
    attempt({"fake": recording.system()}, [corpus()], k=[1])
    (asked,) = [call.arguments[2] for call in recording.calls if call.name == "search"]
    assert asked == len(NAMES)


# What the evidence says


def test_the_evidence_repeats_the_question_and_what_was_returned() -> None:
    asked = a_question("q", ["c", "h"], type="t", groups=("all", "t"), group_gold={"t": ("b",)})
    (row,) = attempt({"good": GOOD}, [corpus("c1", asked)], k=[1, 3])
    assert row.case == "good/q"
    assert (row.run_id, row.order) == ("run", 0)
    assert row.manifest_sha256 == manifest_digest(plan(["good"], [corpus("c1", asked)], [1, 3]))
    assert (row.system, row.corpus, row.question, row.type) == ("good", "c1", "q", "t")
    assert (row.groups, row.answerable, row.gold, row.group_gold) == (("all", "t"), True, ("c", "h"), {"t": ("b",)})
    assert [found.source_ids for found in row.hits] == [("a",), ("b",), ("c",)]
    assert [found.id for found in row.hits] == ["m-a", "m-b", "m-c"]
    assert [found.score for found in row.hits] == [0.0, -1.0, -2.0]
    assert row.hits[0].content_sha256 == hashlib.sha256(b"text of a").hexdigest()
    assert row.returned == len(NAMES)
    assert row.gold_ranks == {"b": 2, "c": 3, "h": 8}
    assert row.ingest_ms is not None
    assert row.ingest_ms >= 0
    assert row.query_ms is not None
    assert row.query_ms >= 0
    assert row.fault is None


def sourced(*sources: Sequence[str]) -> System:
    """Make a system that returns a hit for each group of sources, in this order."""
    return answering(lambda _memories, _query, _k: [Hit(str(n), "t", 1.0, tuple(of)) for n, of in enumerate(sources)])


@pytest.mark.parametrize(
    ("sources", "widest", "listed"),
    [
        (["a", "b", "c"], 2, 2),
        (["a", "a", "b", "c"], 2, 3),
        (["", "a", "", "b", "c"], 2, 4),
        (["abc", "d"], 2, 1),
        (["a", "abc", "d"], 2, 2),
        (["a"], 2, 1),
        (["", ""], 2, 2),
        ([], 2, 0),
    ],
)
def test_hits_are_listed_until_the_widest_k_is_reached_over_distinct_sources(
    sources: list[str], widest: int, listed: int
) -> None:
    (row,) = attempt({"fake": sourced(*sources)}, [corpus()], k=[1, widest])
    assert [found.source_ids for found in row.hits] == [tuple(of) for of in sources[:listed]]
    assert row.returned == len(sources)


RETURNED = st.lists(st.lists(st.sampled_from(NAMES), max_size=4), max_size=len(NAMES))


@given(RETURNED, st.sets(st.sampled_from(NAMES)), st.integers(1, 9))
def test_the_rank_of_gold_is_that_among_all_that_was_returned_listed_or_not(
    sources: list[list[str]], gold: set[str], widest: int
) -> None:
    asked = a_question(gold=sorted(gold), answerable=bool(gold))
    (row,) = attempt({"fake": sourced(*sources)}, [corpus("c1", asked)], k=[widest])
    ranked = distinct(source for of in sources for source in of)
    assert row.fault is None
    assert row.gold_ranks == {source: ranked.index(source) + 1 for source in gold if source in ranked}
    assert len(row.hits) == len(sources) or len({s for found in row.hits for s in found.source_ids}) >= widest


def test_a_hit_without_content_that_utf_8_can_hold_is_still_a_hit() -> None:
    (row,) = attempt({"fake": answering(lambda *_: [Hit("m", "\ud800", 1.0, ("a",))])}, [corpus()])
    assert row.fault is None
    assert row.hits[0].content_sha256 == hashlib.sha256("\ud800".encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.parametrize("score", [0, -1.5, True, Decimal("0.5"), 10**300])
def test_any_finite_number_is_a_score(score: Any) -> None:
    (row,) = attempt({"fake": answering(lambda *_: [Hit("m", "t", score, ("a",))])}, [corpus()])
    assert row.fault is None
    assert row.hits[0].score == float(score)


# Failures

KEY = "sk-proj-" + "k" * 40
Step = Callable[..., Any]


class NoText(Exception):  # noqa: N818  # the text is what is wrong with it
    def __str__(self) -> str:
        raise RuntimeError("no text")


class Hidden:
    """What cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def raising(error: BaseException) -> Step:
    def step(*_arguments: Any) -> Any:
        raise error

    return step


def giving(value: Any) -> Step:
    return lambda *_arguments: value


ERRORS: dict[str, tuple[BaseException, str]] = {
    "its own": (MemorySystemError("fake: the disk is full"), "fake: the disk is full"),
    "without a word": (MemorySystemError(), "MemorySystemError:"),
    "any": (ValueError("bad"), "ValueError: bad"),
    "exit": (SystemExit(0), "SystemExit: 0"),
    "an interrupt of its own": (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine"),
    "cancelled": (asyncio.CancelledError("late"), "CancelledError: late"),
    "generator": (GeneratorExit(), "GeneratorExit:"),
    "no memory": (MemoryError(), "MemoryError:"),
    "lines": (ValueError("one\n two\r\n\tthree\u2028four"), "ValueError: one two three four"),
    "surrogate": (ValueError("\ud800"), "ValueError: ?"),
    "no text": (NoText(), "NoText: (its text cannot be had)"),
}


class Failing(Remembering):
    """A store of which some methods do something else."""

    def __init__(self, steps: dict[str, Step]) -> None:
        super().__init__()
        self._steps = steps

    def remember(self, memories: Sequence[Memory], realm: str) -> Any:
        usual = super().remember(memories, realm)
        return self._steps["remember"](usual) if "remember" in self._steps else usual

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> Any:
        if "search" in self._steps and query == "bad?":
            return self._steps["search"]()
        return super().search(query, realm, k, layer)

    def close(self) -> None:
        if "close" in self._steps:
            self._steps["close"]()


def failing(**steps: Step) -> MemorySystem:
    def make(_workspace: Path) -> Store:
        if "open" in steps:
            steps["open"]()
        return Failing(steps)

    return System(make)


ASKED = ("first", "bad", "last")


def faults(system: MemorySystem) -> list[QuestionEvidence]:
    """Ask a good system and `system`, of two corpora; return the rows of `system` on the first, the rest being good."""

    class Once:
        """`system` on the first corpus, and a good system on those after it."""

        opened = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(system, name)

        def open(self, workspace: Path, replica: Path | None = None) -> Store:
            self.opened += 1
            return (system if self.opened == 1 else GOOD).open(workspace, replica)

    corpora = [corpus("c1", *map(a_question, ASKED)), corpus("c2", a_question("other"))]
    rows = attempt({"before": GOOD, "fake": Once(), "after": GOOD}, corpora)
    assert [(row.system, row.question) for row in rows] == [
        (name, asked) for name in ("before", "fake", "after") for asked in (*ASKED, "other")
    ]
    own = [row for row in rows if (row.system, row.corpus) == ("fake", "c1")]
    assert all(row.fault is None and row.returned == len(NAMES) for row in rows if row not in own)
    for row in own:
        if row.fault is not None:
            assert (row.hits, row.returned, row.gold_ranks, row.query_ms) == ((), 0, {}, None)
            assert row.gold == ("a",)
            assert len(row.fault.message) <= 1000
            assert row.fault.message.splitlines() == [row.fault.message]
            assert QuestionEvidence.model_validate_json(row.model_dump_json()) == row
    return own


@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.parametrize(("method", "phase"), [("open", "init"), ("remember", "ingest"), ("close", "teardown")])
def test_what_is_raised_before_or_after_the_questions_fails_all_of_that_corpus_and_system(
    what: str, method: str, phase: str
) -> None:
    error, message = ERRORS[what]
    rows = faults(failing(**{method: raising(error)}))
    for row in rows:
        assert row.fault is not None
        assert (row.fault.phase, row.fault.message.strip()) == (phase, message)
        assert (row.ingest_ms is None) == (phase != "teardown")


@pytest.mark.parametrize("what", ERRORS)
def test_what_a_search_raises_fails_that_question_alone(what: str) -> None:
    error, message = ERRORS[what]
    first, bad, last = faults(failing(search=raising(error)))
    assert bad.fault is not None
    assert (bad.fault.phase, bad.fault.message.strip()) == ("query", message)
    assert bad.ingest_ms == first.ingest_ms
    assert first.fault is last.fault is None


def test_a_factory_that_fails_in_the_middle_of_a_run_fails_all_of_that_step_and_no_other() -> None:
    """What makes a system is called for each step anew: here it succeeds, fails and succeeds again."""
    corpora = [corpus(name, *(a_question(f"{name}/{asked}") for asked in ASKED)) for name in ("c1", "c2", "c3")]
    calls: list[str] = []

    def load(name: str) -> MemorySystem:
        calls.append(name)
        if len(calls) == 2:
            raise UsageError("memory system fake: it could not be made")
        return GOOD

    suite = RetrievalSuite(plan(["fake"], corpora), corpora, load, nobodys)
    work = suite.work(no_files)
    rows = [row for step in suite.steps(()) for row in suite.evidence(work(step))]
    assert calls == ["fake"] * 3
    assert [row.corpus for row in rows] == [name for name in ("c1", "c2", "c3") for _ in ASKED]
    for row in rows:
        if row.corpus == "c2":
            assert row.fault is not None
            assert row.fault == AskFault(phase="init", message="memory system fake: it could not be made")
            assert (row.hits, row.returned, row.gold_ranks, row.ingest_ms, row.query_ms) == ((), 0, {}, None, None)
        else:
            assert (row.fault, row.returned) == (None, len(NAMES))


@pytest.mark.parametrize("what", ERRORS)
def test_whatever_a_factory_raises_is_a_failure_of_phase_init(what: str) -> None:
    error, message = ERRORS[what]
    corpora = [corpus()]
    suite = RetrievalSuite(plan(["fake"], corpora), corpora, raising(error), nobodys)
    (row,) = suite.evidence(suite.work(no_files)(suite.steps(())[0]))
    assert row.fault is not None
    assert (row.fault.phase, row.fault.message.strip()) == ("init", message)


IDS: dict[str, tuple[Step, str]] = {
    "one missing": (lambda ids: ids[1:], "remember gave 7 ids, 7 of them different, for 8 memories"),
    "one too many": (lambda ids: [*ids, "more"], "remember gave 9 ids, 9 of them different, for 8 memories"),
    "one twice": (lambda ids: [*ids[1:], ids[1]], "remember gave 8 ids, 7 of them different, for 8 memories"),
    "all and one twice": (lambda ids: [*ids, ids[0]], "remember gave 9 ids, 8 of them different, for 8 memories"),
    "none": (giving([]), "remember gave 0 ids, 0 of them different, for 8 memories"),
    "None": (giving(None), "remember gave None, expected a list of ids"),
    "a tuple": (tuple, "expected a list of ids"),
    "a text": (giving("abcdefgh"), "remember gave 'abcdefgh', expected a list of ids"),
    "numbers": (lambda ids: list(range(len(ids))), "remember gave [0, 1, 2, 3, 4, 5, 6, 7], expected a list of ids"),
    "lists": (lambda ids: [[id_] for id_ in ids], "expected a list of ids"),
    "hidden": (giving(Hidden()), "RuntimeError: no repr"),
    "long": (lambda ids: ["x" * 10**6, *ids[1:], 1], "expected a list of ids"),
}


@pytest.mark.parametrize("what", IDS)
def test_ids_that_are_not_one_for_each_memory_fail_the_ingestion(what: str) -> None:
    step, message = IDS[what]
    for row in faults(failing(remember=step)):
        assert row.fault is not None
        assert row.fault.phase == "ingest"
        assert message in row.fault.message


def unset() -> Hit:
    """Make a hit of which no field is there."""
    return tuple.__new__(Hit, ())


class AnotherHit:
    """What looks like a hit."""

    id, content, score, source_ids = "m", "t", 1.0, ("a",)


GOOD_HIT = Hit("m", "t", 1.0, ("a",))
HITS: dict[str, Any] = {
    "None": None,
    "a tuple": (GOOD_HIT,),
    "a generator": (hit for hit in [GOOD_HIT]),
    "a text": "aa",
    "too many": [GOOD_HIT] * (len(NAMES) + 1),
    "not a hit": [GOOD_HIT, {"id": "m"}],
    "what looks like a hit": [AnotherHit()],
    "unset fields": [unset()],
    "unknown source": [GOOD_HIT, Hit("m", "t", 1.0, ("nowhere",))],
    "unknown beside known": [Hit("m", "t", 1.0, ("a", "nowhere"))],
    "the source of another corpus": [Hit("m", "t", 1.0, ("c2",))],
    "unhashable source": [Hit("m", "t", 1.0, (["a"],))],  # type: ignore[arg-type]
    "sources in a list": [Hit("m", "t", 1.0, ["a"])],  # type: ignore[arg-type]
    "sources in a text": [Hit("m", "t", 1.0, "a")],  # type: ignore[arg-type]
    "no number": [Hit("m", "t", "1.0", ("a",))],  # type: ignore[arg-type]
    "no score": [Hit("m", "t", None, ("a",))],  # type: ignore[arg-type]
    "not a number": [Hit("m", "t", float("nan"), ("a",))],
    "endless": [Hit("m", "t", float("-inf"), ("a",))],
    "too large for a float": [Hit("m", "t", 10**400, ("a",))],
    "complex": [Hit("m", "t", 1j, ("a",))],  # type: ignore[arg-type]
    "bytes": [Hit("m", b"t", 1.0, ("a",))],  # type: ignore[arg-type]
    "no content": [Hit("m", None, 1.0, ("a",))],  # type: ignore[arg-type]
    "lone surrogate as id": [Hit("\ud800", "t", 1.0, ("a",))],
    "no id": [Hit(None, "t", 1.0, ("a",))],  # type: ignore[arg-type]
    "a number as id": [Hit(7, "t", 1.0, ("a",))],  # type: ignore[arg-type]
    "hidden": [Hidden()],
    "hidden list": Hidden(),
    "long": [Hit("m", "t" * 10**6, float("inf"), ("a",))],
}

CANNOT_BE_SHOWN = {"hidden", "hidden list", "unset fields"}


@pytest.mark.parametrize("what", HITS)
def test_hits_that_are_not_what_search_promises_fail_that_question_alone(what: str) -> None:
    first, bad, last = faults(failing(search=giving(HITS[what])))
    assert bad.fault is not None
    assert bad.fault.phase == "query"
    assert "search gave" in bad.fault.message or what in CANNOT_BE_SHOWN
    assert first.fault is last.fault is None


def test_the_hit_that_is_wrong_is_shown_among_those_that_are_right_and_without_its_text() -> None:
    wrong = Hit("wrong", "the text of a document", float("nan"), ("a",))
    _, bad, _ = faults(failing(search=giving([GOOD_HIT, wrong, GOOD_HIT])))
    assert bad.fault is not None
    assert bad.fault.message.startswith(
        "search gave Hit(id='wrong', content='…', score=nan, source_ids=('a',)), expected"
    )


def test_of_what_is_no_hit_no_more_is_shown_than_what_it_is() -> None:
    _, bad, _ = faults(failing(search=giving([("wrong", "the text of a document")])))
    assert bad.fault is not None
    assert bad.fault.message.startswith("search gave tuple, expected a Hit")


def test_an_id_too_long_for_a_receipt_is_a_failure() -> None:
    _, bad, _ = faults(failing(search=giving([Hit("x" * 501, "t", 1.0, ("a",))])))
    assert bad.fault is not None
    _, good, _ = faults(failing(search=giving([Hit("x" * 500, "t", 1.0, ("a",))])))
    assert good.fault is None


def test_what_failed_first_is_told_and_the_store_is_closed_all_the_same() -> None:
    closed: list[bool] = []

    def close() -> None:
        closed.append(True)
        raise RuntimeError("second")

    rows = faults(failing(remember=raising(ValueError("first")), close=close))
    assert closed == [True]
    assert {row.fault.message for row in rows if row.fault is not None} == {"ValueError: first"}


def test_being_told_to_end_is_no_fault_of_the_system_and_closes_the_store() -> None:
    closed: list[bool] = []
    workspaces: list[Path] = []

    class Interrupted(OffStore):
        def search(self, *_arguments: Any, **_more: Any) -> list[Hit]:
            raise ToldToEnd

        def close(self) -> None:
            closed.append(True)

    def make(workspace: Path) -> Store:
        workspaces.append(workspace)
        return Interrupted()

    with pytest.raises(ToldToEnd):
        attempt({"fake": System(make)}, [corpus()])
    assert closed == [True]
    assert not workspaces[0].exists()


def test_a_workspace_that_cannot_be_removed_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a file when it should be removed, which no folder can be."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    class Messy(Remembering):
        def __init__(self, workspace: Path) -> None:
            super().__init__()
            self._workspace = workspace

        def close(self) -> None:
            self._workspace.rmdir()
            self._workspace.touch()

    (row,) = attempt({"fake": System(Messy)}, [corpus()])
    assert row.fault is None
    assert len(list(tmp_path.iterdir())) == 1


# Secrets


@pytest.mark.parametrize("secret", [KEY, "hunter2-hunter2"])
@pytest.mark.parametrize("method", ["open", "remember", "search", "close"])
def test_the_value_of_a_secret_variable_does_not_reach_the_evidence(
    monkeypatch: pytest.MonkeyPatch, secret: str, method: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    error = ValueError(f"401: header {secret!r} was refused, in\n{secret}")
    rows = faults(failing(**{method: raising(error)}))
    written = "".join(row.model_dump_json() for row in rows)
    assert secret not in written
    assert "[redacted]" in written


@pytest.mark.parametrize("before", range(210, 310, 7))
def test_a_secret_that_the_end_of_a_message_cuts_is_redacted_before_it_is_cut(
    monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2-hunter2")
    wrong = Hit("m", "-" * before + "hunter2-hunter2", float("nan"), ("a",))
    for steps in ({"search": giving([wrong])}, {"search": giving(wrong)}, {"remember": giving(wrong)}):
        written = "".join(row.model_dump_json() for row in faults(failing(**steps)))
        assert "hun" not in written
    long = ValueError("-" * (1000 - len("ValueError: ") - 5) + "hunter2-hunter2")
    assert "hun" not in faults(failing(search=raising(long)))[1].model_dump_json()


def test_a_systems_answers_do_not_depend_on_which_questions_are_asked_beside_them() -> None:
    together = attempt({"good": GOOD}, [corpus("c1", a_question("q1", ["b"]), a_question("q2", ["c"]))])
    alone = attempt({"good": GOOD}, [corpus("c1", a_question("q2", ["c"]))])
    times = {"ingest_ms": 0.0, "query_ms": 0.0, "order": 0, "manifest_sha256": ""}
    assert together[1].model_copy(update=times) == alone[0].model_copy(update=times)


def test_hits_of_a_document_that_is_held_twice_are_of_one_source() -> None:
    system = answering(lambda memories, _query, _k: [hit_of(memories[0]), hit_of(memories[0]), hit_of(memories[1])])
    (row,) = attempt({"fake": system}, [corpus("c1", a_question(gold=["b"]))])
    assert (row.returned, row.gold_ranks) == (3, {"b": 2})
