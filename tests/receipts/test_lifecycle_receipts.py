"""A receipt of a lifecycle run is verified, an interrupted one can be finished, and every change of one is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from smriti.errors import ReceiptError
from smriti.receipts.claim import make_claim
from smriti.receipts.sealed import read_sealed
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY, ReceiptWriter, seal_files, stated
from smriti.score.lifecycle import LifecycleScoring
from smriti.types import (
    Action,
    LifecycleCheck,
    LifecycleEvidence,
    LifecycleFault,
    LifecyclePhase,
    LifecycleStep,
    Observed,
    ObservedHit,
    Summary,
)
from tests.receipts.build_lifecycle import a_manifest, rows, write, write_resumed
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
    "observed.[].hits.[]": "how many hits there were, and in which order, as long as what was wanted is among them",
    "observed.[].hits": "likewise",
    "observed.[].ids": "which id was given out, where nothing refers to it later",
    "fault.message": "for the reader",
}
"""What can be changed in an evidence line by somebody who also scores it again and reseals: each was looked at with the
figures left as they were, so none of these changes could be told from another run's chance."""


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


def test_a_resumed_receipt_is_verified_and_has_the_figures_of_an_undisturbed_one(tmp_path: Path) -> None:
    one, other = write(tmp_path / "one"), write_resumed(tmp_path / "other")
    verdict = verify(other)
    assert (verdict.state, verdict.resumed) == ("verified", 1)
    assert figures(one) == figures(other)
    assert (one / EVIDENCE).read_bytes() == (other / EVIDENCE).read_bytes()


def test_cases_that_pass_fail_break_off_and_are_not_asked_are_all_in_the_figures(tmp_path: Path) -> None:
    found = figures(write(tmp_path))
    assert found["coverage"] == {"planned": 12, "completed": 10, "failed": 1, "skipped": 1}
    of = {
        (score["metric"], score["system"]): (score["value"], score["n"], score["excluded"])
        for score in found["scores"]
        if score["group"] == "all"
    }
    assert of["pass_rate", "one"] == (1.0, 6, 0)
    assert of["pass_rate", "two"] == (3 / 5, 5, 1)
    assert of["pass_rate_over_all", "two"] == (3 / 6, 6, 0)
    assert [of[name, "two"][0] for name in ("passed", "failed", "unsupported")] == [3.0, 2.0, 1.0]
    single = {score["group"]: score["value"] for score in found["scores"] if score["system"] == "two"}
    assert (single["expand"], single["forget"], single["action"]) == (None, 0.0, 1.0)
    assert [flag.partition(":")[0] for flag in found["flags"]] == ["faults", "failed", "changed fact", "unsupported"]
    assert found["flags"][0] == "faults: 1 case broke off and failed: two/capture (check)"


def test_a_line_that_an_interrupt_left_without_its_score_is_allowed_before_the_seal(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / SUMMARY).unlink()
    lines = (tmp_path / SCORES).read_bytes().splitlines(keepends=True)
    for kept, state in ((12, "interrupted"), (11, "interrupted"), (10, "refused")):
        (tmp_path / SCORES).write_bytes(b"".join(lines[:kept]))
        assert verify(tmp_path).state == state, kept


def test_it_is_neither_reported_nor_compared_nor_claimed_from(receipt: Path) -> None:
    with pytest.raises(ReceiptError, match="which is not reported, compared or claimed from yet; `smriti verify`"):
        read_sealed(receipt)
    gates = make_claim([receipt])
    assert isinstance(gates, list)
    assert "claimed from yet" in gates[0].found


# What no case can have left behind


Change = Callable[[LifecycleEvidence], LifecycleEvidence]


def of_case(case: str, change: Change) -> Change:
    return lambda row: change(row) if row.case == case else row


def fields(case: str, /, **changed: Any) -> Change:
    return of_case(case, lambda row: row.model_copy(update=changed))


def first(case: str, verb: str, change: Callable[[Observed], dict[str, Any]]) -> Change:
    """Change the first call of a verb that brought something."""

    def changed(row: LifecycleEvidence) -> LifecycleEvidence:
        number = next(
            n for n, each in enumerate(row.observed) if each.asking.verb == verb and (each.hits or each.ids or n == 3)
        )
        call = row.observed[number]
        observed = (*row.observed[:number], call.model_copy(update=change(call)), *row.observed[number + 1 :])
        return row.model_copy(update={"observed": observed})

    return of_case(case, changed)


def hits(change: Callable[[tuple[ObservedHit, ...]], tuple[ObservedHit, ...]]) -> Callable[[Observed], dict[str, Any]]:
    return lambda call: {"hits": change(call.hits)}


def asked(**changed: Any) -> Callable[[Observed], dict[str, Any]]:
    return lambda call: {"asking": call.asking.model_copy(update=changed)}


def cut(case: str, count: int, phase: LifecyclePhase | None = None) -> Change:
    fault = None if phase is None else LifecycleFault(phase=phase, message="broken")
    return of_case(case, lambda row: row.model_copy(update={"observed": row.observed[:count], "fault": fault}))


HIT = ObservedHit(id="x", source_ids=(), sha256="7" * 64, holds=())
OTHER = Action(id="x", title="x", memory_ids=())
STRANGE: dict[str, tuple[Change, str]] = {
    "a call left out": (
        of_case("one/forget", lambda row: row.model_copy(update={"observed": row.observed[1:]})),
        "are not those of the check",
    ),
    "a broken look left out at the end": (cut("two/forget", 3), "no fault, and yet 3 of"),
    "less wanted": (first("one/forget", "search", asked(wanted=())), "its calls are not those of the check"),
    "less unwanted": (first("one/forget", "search", asked(unwanted=("neighbour",))), "are not those of the check"),
    "another layer": (first("one/forget", "search", asked(layer="elsewhere")), "are not those of the check"),
    "unsupported, and asked": (
        fields("two/expand", fault=LifecycleFault(phase="init", message="x")),
        "and yet the system does not declare expand",
    ),
    "never opened, and calls": (cut("one/ids", 1, "init"), "failed in init, and yet it made calls"),
    "its process ended, and calls": (cut("one/ids", 1, "process"), "failed in process, and yet it made calls"),
    "closed before its end": (cut("one/ids", 1, "teardown"), "failed in teardown, after 1 of 3 calls"),
    "failed in a check that was never reached": (cut("one/ids", 1, "check"), "which is not where its calls end"),
    "failed after all": (cut("one/ids", 3, "check"), "which is not where its calls end"),
    "another id forgotten": (
        first("one/forget", "forget", lambda _: {"ids": ("m2",)}),
        "other ids are forgotten than were given out",
    ),
    "another hit expanded": (
        first("one/expand", "expand", lambda _: {"ids": ("m9",)}),
        "another hit is expanded than was found",
    ),
    "acted for other hits": (
        first(
            "one/action", "act", lambda call: {"actions": (call.actions[0].model_copy(update={"memory_ids": ("m9",)}),)}
        ),
        "it does not follow from the hits before it",
    ),
    "another action recorded": (first("one/action", "act", lambda _: {"ids": ("a9",)}), "another action than the one"),
    "its own text, and it holds nothing": (
        first("one/forget", "search", hits(lambda all_: tuple(hit.model_copy(update={"holds": ()}) for hit in all_))),
        "the very text of a memory, and yet it does not hold it",
    ),
    "a text holds two things": (
        first("one/forget", "recall", hits(lambda all_: (*all_[:-1], all_[-1].model_copy(update={"holds": ()})))),
        "one text holds two different things",
    ),
    "what the check does not have": (
        first("one/forget", "search", hits(lambda all_: (*all_, HIT.model_copy(update={"holds": ("x",)})))),
        "holds what the check does not have",
    ),
    "too many hits": (first("one/forget", "search", hits(lambda all_: all_ + (HIT,) * 10)), "hits"),
    "ids of a look": (
        first("one/forget", "search", lambda _: {"ids": ("x",)}),
        "ids or hits, which search does not bring",
    ),
    "hits of a change": (first("one/forget", "forget", lambda _: {"hits": (HIT,)}), "which forget does not bring"),
    "commands of a search": (
        first("one/forget", "search", lambda _: {"commands": ("x",)}),
        "commands without a reader",
    ),
    "a command overlooked": (first("one/action", "read", lambda _: {"commands": ()}), "did not see a command that the"),
    "a command twice": (first("one/action", "read", lambda call: {"commands": call.commands * 2}), "or twice the same"),
    "an action of a search": (
        first("one/forget", "search", lambda _: {"actions": (OTHER,)}),
        "actions of another verb",
    ),
    "another run": (fields("one/ids", run_id="other"), "of run 'other', not 'run'"),
    "another manifest": (fields("one/ids", manifest_sha256="0" * 64), "written under another manifest"),
    "another place": (fields("one/ids", order=3), "its place in the plan is another"),
    "another check": (fields("one/ids", check="forget"), "its calls are not those of the check"),
    "no check": (fields("one/ids", check="nothing"), "check 'nothing' of 'one', which the manifest does not have"),
    "no system": (fields("one/ids", system="three"), "of 'three', which the manifest does not have"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_row_that_no_case_can_have_left_is_refused_though_all_else_follows_from_it(tmp_path: Path, what: str) -> None:
    change, message = STRANGE[what]
    made = a_manifest()
    (tmp_path / MANIFEST).write_bytes(stated(made))
    rewrite(tmp_path, [change(row) for row in rows(made)])
    assert message in refusal(tmp_path)


def rewrite(receipt: Path, made_up: list[LifecycleEvidence]) -> None:
    """Put these rows into a receipt, and write everything anew that follows from them."""
    made = a_manifest()
    scoring = LifecycleScoring(made)
    lines = [row.model_dump_json().encode() for row in made_up]
    records = [scoring.record(row, hashlib.sha256(of).hexdigest()) for row, of in zip(made_up, lines, strict=True)]
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


@pytest.mark.parametrize(
    ("count", "phase"), [(0, "init"), (0, "process"), (1, "control"), (2, "check"), (3, "teardown")]
)
def test_rows_that_could_have_been_are_another_consistent_receipt(
    tmp_path: Path, count: int, phase: LifecyclePhase
) -> None:
    """Or else the test above would refuse everything; nothing less than a signature could tell who made a receipt."""
    made = a_manifest()
    (tmp_path / MANIFEST).write_bytes(stated(made))
    change = cut("one/ids", count, phase)
    rewrite(tmp_path, [change(row) for row in rows(made)])
    assert verify(tmp_path).state == "verified", verify(tmp_path).checks
    assert figures(tmp_path)["coverage"]["failed"] == 2


def check(**changed: Any) -> dict[str, Any]:
    """Change the check `forget` of the manifest."""
    return {"checks": tuple(c.model_copy(update=changed) if c.id == "forget" else c for c in a_manifest().checks)}


def steps(change: Callable[[tuple[LifecycleStep, ...]], tuple[LifecycleStep, ...]]) -> dict[str, Any]:
    (forget,) = [c for c in a_manifest().checks if c.id == "forget"]
    return check(steps=change(forget.steps))


def step(number: int, **changed: Any) -> dict[str, Any]:
    return steps(lambda all_: (*all_[:number], all_[number].model_copy(update=changed), *all_[number + 1 :]))


SCRIPTS: dict[str, tuple[dict[str, Any], str]] = {
    "no control": (
        steps(lambda all_: tuple(s.model_copy(update={"part": "check"}) for s in all_)),
        "control steps first",
    ),
    "control last": (steps(lambda all_: (*all_[2:], *all_[:2])), "control steps first"),
    "a control without a look": (steps(lambda all_: (all_[0], *all_[2:])), "no look in its control part"),
    "a check without a look": (steps(lambda all_: all_[:3]), "no look in its check part"),
    "a step name twice": (step(1, name="both are remembered"), "'both are remembered' twice"),
    "a fact that it does not have": (check(changes=("old", "new")), "a changed fact"),
    "an unknown memory": (step(1, wanted=("x",)), "unknown memories x"),
    "wanted and unwanted": (step(1, wanted=("gone",), unwanted=("gone",)), "wanted and unwanted at once"),
    "no query": (step(1, query=""), "no query"),
    "nothing looked for": (step(1, wanted=()), "nothing wanted and nothing unwanted"),
    "everywhere, and no search": (step(3, verb="read"), "ways to search"),
    "forgotten before it was remembered": (step(0, memories=("neighbour",)), "gone was not remembered before"),
    "nothing remembered": (step(0, memories=()), "no memories"),
    "corrected with nothing": (step(2, verb="correct"), "1 memories, expected the old one and the new one"),
    "acted upon nothing": (step(2, verb="act"), "expected one memory and the command that it names"),
    "two expanded": (step(1, verb="expand", memories=("gone", "neighbour")), "2 memories, expected one"),
}
CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    **SCRIPTS,
    "a check twice": ({"checks": a_manifest().checks[:1] * 2}, "twice"),
    "systems": ({"systems": a_manifest().systems[:1]}, "1 systems identified, 2 named"),
    "planned": ({"planned": 11}, "planned says 11; what it names makes 12"),
    "started": ({"started": "once"}, "started 'once' is no time"),
    "capabilities of others": ({"capabilities": {"one": ()}}, "capabilities of one, expected of one, two"),
    "layers of others": ({"layers": {"one": ()}}, "layers of one, expected of one, two"),
    "capabilities unsorted": (
        {"capabilities": {"one": ("b", "a"), "two": ()}, "layers": {"one": (), "two": ()}},
        "not sorted",
    ),
    "undeclared layers": ({"layers": {"one": (), "two": ("x",)}}, "layers of two, which does not declare"),
    "a part of the checks": ({"selection": {"selected": 6, "of": 7}}, "expected all 6 checks"),
    "measured": ({"evidence_class": "measured"}, "measured: lifecycle is run without an agent"),
    "no commit": ({"code": a_manifest().code.model_copy(update={"commit": None})}, "needs clean code"),
    "dirty": ({"code": a_manifest().code.model_copy(update={"dirty": True})}, "needs clean code"),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_manifest_that_contradicts_itself_is_refused_before_any_row_is_written(tmp_path: Path, what: str) -> None:
    changed, message = CONTRADICTIONS[what]
    ReceiptWriter.create(tmp_path, a_manifest().model_copy(update=changed)).close()
    assert message in refusal(tmp_path)


def test_every_check_that_comes_with_smriti_is_accepted(tmp_path: Path) -> None:
    assert all(isinstance(each, LifecycleCheck) for each in a_manifest().checks)
    ReceiptWriter.create(tmp_path, a_manifest()).close()
    assert verify(tmp_path).state == "interrupted"


# One change, nothing else touched


def edited(receipt: Path, file: str, stride: int) -> Iterator[tuple[str, str]]:
    """Put mutants of a file in its place, one at a time; yield where it was changed and how.

    Of each place and change the first is taken, and every `stride`th of all the others; no text stays no text.
    """
    original = (receipt / file).read_bytes()
    seen: set[tuple[object, ...]] = set()
    if file.endswith(".ndjson"):
        lines = original.splitlines(keepends=True)
        for index, before in enumerate(lines):
            row = json.loads(before)
            assert line(row) + b"\n" == before
            for number, mutant in enumerate(mutants(row)):
                shape = (mutant.where, mutant.change)
                if mutant.document != row and (shape not in seen or (number + index) % stride == 0):
                    changed = [*lines[:index], line(mutant.document) + b"\n", *lines[index + 1 :]]
                    (receipt / file).write_bytes(b"".join(changed))
                    yield mutant.where, mutant.change
                seen.add(shape)
    else:
        assert page(json.loads(original)) == original
        for number, mutant in enumerate(mutants(json.loads(original))):
            shape = (mutant.where, mutant.change)
            if mutant.document != json.loads(original) and (shape not in seen or number % stride == 0):
                (receipt / file).write_bytes(page(mutant.document))
                yield mutant.where, mutant.change
            seen.add(shape)
    (receipt / file).write_bytes(original)


@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY])
def test_every_changed_field_of_every_file_is_refused(receipt: Path, file: str) -> None:
    count = 0
    passed = set()
    for where, change in edited(receipt, file, 97):
        count += 1
        if accepted(receipt):
            passed.add(f"{file}: {where}")
            assert change == "another text", where
    assert count > (5 if file == SEAMS else 60)
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
        # Cases end in an order of chance: both files in another order, resealed, are a receipt as good.
        meaningless = change is swap and len(files) == 2 and resealed
        assert accepted(receipt) == meaningless, index
        for file, original in originals.items():
            (receipt / file).write_bytes(original)


def test_an_edited_score_line_is_refused_whatever_the_seal_says(receipt: Path) -> None:
    seal = (receipt / SUMMARY).read_bytes()
    for where, change in edited(receipt, SCORES, 41):
        reseal(receipt)
        assert not accepted(receipt), (where, change)
        (receipt / SUMMARY).write_bytes(seal)


@pytest.mark.parametrize("file", [MANIFEST, SEAMS])
def test_a_resealed_edit_is_refused_unless_only_the_makers_word_stands_behind_the_field(
    receipt: Path, file: str
) -> None:
    seal = (receipt / SUMMARY).read_bytes()
    passed = set()
    for where, _ in edited(receipt, file, 97):
        reseal(receipt)
        if accepted(receipt):
            passed.add(f"{file}: {where}")
        (receipt / SUMMARY).write_bytes(seal)
    judge(ON_THE_MAKERS_WORD, passed, f"{file}: ")


def test_evidence_edited_scored_again_and_resealed_is_refused_unless_it_is_in_no_figure(receipt: Path) -> None:
    scores, seal = (receipt / SCORES).read_bytes(), (receipt / SUMMARY).read_bytes()
    passed = set()
    for where, _ in edited(receipt, EVIDENCE, 61):
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
    of = (receipt / EVIDENCE).read_bytes().splitlines()
    for row, before in zip(of, (receipt / SCORES).read_bytes().splitlines(), strict=True):
        digest = hashlib.sha256(row).hexdigest()
        try:
            written.append(before if digest.encode() in before else scored(row, digest))
        except ValidationError:
            written.append(before)
    (receipt / SCORES).write_bytes(b"".join(record + b"\n" for record in written))


SCORING = LifecycleScoring(a_manifest())


def scored(row: bytes, digest: str) -> bytes:
    return SCORING.record(LifecycleEvidence.model_validate_json(row), digest).model_dump_json().encode()


def test_figures_do_not_change_with_the_order_of_lines() -> None:
    """So that the order, which a reseal can change, is without meaning."""
    records = [SCORING.record(row, "0" * 64) for row in rows(a_manifest())]
    assert SCORING.scores(records) == SCORING.scores(records[::-1])
    assert SCORING.flags(records, ()) == SCORING.flags(records[::-1], ())
