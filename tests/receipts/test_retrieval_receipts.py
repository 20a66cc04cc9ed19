"""A receipt of a retrieval run is verified, an interrupted one can be finished, and every change of one is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from smriti.metrics import intervals
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY, ReceiptWriter, seal_files, stated
from smriti.score.retrieval import RetrievalScoring
from smriti.types import AskFault, QuestionEvidence, RetrievalConfig, ReturnedHit, Summary
from tests.receipts.build_retrieval import a_manifest, resume, steps, write, write_resumed
from tests.receipts.mutate import line, mutants, page
from tests.receipts.test_mutations import accepted, drop, judge, refusal, repeat, reseal, swap

WITHOUT_MEANING = {
    f"{SUMMARY}: finished": "the seal cannot cover itself; when the run ended is part of no figure",
}
"""What can be changed in a sealed receipt, nothing else being touched."""

ON_THE_MAKERS_WORD = {
    f"{SEAMS}: resumed": "when",
    f"{SEAMS}: after_rows": "a receipt has no other trace of where it was interrupted, as long as it is in range",
}
"""What can be changed by somebody who also writes the digest of the changed file into the seal.

Nothing of the manifest: each evidence line carries its digest.
"""

IN_NO_FIGURE = {
    "hits.[]": "which hits were returned as long as the gold among them keeps its rank, and those without a source",
    "ingest_ms": "of one corpus among several that were slower and faster",
    "query_ms": "likewise, of a question",
    "returned": "how many hits were left out below the largest k",
    "fault.message": "for the reader",
}
"""What can be changed in an evidence line by somebody who also scores it again and reseals: each was looked at with the
figures left as they were, so none of these changes could be told from another run's chance."""


@pytest.fixture(autouse=True)
def _intervals_of_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many mutants are looked at, and the time goes into bootstrap draws: writer and verifier take fewer."""
    monkeypatch.setattr(intervals, "RESAMPLES", 10)
    monkeypatch.setattr(intervals, "_AT_ONCE", 10)


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    return write_resumed(tmp_path / "receipt")


def figures(receipt: Path) -> dict[str, Any]:
    summary = json.loads((receipt / SUMMARY).read_bytes())
    return {key: summary[key] for key in ("coverage", "scores", "flags", "evidence_class")}


# Good receipts


def test_a_finished_receipt_is_verified_check_by_check(tmp_path: Path) -> None:
    verdict = verify(write(tmp_path))
    assert (verdict.state, verdict.evidence_class, verdict.resumed) == ("verified", "component", 0)
    assert {check.name: check.ok for check in verdict.checks} == {
        "manifest": True,
        "class": True,
        EVIDENCE: True,
        SCORES: True,
        "identity": True,
        "coverage": True,
        "contents": True,
        "files": True,
        "figures": True,
        "data set": None,
    }
    (unchecked,) = [check.detail for check in verdict.checks if check.ok is None]
    assert unchecked.endswith(f"the gold ids: the data set is not part of a receipt (locomo10 {'5' * 64})")


def test_a_resumed_receipt_is_verified_and_has_the_figures_of_an_undisturbed_one(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write_resumed(tmp_path / "other")
    verdict = verify(other)
    assert (verdict.state, verdict.resumed) == ("verified", 1)
    assert figures(one) == figures(other)
    assert (one / EVIDENCE).read_bytes() == (other / EVIDENCE).read_bytes()


@pytest.mark.parametrize("k", [(1,), (100,), (1, 2, 3, 100)])
@pytest.mark.parametrize("suite", ["longmemeval", "locomo", "coding-life"])
def test_every_suite_and_every_k_is_verified(tmp_path: Path, suite: str, k: tuple[int, ...]) -> None:
    made = a_manifest(suite=suite)
    made = made.model_copy(update={"config": made.config.model_copy(update={"k": k})})
    receipt = ReceiptWriter.create(tmp_path, made)
    for rows in steps(made):
        few = [row.model_copy(update={"hits": row.hits[: 1 if k == (1,) else None]}) for row in rows]
        # Listed as far as k reaches: with the largest, all that was returned.
        receipt.append([row.model_copy(update=all_listed(row)) if k[-1] == 100 else row for row in few])
    receipt.seal()
    receipt.close()
    assert verify(tmp_path).state == "verified", verify(tmp_path).checks


def all_listed(row: QuestionEvidence) -> dict[str, Any]:
    """Return what makes the hits that are listed all that there were."""
    listed = {source for hit in row.hits for source in hit.source_ids}
    ranks = {source: rank for source, rank in row.gold_ranks.items() if source in listed}
    return {"returned": len(row.hits), "gold_ranks": ranks}


# Interrupted


def moments() -> Iterator[dict[str, bytes]]:
    """Yield the files of rows as they are after each line, and in the middle of each, in the order of writing."""
    manifest = a_manifest()
    scoring = RetrievalScoring(manifest)
    held = {EVIDENCE: b"", SCORES: b""}
    for rows in steps(manifest):
        lines = [row.model_dump_json().encode() for row in rows]
        records = [scoring.record(row, hashlib.sha256(of).hexdigest()) for row, of in zip(rows, lines, strict=True)]
        for name, written in ((EVIDENCE, lines), (SCORES, [record.model_dump_json().encode() for record in records])):
            for content in written:
                yield dict(held)
                yield {**held, name: held[name] + content[: len(content) // 2]}
                yield {**held, name: held[name] + content}
                held[name] += content + b"\n"
    yield held


def test_interrupted_at_any_point_it_is_interrupted_and_once_resumed_verified(tmp_path: Path) -> None:
    expected = write(tmp_path / "whole")
    for number, held in enumerate(moments()):
        cut = tmp_path / str(number)
        cut.mkdir()
        (cut / MANIFEST).write_bytes(stated(a_manifest()))
        for name, content in held.items():
            (cut / name).write_bytes(content)
        verdict = verify(cut)
        assert verdict.state == "interrupted", (number, verdict.checks)
        resume(cut)
        assert verify(cut).state == "verified", number
        assert figures(cut) == figures(expected), number
        assert (cut / EVIDENCE).read_bytes() == (expected / EVIDENCE).read_bytes()
    assert number == 72


def test_more_evidence_without_score_lines_than_a_step_can_leave_is_refused(tmp_path: Path) -> None:
    """A corpus has at most 4 questions: so many lines."""
    write(tmp_path)
    (tmp_path / SUMMARY).unlink()
    lines = (tmp_path / SCORES).read_bytes().splitlines(keepends=True)
    for kept, state in ((12, "interrupted"), (8, "interrupted"), (7, "refused"), (0, "refused")):
        (tmp_path / SCORES).write_bytes(b"".join(lines[:kept]))
        assert verify(tmp_path).state == state, kept


# What no attempt can have left behind


def only(case: str, /, **fields: Any) -> Callable[[QuestionEvidence], dict[str, Any]]:
    return lambda row: fields if row.case == case else {}


def everyone(question: str, /, **fields: Any) -> Callable[[QuestionEvidence], dict[str, Any]]:
    return lambda row: fields if row.question == question else {}


def hits(*sources: str) -> tuple[ReturnedHit, ...]:
    return tuple(ReturnedHit(id="m", source_ids=tuple(of), score=0.0, content_sha256="7" * 64) for of in sources)


STRANGE: dict[str, tuple[Callable[[QuestionEvidence], dict[str, Any]], str]] = {
    "documents": (everyone("q1", documents=9), "9 documents in corpus 'c1', which the manifest does not say"),
    "gold without an answer": (
        everyone("q3", gold=("b",)),
        "gold evidence for a question without an answer",
    ),
    "gold of a group without an answer": (
        everyone("q3", group_gold={"none": ("b",)}),
        "gold evidence for a question without an answer",
    ),
    "gold twice": (everyone("q4", gold=("g", "g")), "a gold source is named twice"),
    "gold of a group twice": (everyone("q4", group_gold={"all": ("g", "g")}), "a gold source is named twice"),
    "gold of another group": (everyone("q4", group_gold={"x": ("g",)}), "gold evidence of a group that it is not in"),
    "more gold than documents": (everyone("q4", gold=tuple("fghijklmn")), "more gold sources than the 8 documents"),
    "twice in a group": (everyone("q4", groups=("all", "all")), "it counts twice in a group"),
    "gold for one system": (only("two/q1", gold=("b",)), "another question, or other gold, than another system"),
    "a type for one system": (only("two/q1", type="easy"), "another question, or other gold, than another system"),
    "groups for one system": (only("two/q1", groups=("all",)), "another question, or other gold"),
    "an answer for one system": (only("two/q4", answerable=False), "another question, or other gold"),
    "group gold for one system": (only("two/q1", group_gold={"plain": ("h",)}), "another question, or other gold"),
    "a time before": (only("one/q1", query_ms=-0.5), "a time before it began"),
    "ingestion before": (only("one/q1", ingest_ms=-0.5), "a time before it began"),
    "not asked": (only("one/q1", query_ms=None), "no fault, and yet it was not asked"),
    "not ingested": (only("one/q1", ingest_ms=None), "no fault, and yet it was not asked"),
    "more hits than were asked for": (only("one/q1", returned=9), "9 hits returned, 3 listed, 8 asked for"),
    "fewer hits than are listed": (only("one/q1", returned=2), "2 hits returned, 3 listed, 8 asked for"),
    "hits left out": (only("one/q1", hits=hits("a")), "hits are left out that the largest k reaches"),
    "hits that no k reaches": (only("one/q1", hits=hits(*"abcd")), "hits are listed that no k reaches"),
    "a better rank": (only("one/q2", gold_ranks={"a": 1, "b": 2, "c": 4}), "the ranks of the gold are not those"),
    "gold not ranked": (only("one/q2", gold_ranks={"b": 1, "c": 4}), "the ranks of the gold are not those of the hits"),
    "what is no gold ranked": (
        only("one/q2", gold_ranks={"a": 2, "b": 1, "c": 4, "h": 5}),
        "the ranks of the gold are not those of the hits",
    ),
    "below, at a listed rank": (only("one/q5", gold_ranks={"h": 3}), "gold is ranked where another source is"),
    "two below, at one rank": (
        only("one/q6", hits=hits("a", "c", "e"), returned=5, gold_ranks={"b": 4, "d": 4}),
        "gold is ranked where another source is",
    ),
    "below all that was returned": (
        only("one/q6", gold_ranks={"b": 2, "d": 3}),
        "gold is ranked that was not returned",
    ),
    "below all documents": (only("one/q5", gold_ranks={"h": 9}), "more sources than the 8 of the corpus"),
    "more sources than documents": (only("one/q4", hits=hits("abcdefghi"), returned=1), "more sources than the 8"),
    "failed with hits": (only("two/q1", hits=hits("a")), "failed, and yet it has hits"),
    "failed with a count": (only("two/q1", returned=1), "failed, and yet it has hits"),
    "failed with a rank": (only("two/q1", gold_ranks={"a": 1}), "failed, and yet it has hits"),
    "failed with a time": (only("two/q1", query_ms=1.0), "failed, and yet it has hits"),
    "never opened, ingested": (
        only("two/q5", ingest_ms=1.0),
        "failed in init, which its time of ingestion contradicts",
    ),
    "asked, never ingested": (
        only("two/q1", ingest_ms=None),
        "failed in query, which its time of ingestion contradicts",
    ),
    "closed, never ingested": (
        only("two/q1", ingest_ms=None, fault=AskFault(phase="teardown", message="broken")),
        "failed in teardown, which its time of ingestion contradicts",
    ),
    "its process ended, ingested": (
        only("two/q5", ingest_ms=1.0, fault=AskFault(phase="process", message="ended")),
        "failed in process, which its time of ingestion contradicts",
    ),
    "its process ended, hits": (
        only("two/q5", hits=hits("a"), fault=AskFault(phase="process", message="ended")),
        "failed, and yet it has hits",
    ),
    "its process ended, asked": (
        only("two/q5", query_ms=1.0, fault=AskFault(phase="process", message="ended")),
        "failed, and yet it has hits",
    ),
    "another run": (only("one/q1", run_id="other"), "of run 'other', not 'run'"),
    "another manifest": (only("one/q1", manifest_sha256="0" * 64), "written under another manifest"),
    "another place": (only("one/q1", order=1), "its place in the plan is another"),
    "another corpus": (only("one/q1", corpus="c2"), "its place in the plan is another"),
    "another system": (only("one/q1", system="two"), "its place in the plan is another"),
    "nowhere in the plan": (only("one/q1", case="one/q9"), "one/q9: not in the plan"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_row_that_no_attempt_can_have_left_is_refused_though_all_else_follows_from_it(
    tmp_path: Path, what: str
) -> None:
    change, message = STRANGE[what]
    made = a_manifest()
    (tmp_path / MANIFEST).write_bytes(stated(made))
    rewrite(tmp_path, [row.model_copy(update=change(row)) for rows in steps(made) for row in rows])
    assert message in refusal(tmp_path)


def rewrite(receipt: Path, rows: list[QuestionEvidence]) -> None:
    """Put these rows into a receipt, and write everything anew that follows from them."""
    made = a_manifest()
    scoring = RetrievalScoring(made)
    lines = [row.model_dump_json().encode() for row in rows]
    records = [scoring.record(row, hashlib.sha256(of).hexdigest()) for row, of in zip(rows, lines, strict=True)]
    (receipt / EVIDENCE).write_bytes(b"".join(of + b"\n" for of in lines))
    (receipt / SCORES).write_bytes(b"".join(record.model_dump_json().encode() + b"\n" for record in records))
    scores = scoring.scores(records)
    summary = Summary(
        coverage=scoring.coverage(records),
        scores=scores,
        flags=scoring.flags(records, scores),
        evidence_class=made.evidence_class,
        files=seal_files(receipt),
        finished="2026-01-02T00:00:00+00:00",
    )
    (receipt / SUMMARY).write_bytes(stated(summary))


def test_made_up_rows_that_could_have_been_are_another_consistent_receipt(tmp_path: Path) -> None:
    """Or else the test above would refuse everything; nothing less than a signature could tell who made a receipt."""
    made = a_manifest()
    (tmp_path / MANIFEST).write_bytes(stated(made))
    better = only("one/q6", hits=hits("b", "d"), gold_ranks={"b": 1, "d": 2})
    rewrite(tmp_path, [row.model_copy(update=better(row)) for rows in steps(made) for row in rows])
    assert verify(tmp_path).state == "verified", verify(tmp_path).checks


@pytest.mark.parametrize("lost", [{"two/q5", "two/q6"}, {"one/q5", "one/q6", "two/q1", "two/q2", "two/q3", "two/q4"}])
def test_a_step_whose_process_ended_is_verified_and_counts_as_nothing_found(tmp_path: Path, lost: set[str]) -> None:
    gone: dict[str, Any] = {
        "hits": (),
        "returned": 0,
        "gold_ranks": {},
        "ingest_ms": None,
        "query_ms": None,
        "fault": AskFault(phase="process", message="ended"),
    }
    made = a_manifest()
    (tmp_path / MANIFEST).write_bytes(stated(made))
    rewrite(tmp_path, [row.model_copy(update=gone if row.case in lost else {}) for of in steps(made) for row in of])
    assert verify(tmp_path).state == "verified", verify(tmp_path).checks
    records = [json.loads(of) for of in (tmp_path / SCORES).read_bytes().splitlines()]
    assert {row["case"] for row in records if (row["fault"] or {}).get("phase") == "process"} == lost
    failed = {case for case in lost if case.startswith("two")} | {"two/q1", "two/q5", "two/q6"}
    (counted,) = [
        score["value"]
        for score in figures(tmp_path)["scores"]
        if (score["metric"], score["system"], score["group"]) == ("failed", "two", "all")
    ]
    assert counted == len(failed - {"two/q3"}), "q3 has no answer, and is counted by itself"


def config(**fields: Any) -> RetrievalConfig:
    return a_manifest().config.model_copy(update=fields)


SELECTION = a_manifest().selection
CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "a system twice": ({"config": config(memory=("one", "one"))}, "one twice"),
    "a corpus twice": ({"corpora": (a_manifest().corpora[0],) * 2}, "c1 twice"),
    "systems": ({"systems": a_manifest().systems[:1]}, "1 systems identified, 2 named"),
    "k not rising": ({"config": config(k=(3, 1))}, "k is (3, 1); expected rising numbers from 1 to 100"),
    "k twice": ({"config": config(k=(3, 3))}, "k is (3, 3)"),
    "k of 0": ({"config": config(k=(0, 3))}, "k is (0, 3)"),
    "k of 101": ({"config": config(k=(1, 101))}, "k is (1, 101)"),
    "planned": ({"planned": 11}, "planned says 11; what it names makes 12"),
    "started": ({"started": "once"}, "started 'once' is no time"),
    "measured": ({"evidence_class": "measured"}, "measured: locomo is run without an agent"),
    "rehearsal": ({"evidence_class": "rehearsal"}, "rehearsal: locomo is run without an agent"),
    "no commit": (
        {"code": a_manifest().code.model_copy(update={"commit": None})},
        "needs clean code of a known commit",
    ),
    "dirty": ({"code": a_manifest().code.model_copy(update={"dirty": True})}, "needs clean code of a known commit"),
    "not known whether dirty": ({"code": a_manifest().code.model_copy(update={"dirty": None})}, "needs clean code"),
    "part of a set": ({"selection": {**SELECTION, "of": 7}}, "component needs the whole set, found 6 of 7"),
    "more than is asked": ({"selection": {**SELECTION, "selected": 7, "of": 7}}, "7 of 7 questions selected, 6 named"),
    "selected of fewer": ({"selection": {**SELECTION, "of": 5}}, "6 of 5 questions selected, 6 named"),
    "nothing selected": ({"selection": {}}, "None of None questions selected, 6 named"),
    "stratified": ({"config": config(stratify=9)}, "component needs the whole set, found stratify or limit"),
    "limited": ({"config": config(limit=9)}, "component needs the whole set, found stratify or limit"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_manifest_that_contradicts_itself_is_refused_before_any_row_is_written(tmp_path: Path, what: str) -> None:
    fields, message = CONTRADICTIONS[what]
    ReceiptWriter.create(tmp_path, a_manifest().model_copy(update=fields)).close()
    assert message in refusal(tmp_path)


def test_a_selection_is_a_development_receipt_and_verified_as_that(tmp_path: Path) -> None:
    selection = {"stratify": 1, "limit": None, "selected": 6, "of": 60}
    made = a_manifest(evidence_class="development", selection=selection, config=config(stratify=1))
    assert verify(write(tmp_path, made)).state == "verified"
    assert figures(tmp_path)["flags"][0].partition(":")[0] == "development"


# One change, nothing else touched


def edited(receipt: Path, file: str) -> Iterator[tuple[str, str]]:
    """Put the mutants of a file in its place, one at a time; yield where it was changed and how.

    Of what is all of one shape, which are figures, and rows that look like another one, every 29th mutant is taken.
    """
    original = (receipt / file).read_bytes()
    if file.endswith(".ndjson"):
        lines = original.splitlines(keepends=True)
        seen = set()
        for index, before in enumerate(lines):
            row = json.loads(before)
            assert line(row) + b"\n" == before
            shape = (str(row.get("fault")), bool(row.get("hits")), bool(row.get("gold")), bool(row.get("group_gold")))
            for number, mutant in enumerate(mutants(row)):
                alike = shape in seen or mutant.where.startswith(("metrics.", "group_metrics."))
                if not alike or (number + index) % 29 == 0:
                    changed = [*lines[:index], line(mutant.document) + b"\n", *lines[index + 1 :]]
                    (receipt / file).write_bytes(b"".join(changed))
                    yield mutant.where, mutant.change
            seen.add(shape)
    else:
        assert page(json.loads(original)) == original
        for number, mutant in enumerate(mutants(json.loads(original))):
            if not mutant.where.startswith("scores.[]") or number % 29 == 0:
                (receipt / file).write_bytes(page(mutant.document))
                yield mutant.where, mutant.change
    (receipt / file).write_bytes(original)


@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY])
def test_every_changed_field_of_every_file_is_refused(receipt: Path, file: str) -> None:
    count = 0
    passed = set()
    for where, change in edited(receipt, file):
        count += 1
        if accepted(receipt):
            passed.add(f"{file}: {where}")
            assert change == "another text", where
    assert count > (5 if file == SEAMS else 100)
    judge(WITHOUT_MEANING, passed, f"{file}: ")
    assert accepted(receipt)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("files", [(EVIDENCE,), (SCORES,), (EVIDENCE, SCORES)])
@pytest.mark.parametrize("change", [drop, repeat, swap])
def test_dropped_repeated_and_swapped_lines_are_refused(
    receipt: Path, change: Callable[[list[bytes], int], list[bytes]], files: tuple[str, ...], resealed: bool
) -> None:
    originals = {file: (receipt / file).read_bytes() for file in (*files, SUMMARY)}
    for index in range(11):
        for file in files:
            lines = originals[file].splitlines(keepends=True)
            (receipt / file).write_bytes(b"".join(change(lines, index)))
        if resealed:
            reseal(receipt)
        # Steps may end in any order: both files in another order, resealed, are a receipt as good.
        meaningless = change is swap and len(files) == 2 and resealed
        assert accepted(receipt) == meaningless, index
        if resealed and len(files) == 2 and not meaningless:
            assert (": missing" if change is drop else ": twice") in refusal(receipt)
        for file, original in originals.items():
            (receipt / file).write_bytes(original)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS])
def test_a_missing_file_is_refused(receipt: Path, file: str, resealed: bool) -> None:
    (receipt / file).unlink()
    if resealed:
        reseal(receipt)
    # Without a trace of its seams, a resealed receipt is one that was never interrupted.
    assert accepted(receipt) == (resealed and file == SEAMS)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("extra", ["notes.txt", "checks/x.gz", "a/b/c"])
def test_a_file_that_nothing_names_is_refused(receipt: Path, extra: str, resealed: bool) -> None:
    (receipt / extra).parent.mkdir(parents=True, exist_ok=True)
    (receipt / extra).write_bytes(b"extra")
    if resealed:
        reseal(receipt)
    assert f"{extra}: " in refusal(receipt)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SUMMARY])
def test_files_swapped_between_two_runs_are_refused_in_both(receipt: Path, file: str, resealed: bool) -> None:
    other = write(receipt.with_name("other"), a_manifest(run_id="other"))
    (receipt / file).rename(receipt.with_name("between"))
    (other / file).rename(receipt / file)
    receipt.with_name("between").rename(other / file)
    if resealed:
        reseal(receipt)
        reseal(other)
    # The figures of the two are the same, and the seal of one is then as good as that of the other.
    assert [accepted(receipt), accepted(other)] == [resealed and file == SUMMARY] * 2


# A change by somebody who writes the new digests into the seal


def test_an_edited_score_line_is_refused_whatever_the_seal_says(receipt: Path) -> None:
    seal = (receipt / SUMMARY).read_bytes()
    for where, change in edited(receipt, SCORES):
        reseal(receipt)
        assert not accepted(receipt), (where, change)
        (receipt / SUMMARY).write_bytes(seal)


@pytest.mark.parametrize("file", [MANIFEST, SEAMS])
def test_a_resealed_edit_is_refused_unless_only_the_makers_word_stands_behind_the_field(
    receipt: Path, file: str
) -> None:
    seal = (receipt / SUMMARY).read_bytes()
    passed = set()
    for where, _ in edited(receipt, file):
        reseal(receipt)
        if accepted(receipt):
            passed.add(f"{file}: {where}")
        (receipt / SUMMARY).write_bytes(seal)
    judge(ON_THE_MAKERS_WORD, passed, f"{file}: ")


def test_evidence_edited_scored_again_and_resealed_is_refused_unless_it_is_in_no_figure(receipt: Path) -> None:
    scores, seal = (receipt / SCORES).read_bytes(), (receipt / SUMMARY).read_bytes()
    passed = set()
    for where, _ in edited(receipt, EVIDENCE):
        rescore(receipt)
        reseal(receipt)
        if accepted(receipt):
            passed.add(where)
        (receipt / SCORES).write_bytes(scores)
        (receipt / SUMMARY).write_bytes(seal)
    judge(IN_NO_FIGURE, passed, "")


def rescore(receipt: Path) -> None:
    """Score every evidence line again, and write the score lines anew; a broken line keeps what it had."""
    written = []
    rows = (receipt / EVIDENCE).read_bytes().splitlines()
    for row, before in zip(rows, (receipt / SCORES).read_bytes().splitlines(), strict=True):
        digest = hashlib.sha256(row).hexdigest()
        try:
            written.append(before if digest.encode() in before else scored(row, digest))
        except ValidationError:
            written.append(before)
    (receipt / SCORES).write_bytes(b"".join(record + b"\n" for record in written))


SCORING = RetrievalScoring(a_manifest())


def scored(row: bytes, digest: str) -> bytes:
    return SCORING.record(QuestionEvidence.model_validate_json(row), digest).model_dump_json().encode()
