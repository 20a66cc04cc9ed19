"""What a verdict says of good receipts of every kind, and of bad ones that nobody could mutate into another."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from smriti.receipts import rows
from smriti.receipts.verify import Verdict, verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY, ReceiptWriter, open_regular, stated
from smriti.score.bench import planned_cases
from smriti.types import CodeIdentity, Fault, PhaseSeconds, Planted, Seam, SystemIdentity
from tests.receipts.build import a_manifest, evidence_of, write, write_resumed
from tests.strategies import usage


def refusals(verdict: Verdict) -> str:
    assert verdict.state == "refused", verdict.checks
    return "\n".join(f"{check.name}: {check.detail}" for check in verdict.checks if check.ok is False)


def detail(verdict: Verdict, name: str) -> str:
    (found,) = [check.detail for check in verdict.checks if check.name == name]
    return found


# Good receipts, told apart


def test_a_finished_receipt_is_verified_check_by_check(tmp_path: Path) -> None:
    verdict = verify(write(tmp_path))
    assert (verdict.state, verdict.evidence_class, verdict.resumed) == ("verified", "rehearsal", 0)
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
        "tasks": None,
    }


def test_what_could_not_be_looked_at_is_said_and_not_passed_over(tmp_path: Path) -> None:
    verdict = verify(write(tmp_path))
    assert detail(verdict, "tasks") == "the 3 task folders named in the manifest are not part of a receipt"


def test_a_stray_file_is_refused_unread_however_large_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    opened: list[str] = []

    def counted(path: Path) -> Any:
        opened.append(path.name)
        return open_regular(path)

    monkeypatch.setattr("smriti.receipts.writer.open_regular", counted)
    with (tmp_path / "stray").open("wb") as stray:
        stray.truncate(1 << 20)
    assert "stray: nothing in the receipt names it" in refusals(verify(tmp_path))
    assert SCORES in opened
    assert "stray" not in opened


def test_verifying_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    verify(tmp_path)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("rows", [0, 1, 7, 12])
def test_without_its_seal_a_receipt_is_interrupted_and_supports_no_claim(tmp_path: Path, rows: int) -> None:
    verdict = verify(write(tmp_path, rows=rows))
    assert verdict.state == "interrupted"
    assert detail(verdict, "coverage") == f"{rows} of 12 planned cases, none twice"
    assert "supports no claim" in detail(verdict, "seal")


def test_a_resumed_receipt_says_how_often_and_where(tmp_path: Path) -> None:
    verdict = verify(write_resumed(tmp_path))
    assert (verdict.state, verdict.resumed) == ("verified", 2)
    assert detail(verdict, "resumed") == "2 times, the last after 5 of 12 rows"


def test_a_receipt_that_was_resumed_and_interrupted_again_is_both(tmp_path: Path) -> None:
    write(tmp_path, rows=2)
    ReceiptWriter.resume(tmp_path, a_manifest()).close()
    verdict = verify(tmp_path)
    assert (verdict.state, verdict.resumed) == ("interrupted", 1)


@pytest.mark.parametrize(
    "after", [(3, 13), (5, 3), (3, 5, 4)], ids=["more rows than there are", "fewer than before", "later fewer"]
)
def test_seams_that_do_not_fit_the_run_are_refused(tmp_path: Path, after: tuple[int, ...]) -> None:
    write(tmp_path, rows=12)
    seams = [Seam(resumed="2026-01-01T00:00:00+00:00", after_rows=rows).model_dump_json() for rows in after]
    (tmp_path / SEAMS).write_text("".join(f"{seam}\n" for seam in seams))
    assert f"resumed: line {len(after)}: after {after[-1]} rows" in refusals(verify(tmp_path))


def test_a_seam_of_no_time_or_in_another_form_is_refused(tmp_path: Path) -> None:
    write(tmp_path, rows=12)
    for seam in ('{"resumed":"once","after_rows":3}', '{"resumed": "2026-01-01T00:00:00+00:00", "after_rows": 3}'):
        (tmp_path / SEAMS).write_text(seam + "\n")
        assert "resumed: line 1: " in refusals(verify(tmp_path))


STATED: dict[str, tuple[str, str, str]] = {
    "coverage": ('"completed": 6', '"completed": 7', "coverage does not follow"),
    "a figure": ('"value": 0.5', '"value": 0.75', "0.75 stated, 0.5 recomputed"),
    "the sign of nothing": ('"low": 0.0', '"low": -0.0', "not in the form"),
    "a flag": ("rehearsal: the agent", "rehearsal: some agent", "flags do not follow"),
    "the class": ('"evidence_class": "rehearsal"', '"evidence_class": "measured"', "class 'measured'"),
    "a figure said twice": ('"value": 0.5', '"value": 0.75,\n      "value": 0.5', "not in the form"),
}


@pytest.mark.parametrize("what", STATED)
def test_a_summary_that_does_not_follow_is_refused_with_what_is_wrong_in_it_named(tmp_path: Path, what: str) -> None:
    before, after, named = STATED[what]
    content = (write(tmp_path) / SUMMARY).read_text()
    assert before in content
    (tmp_path / SUMMARY).write_text(content.replace(before, after, 1))
    assert named in refusals(verify(tmp_path))


CONTRADICTED: dict[str, tuple[dict[str, Any], str]] = {
    "an agent too many": ({"agents": (SystemIdentity(name="x", version="1"),) * 2}, "and 2 agents identified"),
    "no memory system": ({"systems": ()}, "0 memory systems and 1 agents"),
    "a file store that no condition has": (
        {"systems": tuple(SystemIdentity(name=name, version="1") for name in ("embedded", "file"))},
        "2 memory systems and 1 agents",
    ),
    "a script that is not said to be one": (
        {"evidence_class": "measured", "config": a_manifest().config, "scripted": False},
        "agent rehearsal is scripted, which it does not say",
    ),
    "more tasks than it selected": ({"selection": {"selected": 2, "of": 3}}, "2 of 3 tasks selected, 3 named"),
    "fewer tasks to choose from": ({"selection": {"selected": 3, "of": 2}}, "3 of 2 tasks selected, 3 named"),
    "a name that is none": ({"run_id": "<b>run</b>"}, "run '<b>run</b>', 1 jobs"),
    "no level of a sandbox": ({"sandbox": ""}, "no sandbox level, be it none"),
    "no commit": (
        {"code": CodeIdentity(version="0", commit="HEAD", dirty=False, sha256="0" * 64)},
        "commit 'HEAD' is no commit",
    ),
    "no jobs": ({"jobs": 0}, "run 'run', 0 jobs"),
    "a sign that a terminal obeys": ({"delivery": "\x1b[31mhooks"}, "'\\x1b[31mhooks' holds what no terminal shows"),
    "a sign that turns a line round": ({"host": {"\u202esystem": 1}}, "holds what no terminal shows"),
}


@pytest.mark.parametrize("what", CONTRADICTED)
def test_a_manifest_that_contradicts_itself_is_refused_with_what_it_says(tmp_path: Path, what: str) -> None:
    fields, named = CONTRADICTED[what]
    assert named in refusals(verify(write(tmp_path, a_manifest(**fields))))


@pytest.mark.parametrize("kind", ["rehearsal", "development", "measured"])
def test_each_kind_of_evidence_is_named_with_what_it_is_worth(tmp_path: Path, kind: str) -> None:
    verdict = verify(write(tmp_path, a_manifest(evidence_class=kind)))
    assert (verdict.state, verdict.evidence_class) == ("verified", kind)
    assert detail(verdict, "class").startswith(f"{kind}: ")


NOT_MEASURED: dict[str, Any] = {
    "no commit": {"code": CodeIdentity(version="0", commit=None, dirty=False, sha256="0" * 64)},
    "dirty code": {"code": CodeIdentity(version="0", commit="c" * 40, dirty=True, sha256="0" * 64)},
    "unknown dirt": {"code": CodeIdentity(version="0", commit="c" * 40, dirty=None, sha256="0" * 64)},
    "a selection": {"selection": {"selected": 3, "of": 4}},
    "a count of other tasks": {"selection": {"selected": 4, "of": 4}},
    "no count": {"selection": {}},
}


def test_a_scripted_agent_makes_a_rehearsal_whatever_the_class_says(tmp_path: Path) -> None:
    called_measured = a_manifest(evidence_class="measured", scripted=True)
    assert "its agent is scripted" in refusals(verify(write(tmp_path / "measured", called_measured)))
    called_rehearsal = a_manifest(scripted=False)
    assert "not said to be scripted" in refusals(verify(write(tmp_path / "rehearsal", called_rehearsal)))


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "link to a folder"])
def test_what_is_neither_a_file_nor_a_folder_of_a_receipt_is_refused(tmp_path: Path, kind: str) -> None:
    receipt = write(tmp_path / "receipt")
    stray = receipt / "stray"
    if kind == "pipe":
        os.mkfifo(stray)
    elif kind == "folder":
        stray.mkdir()
    else:
        stray.symlink_to(tmp_path if "folder" in kind else tmp_path / "nowhere")
    assert "stray: a link, a special file or a folder" in refusals(verify(receipt))


def test_a_seal_from_before_the_start_is_refused(tmp_path: Path) -> None:
    receipt = write(tmp_path / "receipt")
    seal = json.loads((receipt / SUMMARY).read_bytes())
    text = (receipt / SUMMARY).read_text().replace(seal["finished"], "1999-01-01T00:00:00+00:00")
    (receipt / SUMMARY).write_text(text)
    assert "is no time after" in refusals(verify(receipt))


@pytest.mark.parametrize("why", NOT_MEASURED)
def test_a_measured_receipt_is_refused_where_its_manifest_says_that_it_is_not(tmp_path: Path, why: str) -> None:
    made = a_manifest(evidence_class="measured", **NOT_MEASURED[why])
    assert "class: measured needs" in refusals(verify(write(tmp_path, made)))


def test_the_bench_has_no_component_receipts(tmp_path: Path) -> None:
    assert "class: component" in refusals(verify(write(tmp_path, a_manifest(evidence_class="component"))))


# Interrupted receipts


def test_a_transcript_that_is_not_there_is_refused_before_the_seal_too(tmp_path: Path) -> None:
    write(tmp_path, rows=3)
    gone = min((tmp_path / "transcripts").iterdir())
    gone.unlink()
    assert f"contents: transcripts/{gone.name}: " in refusals(verify(tmp_path))


@pytest.mark.parametrize("file", [EVIDENCE, SCORES])
def test_before_the_seal_a_cut_last_line_is_no_fault(tmp_path: Path, file: str) -> None:
    write(tmp_path, rows=3)
    content = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(content[:-20])
    verdict = verify(tmp_path)
    # The score line cannot be without its evidence line, which was on the disk before it.
    assert verdict.state == ("interrupted" if file == SCORES else "refused")


def test_before_the_seal_what_is_cut_or_not_scored_yet_is_told(tmp_path: Path) -> None:
    write(tmp_path, rows=3)
    assert detail(verify(tmp_path), EVIDENCE) == "3 rows, each as its schema says"
    content = (tmp_path / SCORES).read_bytes()
    (tmp_path / SCORES).write_bytes(content[:-20])
    assert f"(1 of them not scored yet; the last line of {SCORES} is cut: --resume" in detail(
        verify(tmp_path), EVIDENCE
    )


@pytest.mark.parametrize("name", [MANIFEST, EVIDENCE, SCORES, SUMMARY])
def test_a_file_that_never_ends_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in refusals(verify(tmp_path))


def test_a_few_bytes_that_hold_more_than_any_run_keeps_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smriti.receipts.verify.MOST_CONTENT_BYTES", 2)
    write(tmp_path)
    assert "holds more than 2 bytes" in refusals(verify(tmp_path))


def test_a_receipt_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(_path: Path, *, sealed: bool) -> list[bytes]:
        raise MemoryError(sealed)

    write(tmp_path)
    monkeypatch.setattr(rows, "read_lines", exhausted)
    assert "larger than the memory of this machine" in refusals(verify(tmp_path))


def test_before_the_seal_the_last_evidence_line_may_lack_its_score_line_and_no_other_may(tmp_path: Path) -> None:
    write(tmp_path, rows=3)
    lines = (tmp_path / SCORES).read_bytes().splitlines(keepends=True)
    (tmp_path / SCORES).write_bytes(b"".join(lines[:2]))
    assert verify(tmp_path).state == "interrupted"
    (tmp_path / SCORES).write_bytes(b"".join(lines[:1]))
    assert "1 rows to 3" in refusals(verify(tmp_path))


def test_an_edited_score_is_found_before_the_seal_too(tmp_path: Path) -> None:
    write(tmp_path, rows=3)
    content = (tmp_path / SCORES).read_bytes()
    (tmp_path / SCORES).write_bytes(content.replace(b'"status":"failed"', b'"status":"passed"', 1))
    assert "status does not follow from the evidence" in refusals(verify(tmp_path))


# Receipts that the writer would never write, made through it from evidence that no trial leaves behind


FAULT = Fault(status="agent_error", phase="agent", message="planted")
IMPOSSIBLE: dict[str, tuple[str, dict[str, Any]]] = {
    "planted twice": ("alpha/on/t1", {"planted": (Planted(id="m", source_id="m", role="stale"),) * 2}),
    "planted under off": ("alpha/off/t1", {"planted": (Planted(id="m", source_id="m", role="stale"),)}),
    "delivered under off": ("alpha/off/t1", {"delivery": "hooks"}),
    "fewer turns than none": ("alpha/on/t1", {"turns": -1}),
    "a phase that ended before it began": ("alpha/on/t1", {"seconds": PhaseSeconds(agent=-0.5)}),
    "a fault that is a verdict": ("alpha/on/t1", {"fault": FAULT.model_copy(update={"status": "passed"})}),
    "a verdict without a check": ("alpha/on/t1", {"check_exit_status": None}),
    "a verdict of a check that a signal ended": ("alpha/on/t1", {"check_exit_status": -9}),
    "a verdict without a transcript": ("alpha/on/t1", {"transcript_sha256": None}),
    "a verdict without a diff": ("alpha/on/t1", {"diff_sha256": None}),
    "a verdict without the check's output": ("alpha/on/t1", {"check_output_sha256": None}),
    "a verdict over the token limit": ("alpha/on/t1", {"usage": usage(1001)}),
    "a skipped trial with an agent": ("gamma/on/t1", {"agent_exit_status": 0}),
    "a skipped trial with memories": ("gamma/on/t1", {"planted": (Planted(id="1", source_id="m1", role="stale"),)}),
    "an echo of nothing": ("alpha/off/t1", {"echoed_ids": ("1",)}),
    "another trial's realm": ("alpha/on/t1", {"realm": "project:smriti-alpha-run-off-t1"}),
    "another task's digest": ("alpha/on/t1", {"task_sha256": "1" * 64}),
    "another task's family": ("alpha/on/t1", {"family": "exploration"}),
    "another task's split": ("alpha/on/t1", {"split": "holdout"}),
    "another run": ("alpha/on/t1", {"run_id": "other"}),
    "an unknown task": ("alpha/on/t1", {"task_id": "delta"}),
    "a condition that was not planned": ("alpha/on/t1", {"condition": "file"}),
    "a trial that was not planned": ("alpha/on/t1", {"trial": 3}),
    "another place in the order": ("alpha/on/t1", {"order": 99}),
    "a case that was not planned": ("alpha/on/t1", {"case": "alpha/on/t9"}),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_evidence_that_no_trial_leaves_behind_is_refused(tmp_path: Path, what: str) -> None:
    changed, fields = IMPOSSIBLE[what]
    receipt = ReceiptWriter.create(tmp_path, a_manifest())
    for case in planned_cases(receipt.manifest):
        evidence = evidence_of(receipt, case)
        receipt.append([evidence.model_copy(update=fields) if case.id == changed else evidence])
    receipt.close()
    assert fields.get("case", changed) in refusals(verify(tmp_path))


INCOHERENT: dict[str, dict[str, Any]] = {
    "a plan of another size": {"planned": 13},
    "two seeds": {"seed": 1},
    "a start that is no time": {"started": "yesterday"},
    "a start without a zone": {"started": "2026-01-01T00:00:00"},
    "a task twice": {"tasks": (*a_manifest().tasks, a_manifest().tasks[0]), "planned": 16},
    "a condition twice": {
        "config": a_manifest().config.model_copy(update={"conditions": ("off", "on", "on")}),
        "planned": 18,
    },
}


@pytest.mark.parametrize("what", INCOHERENT)
def test_a_manifest_that_contradicts_itself_is_refused(tmp_path: Path, what: str) -> None:
    assert "manifest: " in refusals(verify(write(tmp_path, a_manifest(**INCOHERENT[what]), rows=2)))


def test_a_plan_that_no_run_has_is_refused_and_not_laid_out(tmp_path: Path) -> None:
    made = a_manifest()
    huge = made.config.model_copy(update={"trials": 10**15})
    ReceiptWriter.create(tmp_path, made.model_copy(update={"config": huge, "planned": 6 * 10**15})).close()
    assert "no run has so many" in refusals(verify(tmp_path))
    assert rows.MOST_CASES < 10**15


def test_a_manifest_in_another_form_is_refused_since_another_reader_may_see_another_thing_in_it(tmp_path: Path) -> None:
    write(tmp_path, rows=1)
    content = (tmp_path / MANIFEST).read_bytes()
    twice = content.replace(b'"seed": 0,\n  "sandbox"', b'"seed": 7,\n  "seed": 0,\n  "sandbox"')
    assert twice != content
    for other in (twice, content.rstrip(), json.dumps(json.loads(content)).encode()):
        (tmp_path / MANIFEST).write_bytes(other)
        assert "manifest: not in the form in which it is written" in refusals(verify(tmp_path))


# Files that cannot be read


GARBAGE = {
    "empty": b"",
    "binary": bytes(range(256)),
    "half an object": b'{"schema": ',
    "a list": b"[]\n",
    "null": b"null\n",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY])
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_is_refused_and_raises_nothing(tmp_path: Path, file: str, garbage: str) -> None:
    write_resumed(tmp_path)
    (tmp_path / file).write_bytes(GARBAGE[garbage])
    assert refusals(verify(tmp_path))


@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY])
def test_a_folder_in_the_place_of_a_file_is_refused_and_raises_nothing(tmp_path: Path, file: str) -> None:
    write_resumed(tmp_path)
    (tmp_path / file).unlink()
    (tmp_path / file).mkdir()
    assert refusals(verify(tmp_path))


def test_what_is_no_receipt_is_refused_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        assert "not a receipt" in refusals(verify(path))


def test_a_link_to_blobs_elsewhere_is_no_part_of_a_receipt(tmp_path: Path) -> None:
    write(tmp_path / "receipt")
    shutil.move(tmp_path / "receipt/transcripts", tmp_path / "elsewhere")
    (tmp_path / "receipt/transcripts").symlink_to(tmp_path / "elsewhere")
    assert "files: transcripts/" in refusals(verify(tmp_path / "receipt"))


def test_of_many_findings_of_one_kind_a_few_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    write(tmp_path)
    content = (tmp_path / SCORES).read_bytes()
    (tmp_path / SCORES).write_bytes(content.replace(b'"echoed":false', b'"echoed":true'))
    assert "; and 7 more" in refusals(verify(tmp_path))


def test_the_form_in_which_a_receipt_is_written_is_plain_json(tmp_path: Path) -> None:
    write(tmp_path)
    content = (tmp_path / MANIFEST).read_bytes()
    assert stated(a_manifest()) == content == (json.dumps(json.loads(content), indent=2) + "\n").encode()
