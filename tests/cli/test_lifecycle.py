"""`smriti lifecycle` from its flags to its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SUMMARY
from smriti.types import LIFECYCLE_CHECKS, CodeIdentity, LifecycleRecord
from tests.cli.command_line import Smriti
from tests.receipts.build_lifecycle import a_manifest, write
from tests.suites.lifecycle.fakes import own_checks

pytestmark = pytest.mark.usefixtures("all_known")

ABLE = "tests.suites.lifecycle.named:able"
LYING = "tests.suites.lifecycle.named:lying"

Left = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the user to which nothing may be written, and one core."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr("smriti.cli.lifecycle.cores", lambda: 1)
    yield folder
    assert list(folder.iterdir()) == []


def test_a_system_that_passes_everything_ends_with_0_and_a_receipt_that_verifies(smriti: Smriti) -> None:
    ended = smriti("lifecycle", "--memory", ABLE, "--out", "made", "--json")
    assert ended.status == 0, ended
    assert (ended.json["receipt"], ended.json["stands"], ended.json["passed"]) == ("made", True, True)
    assert ended.json["summary"]["coverage"] == {"planned": 23, "completed": 23, "failed": 0, "skipped": 0}
    assert sorted(path.name for path in Path("made").iterdir()) == sorted([EVIDENCE, MANIFEST, SCORES, SUMMARY])
    verified = smriti("verify", "made")
    assert verified.status == 0, verified
    assert "ok  data set: the 23 checks are those that are here, by digest" in verified.out


def test_a_failed_check_ends_with_1_and_is_told_by_name(smriti: Smriti) -> None:
    ended = smriti("lifecycle", "--memory", f"{LYING},off", "--out", "made")
    assert ended.status == 1
    assert "it is gone everywhere" in ended.err
    assert ended.out.index("FAILED: ") < ended.out.index("coding-memory-lifecycle-v1: ")
    rows: dict[str, list[str]] = {}
    for line in filter(str.strip, ended.out.splitlines()):
        rows.setdefault(line.split()[0], line.split()[1:])
    assert rows["check"] == [LYING, "off"]
    assert rows["forget"] == ["FAILED", "FAILED"]
    assert rows["expand"] == ["passed", "unsupported"]
    assert rows["off"][:7] == ["0", "12", "11", "0.000", "(n", "12)", "[0.000,"]
    assert "smriti verify made" in ended.out


def test_what_is_unsupported_is_no_failure(smriti: Smriti) -> None:
    """`stands` and the status say whether something failed; the rate over all says what is missing."""
    ended = smriti("lifecycle", "--memory", "tests.suites.lifecycle.named:plain", "--out", "made", "--json")
    assert ended.status == 0, ended
    (rate,) = [s for s in ended.json["summary"]["scores"] if (s["metric"], s["group"]) == ("pass_rate_over_all", "all")]
    assert (rate["value"], rate["n"]) == (12 / 23, 23)


def test_the_receipt_stands_in_a_folder_of_the_suite(smriti: Smriti, left: Left) -> None:
    assert smriti("lifecycle", "--memory", "off").status == 1
    (manifest,) = [path for path in left() if path.endswith(MANIFEST)]
    assert manifest.startswith("receipts/lifecycle/")


def test_an_interrupted_run_is_taken_up_again_with_its_own_systems(smriti: Smriti) -> None:
    smriti("lifecycle", "--memory", LYING, "--out", "made")
    whole = {name: Path("made", name).read_bytes() for name in (EVIDENCE, SCORES)}
    Path("made", SUMMARY).unlink()
    for name, content in whole.items():
        Path("made", name).write_bytes(b"".join(content.splitlines(keepends=True)[:9]))
    ended = smriti("lifecycle", "--resume", "made")
    assert ended.status == 1, ended
    assert verify(Path("made")).state == "verified"
    for name, content in whole.items():  # but for the last, whose ids are given out as the writers come
        assert Path("made", name).read_bytes().splitlines()[:22] == content.splitlines()[:22]


def test_a_run_is_not_taken_up_with_another_system(smriti: Smriti) -> None:
    write(Path("made"), count=3)
    smriti("lifecycle", "--memory", "off", "--resume", "made").assert_refused("started with another configuration")
    assert not Path("made", SUMMARY).exists()


def test_more_processes_bring_the_same_lines(smriti: Smriti) -> None:
    made = {}
    for jobs in (1, 3):
        smriti("lifecycle", "--memory", "grep", "--out", str(jobs), "--jobs", jobs)
        rows = map(LifecycleRecord.model_validate_json, Path(str(jobs), SCORES).read_bytes().splitlines())
        made[jobs] = [row.model_copy(update={"run_id": "", "evidence_sha256": ""}) for row in rows]
    assert made[1] == made[3]


def test_clean_code_of_a_known_commit_makes_a_component_receipt(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = CodeIdentity(version="0", commit="c" * 40, dirty=False, sha256="0" * 64)
    monkeypatch.setattr("smriti.suites.lifecycle.manifest.code_identity", lambda: code)
    smriti("lifecycle", "--memory", "off", "--out", "made")
    assert json.loads(Path("made", MANIFEST).read_bytes())["evidence_class"] == "component"
    assert verify(Path("made")).state == "verified"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ("--memory is missing", "--memory embedded")),
        (["--memory", "off,off"], ("'off' twice",)),
        (["--memory", "off,"], ("an empty name",)),
        (["--memory", "embeded"], ("Did you mean 'embedded'?",)),
        (["--memory", "off", "--out", "a", "--resume", "b"], ("give one of them",)),
        (["--resume", "nowhere"], ("is not a receipt",)),
        (["--memory", "off", "--jobs", "0"], ("--jobs",)),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_paragraph_and_leaves_nothing(
    smriti: Smriti, left: Left, arguments: list[str], words: tuple[str, ...]
) -> None:
    smriti("lifecycle", *arguments).assert_refused(*words)
    assert left() == []


def test_a_finished_run_and_a_run_of_another_suite_are_not_taken_up(smriti: Smriti) -> None:
    write(Path("made"))
    smriti("lifecycle", "--resume", "made").assert_refused("is finished")
    smriti("coding-life", "--resume", "made").assert_refused("is a receipt of suite 'lifecycle'")


@pytest.mark.parametrize("command", [["report", "made"], ["compare", "made", "made"]])
def test_a_lifecycle_receipt_is_neither_reported_nor_compared(smriti: Smriti, command: list[str]) -> None:
    write(Path("made"))
    smriti(*command).assert_refused("which is not reported, compared or claimed from yet", "smriti verify")


def test_nothing_is_claimed_from_a_lifecycle_receipt(smriti: Smriti) -> None:
    write(Path("made"))
    ended = smriti("claim", "made")
    assert ended.status == 1
    assert "claimed from yet" in ended.out
    assert "NO CLAIM" in ended.out


def test_it_is_listed(smriti: Smriti) -> None:
    write(Path("receipts", "lifecycle", "run"))
    ended = smriti("list", "receipts")
    assert ended.status == 0, ended
    assert "lifecycle" in ended.out


def test_a_receipt_of_other_checks_is_verified_and_says_so(smriti: Smriti) -> None:
    write(Path("made"))
    ended = smriti("verify", "made")
    assert ended.status == 0
    assert "not checked  data set: the texts of the checks" in ended.out
    assert "what is here are others" in ended.out


def test_a_receipt_under_the_name_of_these_checks_that_holds_others_is_refused(smriti: Smriti) -> None:
    write(Path("made"), a_manifest(datasets={LIFECYCLE_CHECKS: own_checks().sha256}))
    ended = smriti("verify", "made")
    assert ended.status == 1
    assert "FAIL  data set: " in ended.out
    assert ": left out" in ended.out
