"""`smriti verify`: the verdict on receipts, in words, in JSON and as an exit status."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.benches import run_bench, tiny_task
from tests.cli.command_line import Smriti


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A receipt of a finished run."""
    return run_bench(tmp_path, [tiny_task()]).directory


@pytest.fixture
def tampered(tmp_path: Path, good: Path) -> Path:
    """The same, with one failure made a pass."""
    folder = Path(shutil.copytree(good, tmp_path / "tampered"))
    scores = folder / "scores.ndjson"
    text = scores.read_text()
    assert '"status":"failed","passed":false' in text
    scores.write_text(text.replace('"status":"failed","passed":false', '"status":"passed","passed":true'))
    return folder


def test_a_good_receipt_is_verified(smriti: Smriti, good: Path) -> None:
    ended = smriti("verify", good)
    assert (ended.status, ended.err) == (0, "")
    assert f"VERIFIED (rehearsal)  {good}\n" in ended.out
    assert "FAIL" not in ended.out
    assert "It does not say who made the receipt" in ended.out


def test_a_tampered_receipt_is_refused_and_what_is_wrong_is_named(smriti: Smriti, tampered: Path) -> None:
    ended = smriti("verify", tampered)
    assert ended.status == 1
    (found,) = [line for line in ended.out.splitlines() if "alpha/off/t1" in line]
    assert found.strip().startswith("FAIL  ")
    assert "status, passed does not follow from the evidence" in found
    assert f"REFUSED (rehearsal)  {tampered}\n" in ended.out


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_no_receipt_is_refused(smriti: Smriti, what: str) -> None:
    Path("folder").mkdir()
    Path("file").write_text("")
    ended = smriti("verify", what)
    assert ended.status == 1
    assert f"{what} is not a receipt" in ended.out
    assert f"REFUSED  {what}\n" in ended.out


def test_what_is_not_there_is_unusable_input(smriti: Smriti, good: Path) -> None:
    smriti("verify", "nowhere").assert_refused("nowhere is not there, expected a receipt folder")
    smriti("verify", good, "nowhere").assert_refused("nowhere is not there", "nothing was verified")


def test_one_bad_receipt_among_good_ones_is_exit_status_1(smriti: Smriti, good: Path, tampered: Path) -> None:
    Path("empty").mkdir()
    ended = smriti("verify", good, tampered, "empty")
    assert ended.status == 1
    for verdict in ("VERIFIED", "REFUSED (rehearsal)", "REFUSED  empty"):
        assert verdict in ended.out


def test_json_is_one_object_with_every_check(smriti: Smriti, good: Path, tampered: Path) -> None:
    ended = smriti("verify", good, tampered, "--json")
    assert ended.status == 1
    first, second = ended.json["receipts"]
    assert (first["directory"], first["state"], first["evidence_class"]) == (str(good), "verified", "rehearsal")
    assert all(check["ok"] is not False for check in first["checks"])
    assert second["state"] == "refused"
    failed = [check["detail"] for check in second["checks"] if check["ok"] is False]
    assert any("alpha/off/t1" in detail for detail in failed)


def test_without_a_folder_there_is_nothing_to_verify(smriti: Smriti) -> None:
    ended = smriti("verify")
    assert (ended.status, ended.out) == (2, "")
