"""What stands on the disk after each step of a receipt's life, and what is refused."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smriti.errors import ReceiptError
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY, ReceiptWriter, read_manifest, stated
from smriti.score.bench import planned_cases
from smriti.types import BenchManifest, SystemIdentity, TaskIdentity, TrialEvidence, TrialRecord
from tests.receipts.build import BenchReceipt, a_manifest, append, evidence_of, python, write


@pytest.fixture
def receipt(tmp_path: Path) -> Iterator[BenchReceipt]:
    writer = ReceiptWriter.create(tmp_path / "receipt", a_manifest())
    yield writer
    writer.close()


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def names(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


# Starting


def test_the_manifest_is_on_the_disk_before_any_trial(receipt: BenchReceipt) -> None:
    assert read_manifest(receipt.directory) == receipt.manifest == a_manifest()
    assert names(receipt.directory) == {MANIFEST, EVIDENCE, SCORES}


def test_missing_folders_are_made_and_an_empty_one_is_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for directory in (tmp_path / "empty", tmp_path / "a/b/c"):
        ReceiptWriter.create(directory, a_manifest()).close()
        assert (directory / MANIFEST).exists()


@pytest.mark.parametrize("held", ["notes.txt", ".hidden"])
def test_a_directory_that_holds_anything_is_refused_and_left_as_it_was(tmp_path: Path, held: str) -> None:
    (tmp_path / held).write_text("mine")
    with pytest.raises(ReceiptError, match="not empty"):
        ReceiptWriter.create(tmp_path, a_manifest())
    assert names(tmp_path) == {held}


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ReceiptError, match="file"):
        ReceiptWriter.create(tmp_path / "file", a_manifest())


@pytest.mark.parametrize("start", [ReceiptWriter.create, ReceiptWriter.resume])
def test_a_second_writer_is_refused_while_the_first_is_open(receipt: BenchReceipt, start: Any) -> None:
    with pytest.raises(ReceiptError, match="by another process"):
        start(receipt.directory, receipt.manifest)


@pytest.mark.parametrize("start", ["create", "resume"])
def test_a_second_process_is_refused_while_the_first_is_open(receipt: BenchReceipt, start: str) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from smriti.receipts.writer import ReceiptWriter; from tests.receipts.build import a_manifest\n"
        f"ReceiptWriter.{start}(Path(sys.argv[1]), a_manifest())\n"
    )
    second = python(code, str(receipt.directory))
    assert second.returncode == 1
    assert "ReceiptError" in second.stderr
    assert "is being written by another process" in second.stderr


def test_a_refused_writer_lets_go_of_the_receipt(tmp_path: Path) -> None:
    write(tmp_path, rows=1)
    with pytest.raises(ReceiptError, match="not empty"):
        ReceiptWriter.create(tmp_path, a_manifest())
    with pytest.raises(ReceiptError, match="Different"):
        ReceiptWriter.resume(tmp_path, a_manifest(engine="dask"))
    ReceiptWriter.resume(tmp_path, a_manifest()).close()


# Appending


def test_an_attempt_is_two_lines_and_the_score_line_carries_the_digest_of_the_evidence_line(
    receipt: BenchReceipt,
) -> None:
    case = planned_cases(receipt.manifest)[0]
    evidence = evidence_of(receipt, case)
    (record,) = receipt.append([evidence])
    (evidence_line,), (score_line,) = lines(receipt.directory / EVIDENCE), lines(receipt.directory / SCORES)
    assert TrialEvidence.model_validate_json(evidence_line) == evidence
    assert TrialRecord.model_validate_json(score_line) == record == receipt.records[-1]
    assert record.evidence_sha256 == hashlib.sha256(evidence_line.removesuffix(b"\n")).hexdigest()


def test_each_line_is_flushed_and_synced_before_the_next_is_written(
    receipt: BenchReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[tuple[str, str]] = []
    write_bytes, sync = os.write, os.fsync

    def name(descriptor: int) -> str:
        return Path(f"/dev/fd/{descriptor}").resolve().name

    def noted_write(descriptor: int, content: Any) -> int:
        events.append(("write", name(descriptor)))
        return write_bytes(descriptor, content)

    def noted_sync(descriptor: int) -> None:
        events.append(("sync", name(descriptor)))
        sync(descriptor)

    evidence = evidence_of(receipt, planned_cases(receipt.manifest)[0])
    monkeypatch.setattr(os, "write", noted_write)
    monkeypatch.setattr(os, "fsync", noted_sync)
    receipt.append([evidence])
    assert events == [("write", EVIDENCE), ("sync", EVIDENCE), ("write", SCORES), ("sync", SCORES)]


def test_a_line_is_whole_even_where_the_disk_takes_it_in_pieces(
    receipt: BenchReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bytes = os.write
    evidence = evidence_of(receipt, planned_cases(receipt.manifest)[0])
    monkeypatch.setattr(os, "write", lambda descriptor, content: write_bytes(descriptor, content[:100]))
    receipt.append([evidence])
    assert TrialEvidence.model_validate_json(lines(receipt.directory / EVIDENCE)[0]) == evidence


# Keeping


def test_what_is_kept_is_found_by_the_digest_of_its_content(receipt: BenchReceipt) -> None:
    digest = receipt.keep("transcripts", b"said this")
    assert digest == hashlib.sha256(b"said this").hexdigest()
    path = receipt.directory / f"transcripts/{digest}.gz"
    assert gzip.decompress(path.read_bytes()) == b"said this"


def test_the_same_content_is_stored_once_in_each_kind_and_in_the_same_bytes_every_time(
    receipt: BenchReceipt, tmp_path: Path
) -> None:
    first = receipt.keep("diffs", b"same")
    before = (receipt.directory / f"diffs/{first}.gz").stat()
    assert receipt.keep("diffs", b"same") == receipt.keep("checks", b"same") == first
    after = (receipt.directory / f"diffs/{first}.gz").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    other = ReceiptWriter.create(tmp_path / "other", a_manifest())
    other.keep("diffs", b"same")
    other.close()
    stored = [path / f"diffs/{first}.gz" for path in (receipt.directory, other.directory)]
    assert stored[0].read_bytes() == stored[1].read_bytes()
    assert stored[0].read_bytes()[4:8] == bytes(4), "gzip has a place for the time"


def test_a_secret_never_touches_the_disk_and_the_digest_is_of_what_is_stored(receipt: BenchReceipt) -> None:
    secret = b"sk-ant-" + b"a1B2" * 10
    digest = receipt.keep("transcripts", b"key " + secret + b" used")
    stored = gzip.decompress((receipt.directory / f"transcripts/{digest}.gz").read_bytes())
    assert secret not in stored
    assert stored.startswith(b"key ")
    assert stored.endswith(b" used")
    assert hashlib.sha256(stored).hexdigest() == digest


def test_nothing_half_written_is_ever_under_its_name(receipt: BenchReceipt, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        seen.append(names(receipt.directory) - {MANIFEST, EVIDENCE, SCORES})
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    digest = receipt.keep("checks", b"all good")
    partial, whole = f"checks/.{digest}.gz.partial", f"checks/{digest}.gz"
    assert seen == [{partial}, {whole}], "synced under a name of its own, then renamed, then the folder is synced"


# Sealing


def test_a_receipt_whose_plan_is_not_covered_is_not_sealed(receipt: BenchReceipt) -> None:
    append(receipt, receipt.manifest.planned - 1)
    missing = planned_cases(receipt.manifest)[-1].id
    with pytest.raises(ReceiptError, match=f"1 planned cases have no row, such as '{missing}'"):
        receipt.seal()
    assert not (receipt.directory / SUMMARY).exists()


def test_the_seal_names_every_file_with_its_digest_and_rows(receipt: BenchReceipt) -> None:
    append(receipt)
    summary = receipt.seal()
    stated = json.loads((receipt.directory / SUMMARY).read_bytes())["files"]
    assert stated == {name: seal.model_dump() for name, seal in summary.files.items()}
    assert stated.keys() == names(receipt.directory) - {SUMMARY}
    for name, seal in stated.items():
        content = (receipt.directory / name).read_bytes()
        assert seal["sha256"] == hashlib.sha256(content).hexdigest()
        assert seal["rows"] == (receipt.manifest.planned if name.endswith(".ndjson") else None)


def test_the_seal_counts_every_planned_trial_once(receipt: BenchReceipt) -> None:
    append(receipt)
    covered = receipt.seal().coverage
    assert (covered.planned, covered.completed, covered.failed, covered.skipped) == (12, 6, 2, 4)


# Resuming


def changed(made: BenchManifest, field: str) -> BenchManifest:
    """The manifest with another value in one field, given as `name` or `config.name`."""
    name, _, inner = field.partition(".")
    if inner:
        other = made.config.model_copy(update={inner: OTHERS[field]})
        return made.model_copy(update={name: other})
    return made.model_copy(update={name: OTHERS[field]})


OTHERS: dict[str, Any] = {
    "suite": "retrieval",
    "evidence_class": "measured",
    "code": a_manifest().code.model_copy(update={"sha256": "1" * 64}),
    "packages": {"pydantic": "2.10"},
    "systems": (SystemIdentity(name="embedded", version="2"),),
    "agents": (SystemIdentity(name="rehearsal", version="1", detail={"model": "other"}),),
    "scripted": False,
    "delivery": "prompt",
    "artifacts": {},
    "engine": "dask",
    "datasets": {"notes": "6" * 64},
    "tasks": (*a_manifest().tasks[:2], a_manifest().tasks[2].model_copy(update={"sha256": "1" * 64})),
    "selection": {"ids": [], "split": "visible", "selected": 3, "of": 3},
    "seed": 1,
    "sandbox": "bubblewrap",
    "planned": 13,
    "config.memory": "vector",
    "config.agent": "oracle",
    "config.conditions": ("off", "on", "file"),
    "config.trials": 3,
    "config.timeout_s": 61.0,
    "config.max_tokens": None,
    "config.flake": 0.5,
    "config.seed": 1,
}
NAMED = {
    "code": "code.sha256",
    "packages": "packages.pydantic",
    "systems": r"systems\[0\].version",
    "agents": r"agents\[0\].detail.model",
    "artifacts": "artifacts.embedded.whl",
    "datasets": "datasets.notes",
    "tasks": r"tasks\[2\].sha256",
    "selection": "selection.split",
}
"""How the one difference is named, where it lies within a field."""
OCCASION = {"run_id", "started", "jobs", "host"}


@pytest.mark.parametrize("field", OTHERS)
def test_another_configuration_is_refused_with_the_difference_named(tmp_path: Path, field: str) -> None:
    made = a_manifest()
    write(tmp_path, made, rows=2)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(ReceiptError, match=f"Different: {NAMED.get(field, field)}: .* in the receipt, .* now"):
        ReceiptWriter.resume(tmp_path, changed(made, field))
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_every_field_of_the_manifest_is_either_compared_or_names_the_occasion() -> None:
    compared = {name for name in OTHERS if "." not in name} | {"config"}
    assert compared | OCCASION | {"schema_"} == BenchManifest.model_fields.keys()
    config = type(a_manifest().config).model_fields
    assert {name.partition(".")[2] for name in OTHERS if "." in name} == config.keys()


def test_every_difference_is_named_at_once(tmp_path: Path) -> None:
    write(tmp_path, rows=1)
    with pytest.raises(ReceiptError, match=r"seed: 0 .* 7 now; .*sandbox: 'none'"):
        ReceiptWriter.resume(tmp_path, a_manifest(seed=7, sandbox="bubblewrap"))


def test_a_task_more_or_less_is_a_difference(tmp_path: Path) -> None:
    write(tmp_path, rows=1)
    extra = TaskIdentity(id="delta", version=1, family="convention", split="visible", sha256="0" * 64)
    with pytest.raises(ReceiptError, match="Different: tasks: "):
        ReceiptWriter.resume(tmp_path, a_manifest(tasks=(*a_manifest().tasks, extra)))


def test_the_occasion_may_differ_and_the_manifest_stays_the_first_one(tmp_path: Path) -> None:
    first = a_manifest()
    write(tmp_path, first, rows=1)
    later = a_manifest(run_id="later", started="2026-02-02T00:00:00+00:00", jobs=8, host={"cpus": 64})
    receipt = ReceiptWriter.resume(tmp_path, later)
    receipt.close()
    assert receipt.manifest == first == read_manifest(tmp_path)


def test_a_finished_receipt_is_not_resumed(tmp_path: Path) -> None:
    write(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(ReceiptError, match="finished"):
        ReceiptWriter.resume(tmp_path, a_manifest())
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_what_is_no_receipt_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "garbage").mkdir()
    (tmp_path / "garbage" / MANIFEST).write_text('{"schema": "smriti.manifest/1"}')
    for name, match in {
        "nowhere": "not a receipt",
        "file": "not a receipt folder",
        "empty": "it has no manifest",
        "garbage": "not a manifest that this version reads: the row: Unable to extract tag",
    }.items():
        with pytest.raises(ReceiptError, match=match):
            ReceiptWriter.resume(tmp_path / name, a_manifest())


def test_a_resumed_receipt_holds_what_was_done_and_goes_on(tmp_path: Path) -> None:
    write(tmp_path, rows=5)
    before = lines(tmp_path / SCORES)
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    assert [record.model_dump_json().encode() + b"\n" for record in receipt.records] == before
    append(receipt)
    receipt.seal()
    receipt.close()
    assert lines(tmp_path / SCORES)[:5] == before
    assert verify(tmp_path).state == "verified"


def test_every_seam_is_recorded_with_the_rows_that_stood_then(tmp_path: Path) -> None:
    write(tmp_path, rows=2)
    for rows in (3, 0, 1):
        receipt = ReceiptWriter.resume(tmp_path, a_manifest())
        append(receipt, rows)
        receipt.close()
    assert [json.loads(line)["after_rows"] for line in lines(tmp_path / SEAMS)] == [2, 5, 5]


@pytest.mark.parametrize("file", [EVIDENCE, SCORES])
@pytest.mark.parametrize("left", [1, 60, -1])
def test_a_half_written_last_line_is_cut_and_its_trial_runs_again(tmp_path: Path, file: str, left: int) -> None:
    write(tmp_path, rows=3)
    *whole, last = lines(tmp_path / file)
    (tmp_path / file).write_bytes(b"".join(whole) + last[:left])
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    assert [record.order for record in receipt.records] == [0, 1]
    assert len(lines(tmp_path / EVIDENCE)) == len(lines(tmp_path / SCORES)) == 2
    append(receipt)
    receipt.seal()
    receipt.close()
    assert verify(tmp_path).state == "verified"


def test_evidence_without_its_score_line_is_dropped_with_what_only_it_names(tmp_path: Path) -> None:
    receipt = ReceiptWriter.create(tmp_path, a_manifest())
    append(receipt, 2)
    before = names(tmp_path)
    case = planned_cases(receipt.manifest)[2]
    receipt.append([evidence_of(receipt, case, transcript_sha256=receipt.keep("transcripts", b"in vain"))])
    receipt.close()
    (tmp_path / SCORES).write_bytes(b"".join(lines(tmp_path / SCORES)[:2]))
    ReceiptWriter.resume(tmp_path, a_manifest()).close()
    assert len(lines(tmp_path / EVIDENCE)) == 2
    assert names(tmp_path) == before | {SEAMS}


def test_what_a_crash_left_half_written_is_not_sealed_in(tmp_path: Path) -> None:
    write(tmp_path, rows=2)
    for left in (
        ".summary.json.partial",
        ".manifest.json.partial",
        "transcripts/.0.gz.partial",
        "checks/.1.gz.partial",
    ):
        (tmp_path / left).write_bytes(b"half")
    with (tmp_path / SEAMS).open("wb") as seams:
        seams.write(b'{"resumed":"2026-')
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    assert not [name for name in names(tmp_path) if "partial" in name]
    append(receipt)
    receipt.seal()
    receipt.close()
    assert verify(tmp_path).state == "verified"


def test_a_run_that_ended_right_after_its_manifest_is_resumed(tmp_path: Path) -> None:
    write(tmp_path, rows=0)
    (tmp_path / EVIDENCE).unlink()
    (tmp_path / SCORES).unlink()
    assert verify(tmp_path).state == "interrupted"
    receipt = ReceiptWriter.resume(tmp_path, a_manifest())
    append(receipt)
    receipt.seal()
    receipt.close()
    assert verify(tmp_path).state == "verified"


@pytest.mark.parametrize("file", [EVIDENCE, SCORES, SEAMS])
@pytest.mark.parametrize("garbage", [b"{}\n", b"\n", b"\xff\xfe\n", b"null\n"])
def test_garbage_before_the_end_is_refused_with_its_line_named(tmp_path: Path, file: str, garbage: bytes) -> None:
    write(tmp_path, rows=3)
    ReceiptWriter.resume(tmp_path, a_manifest()).close()
    first, *rest = lines(tmp_path / file)
    (tmp_path / file).write_bytes(b"".join([first, garbage, *rest]))
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(ReceiptError, match=f"{file} line 2 cannot be resumed from"):
        ReceiptWriter.resume(tmp_path, a_manifest())
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_score_line_that_does_not_follow_from_its_evidence_is_refused(tmp_path: Path) -> None:
    write(tmp_path, rows=3)
    edited = (tmp_path / SCORES).read_bytes().replace(b'"echoed":false', b'"echoed":true', 1)
    (tmp_path / SCORES).write_bytes(edited)
    with pytest.raises(ReceiptError, match=f"{SCORES} line 1 cannot be resumed from"):
        ReceiptWriter.resume(tmp_path, a_manifest())


# A disk that does not take it


def test_a_full_disk_ends_an_append_with_a_receipt_error_and_what_stood_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = ReceiptWriter.create(tmp_path, a_manifest())
    append(receipt, 2)
    evidence = evidence_of(receipt, planned_cases(receipt.manifest)[2])
    write_bytes = os.write
    left = 700

    def full(descriptor: int, content: Any) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write_bytes(descriptor, content[:left])
        left -= written
        return written

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ReceiptError, match="No space left on device"):
        receipt.append([evidence])
    monkeypatch.undo()
    receipt.close()
    assert len(receipt.records) == 2
    assert verify(tmp_path).state == "interrupted"
    resumed = ReceiptWriter.resume(tmp_path, a_manifest())
    append(resumed)
    resumed.seal()
    resumed.close()
    assert verify(tmp_path).state == "verified"


LIMITED = """
import resource, sys
from pathlib import Path
from smriti.errors import ReceiptError
from smriti.receipts.writer import ReceiptWriter
from tests.receipts.build import a_manifest, append
receipt = ReceiptWriter.create(Path(sys.argv[1]), a_manifest())
append(receipt, None if sys.argv[2] == "seal" else 2)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, hard))
try:
    {"append": lambda: append(receipt), "seal": receipt.seal, "keep": keep}[sys.argv[2]]()
except ReceiptError as error:
    print("refused:", error)
"""


@pytest.mark.parametrize("step", ["append", "keep", "seal"])
def test_no_seal_and_no_partial_file_is_left_where_the_disk_takes_no_more(tmp_path: Path, step: str) -> None:
    """The limit is the kernel's own: files of this process may not grow over 5,000 bytes."""
    code = LIMITED.replace(
        "try:", "import random\nkeep = lambda: receipt.keep('diffs', random.Random(0).randbytes(9000))\ntry:"
    )
    ended = python(code, str(tmp_path), step)
    assert ended.stdout.startswith(f"refused: {tmp_path}: cannot write the receipt: "), ended.stderr
    assert not (tmp_path / SUMMARY).exists()
    assert not [name for name in names(tmp_path) if "partial" in name]
    assert verify(tmp_path).state == "interrupted"


def test_a_directory_that_may_not_be_written_ends_with_a_receipt_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is put in place of the first open for writing, since an administrator may write anywhere."""

    def read_only(self: Path, mode: str = "r", **_: Any) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self), mode)

    write(tmp_path / "before", rows=2)
    monkeypatch.setattr(Path, "open", read_only)
    with pytest.raises(ReceiptError, match="Read-only file system"):
        ReceiptWriter.create(tmp_path / "new", a_manifest())
    with pytest.raises(ReceiptError, match="Read-only file system"):
        ReceiptWriter.resume(tmp_path / "before", a_manifest())
    monkeypatch.undo()
    assert names(tmp_path / "new") == set()
    assert len(lines(tmp_path / "before" / SCORES)) == 2


def test_an_unreadable_manifest_is_a_receipt_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, _flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(ReceiptError, match="Permission denied"):
        read_manifest(tmp_path)


def test_a_run_that_was_cut_short_in_its_manifest_is_not_resumed(tmp_path: Path) -> None:
    """Whoever dislikes where a run is heading could otherwise plan it anew and seal what there is."""
    receipt = write(tmp_path / "receipt", rows=3)
    shorter = a_manifest()
    shorter = shorter.model_copy(
        update={"config": shorter.config.model_copy(update={"trials": 1}), "planned": shorter.planned // 2}
    )
    (receipt / MANIFEST).write_bytes(stated(shorter))
    with pytest.raises(ReceiptError, match=r"evidence.ndjson line 1 was written under another manifest.json"):
        ReceiptWriter.resume(receipt, shorter)


def test_a_file_that_no_receipt_has_is_named_before_a_run_is_taken_up(tmp_path: Path) -> None:
    """The run would be finished, and its receipt refused."""
    write(tmp_path, rows=2)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ReceiptError, match=r"holds notes\.txt, which no receipt does"):
        ReceiptWriter.resume(tmp_path, a_manifest())


def test_a_clock_that_was_set_back_does_not_end_a_run_before_its_start(tmp_path: Path) -> None:
    made = a_manifest(started="2999-01-01T00:00:00+00:00")
    receipt = ReceiptWriter.create(tmp_path, made)
    append(receipt)
    assert receipt.seal().finished == made.started
    receipt.close()
    assert verify(tmp_path).state == "verified"
