"""Every change of a sealed receipt is refused, or a table below says why it has no meaning or cannot be seen."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from smriti.metrics import intervals
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY, seal_files, stated
from smriti.score.bench import bench_flags, bench_scores, coverage, score_trial
from smriti.types import Summary, TrialEvidence, TrialRecord
from tests.receipts.build import a_manifest, write, write_resumed
from tests.receipts.mutate import line, mutants, page

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
    "session_id": "an agent may name its session itself; what was injected into it stands beside it",
    "delivery": "how memory was to reach the agent, for the reader",
    "planted": "only whether one of them was injected counts, and the ids stand in the score line",
    "injected_ids": "likewise, or whether another was",
    "agent_exit_status": "the check decides, whatever the agent's exit status was",
    "check_exit_status": "zero is a pass and all else a failure",
    "usage": "which kind a token was, or who counted: figures are of the sum",
    "turns": "for the reader",
    "seconds": "for the reader: no figure is one of time",
    "diff_sha256": "a trial with a fault may have none",
    "left_out": "for the reader; the check saw what was taken",
    "fault.phase": "for the reader; the status is counted",
    "fault.message": "for the reader",
}
"""What can be changed in an evidence line by somebody who also scores it again and reseals: each was looked at with the
figures left as they were, so none of these changes could be told from another run's chance."""

Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def _intervals_of_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of mutants are looked at, and the time goes into bootstrap draws: writer and verifier take fewer."""
    monkeypatch.setattr(intervals, "RESAMPLES", 20)


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    return write_resumed(tmp_path / "receipt")


def accepted(receipt: Path) -> bool:
    return verify(receipt).state != "refused"


def refusal(receipt: Path) -> str:
    verdict = verify(receipt)
    assert verdict.state == "refused"
    return "; ".join(f"{check.name}: {check.detail}" for check in verdict.checks if check.ok is False)


def reseal(receipt: Path) -> None:
    """Write the digests of all files into the seal, and leave its figures as they are."""
    summary = json.loads((receipt / SUMMARY).read_bytes())
    summary["files"] = {name: seal.model_dump() for name, seal in seal_files(receipt).items()}
    (receipt / SUMMARY).write_bytes(page(summary))


def edited(receipt: Path, file: str) -> Iterator[tuple[str, str]]:
    """Put the mutants of a file in its place, one at a time; yield where it was changed and how.

    Of figures, and of rows that ended as another row did, every seventh mutant is taken: they are all of one shape.
    """
    original = (receipt / file).read_bytes()
    if file.endswith(".ndjson"):
        lines = original.splitlines(keepends=True)
        seen = set()
        for index, before in enumerate(lines):
            row = json.loads(before)
            assert line(row) + b"\n" == before
            shape = (
                str(row.get("fault")) + str(row.get("check_exit_status", row.get("status"))) + row.get("condition", "")
            )
            for number, mutant in enumerate(mutants(row)):
                if shape not in seen or (number + index) % 7 == 0:
                    changed = [*lines[:index], line(mutant.document) + b"\n", *lines[index + 1 :]]
                    (receipt / file).write_bytes(b"".join(changed))
                    yield mutant.where, mutant.change
            seen.add(shape)
    else:
        assert page(json.loads(original)) == original
        for number, mutant in enumerate(mutants(json.loads(original))):
            if not mutant.where.startswith("scores.[]") or number % 7 == 0:
                (receipt / file).write_bytes(page(mutant.document))
                yield mutant.where, mutant.change
    (receipt / file).write_bytes(original)


def covers(entry: str, where: str) -> bool:
    return where == entry or where.startswith(f"{entry}.")


def judge(table: dict[str, str], passed: set[str], prefix: str) -> None:
    """Every change that passed is in the table, and every entry of the table is there because a change passed."""
    entries = [entry for entry in table if entry.startswith(prefix)]
    unexplained = {where for where in passed if not any(covers(entry, where) for entry in entries)}
    assert not unexplained, "let through, and no table says why"
    idle = {entry for entry in entries if not any(covers(entry, where) for where in passed)}
    assert not idle, "in the table, and always refused"


# One change, nothing else touched


@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY])
def test_every_changed_field_of_every_file_is_refused(receipt: Path, file: str) -> None:
    count = 0
    passed = set()
    for where, change in edited(receipt, file):
        count += 1
        if accepted(receipt):
            passed.add(f"{file}: {where}")
            assert change == "another text", where
    assert count > 10
    judge(WITHOUT_MEANING, passed, f"{file}: ")
    assert accepted(receipt)


def drop(lines: list[bytes], index: int) -> list[bytes]:
    return [*lines[:index], *lines[index + 1 :]]


def repeat(lines: list[bytes], index: int) -> list[bytes]:
    return [*lines[: index + 1], *lines[index:]]


def swap(lines: list[bytes], index: int) -> list[bytes]:
    return [*lines[:index], *lines[index : index + 2][::-1], *lines[index + 2 :]]


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
        # Trials end in an order of chance: both files in another order, resealed, are a receipt as good.
        meaningless = change is swap and len(files) == 2 and resealed
        assert accepted(receipt) == meaningless, index
        if resealed and len(files) == 2 and not meaningless:
            assert (": missing" if change is drop else ": twice") in refusal(receipt)
        for file, original in originals.items():
            (receipt / file).write_bytes(original)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("kind", ["transcripts", "diffs", "checks"])
def test_an_edited_lost_or_exchanged_blob_is_refused(receipt: Path, kind: str, resealed: bool) -> None:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    changes: dict[str, Change] = {
        "a bit": flip,
        "other content": lambda path: path.write_bytes(gzip.compress(b"other")),
        "no content": lambda path: path.write_bytes(b""),
        "a cut": lambda path: path.write_bytes(path.read_bytes()[:-4]),
        "more behind it": lambda path: path.write_bytes(path.read_bytes() + b"more"),
        "lost": Path.unlink,
        "another name": lambda path: path.rename(path.with_name(f"{'0' * 64}.gz")),
        "a plain file": lambda path: path.write_bytes(gzip.decompress(path.read_bytes())),
    }
    for what, change in changes.items():
        copied = receipt.with_name(what)
        shutil.copytree(receipt, copied)
        change(min((copied / kind).iterdir()))
        if resealed:
            reseal(copied)
        assert f"contents: {kind}/" in refusal(copied) or f"files: {kind}/" in refusal(copied), what


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("extra", ["notes.txt", f"diffs/{'0' * 64}.gz", ".hidden", "evidence.ndjson.bak", "a/b/c"])
def test_a_file_that_nothing_names_is_refused(receipt: Path, extra: str, resealed: bool) -> None:
    (receipt / extra).parent.mkdir(parents=True, exist_ok=True)
    (receipt / extra).write_bytes(gzip.compress(b"extra"))
    if resealed:
        reseal(receipt)
    assert f"{extra}: " in refusal(receipt)


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS])
def test_a_missing_file_is_refused(receipt: Path, file: str, resealed: bool) -> None:
    (receipt / file).unlink()
    if resealed:
        reseal(receipt)
    # Without a trace of its seams, a resealed receipt is one that was never interrupted.
    assert accepted(receipt) == (resealed and file == SEAMS)


def test_without_its_seal_a_receipt_is_not_verified(receipt: Path) -> None:
    (receipt / SUMMARY).unlink()
    assert verify(receipt).state == "interrupted"


@pytest.mark.parametrize("resealed", [False, True])
@pytest.mark.parametrize("file", [MANIFEST, EVIDENCE, SCORES, SEAMS, SUMMARY, "transcripts"])
def test_files_swapped_between_two_receipts_are_refused_in_both(receipt: Path, file: str, resealed: bool) -> None:
    made = a_manifest(run_id="other", seed=1, config=a_manifest().config.model_copy(update={"seed": 1}))
    other = write(receipt.with_name("other"), made)
    (other / SEAMS).write_bytes((receipt / SEAMS).read_bytes()[:0])
    reseal(other)
    assert accepted(other)
    (receipt / file).rename(receipt.with_name("between"))
    (other / file).rename(receipt / file)
    receipt.with_name("between").rename(other / file)
    if resealed:
        reseal(receipt)
        reseal(other)
    # Seams say only when and after how many rows: with the digests rewritten, any that fit are as good.
    assert [accepted(receipt), accepted(other)] == [resealed and file == SEAMS] * 2


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


def test_an_edited_evidence_line_is_refused_even_where_its_digest_and_the_seal_are_rewritten(receipt: Path) -> None:
    """The digest that the score line carries is mended, and its other fields are left as they were."""
    scores, seal = (receipt / SCORES).read_bytes(), (receipt / SUMMARY).read_bytes()
    for number, (where, change) in enumerate(edited(receipt, EVIDENCE)):
        if number % 7 == 0 and where.partition(".")[0] in TrialRecord.model_fields:
            rows = zip((receipt / EVIDENCE).read_bytes().splitlines(), scores.splitlines(), strict=True)
            mended = [{**json.loads(score), "evidence_sha256": hashlib.sha256(row).hexdigest()} for row, score in rows]
            (receipt / SCORES).write_bytes(b"".join(line(score) + b"\n" for score in mended))
            reseal(receipt)
            assert not accepted(receipt), (where, change)
            (receipt / SCORES).write_bytes(scores)
            (receipt / SUMMARY).write_bytes(seal)


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


def rescore(receipt: Path) -> list[TrialRecord]:
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
    return [TrialRecord.model_validate_json(record) for record in written]


def scored(row: bytes, digest: str) -> bytes:
    return score_trial(TrialEvidence.model_validate_json(row), digest).model_dump_json().encode()


def test_figures_do_not_change_with_the_order_of_lines(receipt: Path) -> None:
    """So that the order, which a reseal can change, is without meaning."""
    records = [TrialRecord.model_validate_json(row) for row in (receipt / SCORES).read_bytes().splitlines()]
    assert bench_scores(a_manifest(), records) == bench_scores(a_manifest(), records[::-1])


# What cannot be seen


def test_made_up_evidence_written_out_in_full_is_another_consistent_receipt(receipt: Path) -> None:
    """Verify says that a receipt is consistent, and never who made it: nothing less than a signature could tell."""
    content = (receipt / EVIDENCE).read_bytes()
    (receipt / EVIDENCE).write_bytes(content.replace(b'"check_exit_status":1', b'"check_exit_status":0'))
    records = rescore(receipt)
    manifest = a_manifest()
    scores = bench_scores(manifest, records)
    before = Summary.model_validate_json((receipt / SUMMARY).read_bytes())
    assert before.scores != scores
    made_up: dict[str, Any] = {
        "coverage": coverage(records, manifest.planned),
        "scores": scores,
        "flags": bench_flags(manifest, records, scores),
        "files": seal_files(receipt),
    }
    (receipt / SUMMARY).write_bytes(stated(before.model_copy(update=made_up)))
    assert verify(receipt).state == "verified"
    assert "only a signature can" in str(verify.__doc__)
