"""`smriti verify` compares a receipt with the data set and the tasks that it names, where they are on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from smriti.cli import present
from smriti.datasets import coding_life as coding_life_set
from smriti.datasets import lock
from smriti.receipts.writer import read_manifest
from smriti.types import CodeIdentity, TaskFolder
from tests.benches import run_bench, tiny_task
from tests.cli.command_line import Smriti
from tests.receipts.claimable import bench as claimable_bench
from tests.receipts.claimable import bench_manifest, retrieval, retrieval_manifest


@pytest.fixture
def receipt(smriti: Smriti) -> Path:
    """A receipt of coding-life, of which the set is on every machine."""
    assert smriti("coding-life", "--memory", "grep", "--limit", 4, "--jobs", 1, "--out", "run").status == 0
    return Path("run")


def line(text: str, name: str) -> str:
    (found,) = [line.strip() for line in text.splitlines() if f"  {name}: " in line]
    return found


def folder_of(tmp_path: Path) -> Path:
    """The set, copied to a folder of one's own."""
    copied = tmp_path / "own"
    copied.mkdir()
    for name in coding_life_set.FILES:
        shutil.copy(coding_life_set.folder() / name, copied / name)
    return copied


def another_gold(folder: Path) -> None:
    """Change the gold of the first question of a set."""
    path = folder / "questions.json"
    stated = json.loads(path.read_text())
    question = stated["questions"][0]
    sessions = json.loads((folder / "sessions.json").read_text())["sessions"]
    question["gold"] = [next(session["id"] for session in sessions if session["id"] not in question["gold"])]
    path.write_text(json.dumps(stated))


def test_with_the_data_set_here_the_gold_is_checked(smriti: Smriti, receipt: Path) -> None:
    ended = smriti("verify", receipt)
    assert ended.status == 0
    assert line(ended.out, "data set") == (
        "ok  data set: 4 rows have the gold ids, groups, types and corpora of coding-life"
    )


def test_a_receipt_with_other_gold_than_its_data_set_is_refused(
    smriti: Smriti, receipt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it is consistent, digests included: only the data set can tell."""
    read = coding_life_set.read

    def other(path: Path) -> Any:
        reading = read(path)
        question = reading.corpora[0].questions[0]
        object.__setattr__(question, "gold", question.gold[:-1])
        return reading

    monkeypatch.setattr(coding_life_set, "read", other)
    ended = smriti("verify", receipt)
    assert ended.status == 1
    assert line(ended.out, "data set").startswith("FAIL  data set: grep/")
    assert "REFUSED (development)  run" in ended.out


def test_another_data_set_of_that_name_says_nothing_of_the_receipt(
    smriti: Smriti, receipt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder_of(tmp_path)
    another_gold(own)
    monkeypatch.setattr(coding_life_set, "folder", lambda: own)
    ended = smriti("verify", receipt)
    assert ended.status == 0
    assert line(ended.out, "data set").startswith("not checked  data set: ")
    assert "what is here is another" in ended.out


def test_a_file_that_no_pin_knows_is_compared_when_it_is_named(smriti: Smriti, tmp_path: Path) -> None:
    own = folder_of(tmp_path)
    another_gold(own)
    smriti("coding-life", "--memory", "grep", "--limit", 2, "--jobs", 1, "--data", own, "--out", "run")
    assert "what is here is another" in line(smriti("verify", "run").out, "data set")
    ended = smriti("verify", "run", "--data", own)
    assert ended.status == 0
    assert line(ended.out, "data set").startswith("ok  data set: 2 rows")


def test_data_that_no_receipt_was_made_from_is_unusable(smriti: Smriti, receipt: Path, tmp_path: Path) -> None:
    own = folder_of(tmp_path)
    another_gold(own)
    smriti("verify", receipt, "--data", own).assert_refused("none of these receipts was made from", "is another")
    smriti("verify", receipt, "--data", "nowhere").assert_refused("--data nowhere is not there")


def test_a_data_set_that_is_not_here_is_told_with_how_to_get_it(
    smriti: Smriti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "cache"))
    pin = lock.pin_of("locomo10")
    made = retrieval_manifest(suite="locomo", datasets={"locomo10": pin.sha256})
    ended = smriti("verify", retrieval(Path("run"), made))
    assert ended.status == 0
    assert "it is not on this machine; `smriti data fetch locomo10` brings it" in line(ended.out, "data set")
    assert str(tmp_path) not in ended.out
    unknown = retrieval_manifest(suite="locomo", datasets={"sha256:555555555555": "5" * 64})
    ended = smriti("verify", retrieval(Path("other"), unknown))
    assert "no pin knows it; name the file with --data" in line(ended.out, "data set")


def test_a_receipt_that_is_refused_or_interrupted_is_not_looked_at_further(smriti: Smriti, receipt: Path) -> None:
    (receipt / "summary.json").unlink()
    assert "data set" not in smriti("verify", receipt).out


# Tasks


@pytest.fixture
def bench(smriti: Smriti, tmp_path: Path) -> Path:
    del smriti
    return run_bench(tmp_path, [tiny_task(), tiny_task("beta")]).directory


def install(monkeypatch: pytest.MonkeyPatch, *tasks: TaskFolder) -> None:
    monkeypatch.setattr(present, "load_corpus", lambda: list(tasks))


def test_with_the_tasks_here_their_digests_are_checked(
    smriti: Smriti, bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tiny_task(), tiny_task("beta"), tiny_task("gamma"))
    ended = smriti("verify", bench)
    assert ended.status == 0
    assert line(ended.out, "tasks") == "ok  tasks: 2 of 2 are those installed here, by digest"


def test_tasks_that_are_not_here_are_told(smriti: Smriti, bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tiny_task())
    ended = smriti("verify", bench)
    assert ended.status == 0
    assert (
        line(ended.out, "tasks") == "not checked  tasks: 1 of 2 are not those that are installed here: beta: not here"
    )


@pytest.mark.parametrize(
    ("field", "other", "status"),
    [("dirty", False, 1), ("dirty", True, 0), ("dirty", None, 0), ("commit", None, 0)],
)
def test_other_tasks_refute_a_receipt_of_the_very_code_that_is_here(
    smriti: Smriti, bench: Path, monkeypatch: pytest.MonkeyPatch, *, field: str, other: object, status: int
) -> None:
    """Where either side is not clean, or of another commit, the tasks may have been changed since."""
    install(monkeypatch, tiny_task())
    stated = {"version": "0", "commit": "c" * 40, "dirty": False, "sha256": "0" * 64, field: other}
    here = CodeIdentity.model_validate(stated)
    monkeypatch.setattr(present, "code_identity", lambda: here)
    monkeypatch.setattr(present, "read_manifest", lambda path: read_manifest(path).model_copy(update={"code": here}))
    ended = smriti("verify", bench)
    assert ended.status == status
    assert line(ended.out, "tasks").startswith("FAIL" if status else "not checked")


# What a class rests on


UNKNOWN = "and what that rests on is not known here"


def made(of: str, name: str = "made") -> Path:
    """A receipt of a class that carries claims, of tasks or a data set that are called as known ones and are not."""
    if of == "tasks":
        return claimable_bench(Path(name))
    datasets = {"coding-life": "a" * 64}
    return retrieval(Path(name), retrieval_manifest(suite="coding-life", datasets=datasets, run_id=name))


@pytest.mark.parametrize("of", ["tasks", "a data set"])
@pytest.mark.parametrize(
    "command", [("report", "made"), ("noise", "made", "again"), ("compare", "made:first", "again:first")]
)
def test_what_calls_itself_known_and_is_not_is_verified_and_used_for_nothing(
    smriti: Smriti, command: tuple[str, ...], of: str
) -> None:
    made(of, "again")
    assert smriti("verify", made(of)).status == 0
    smriti(*command).assert_refused("made says", UNKNOWN)


def test_no_defaults_are_taken_from_tasks_that_nobody_knows(smriti: Smriti) -> None:
    smriti("plan", "--effect", 0.2, "--tasks", 12, "--from", made("tasks")).assert_refused("says measured", UNKNOWN)


@pytest.mark.parametrize("of", ["tasks", "a data set"])
def test_neither_a_claim_nor_a_text_has_figures_of_what_nobody_knows(smriti: Smriti, of: str) -> None:
    ended = smriti("claim", made(of))
    assert ended.status == 1
    assert UNKNOWN in ended.out
    Path("text.md").write_text("[12](receipt:./made#coverage/planned)")
    ended = smriti("claim", "check", "text.md")
    assert ended.status == 1
    assert UNKNOWN in ended.out


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not on this machine")
@pytest.mark.parametrize("of", ["tasks", "a data set"])
def test_what_nobody_knows_is_not_signed_and_is_not_verified_beside_a_signature(smriti: Smriti, of: str) -> None:
    Path("key").write_text("no key is needed")
    smriti("receipt", "sign", made(of), "--key", "key").assert_refused(UNKNOWN)
    Path("allowed").touch()
    ended = smriti("receipt", "check", "made", "--allowed-signers", "allowed")
    assert ended.status == 1
    assert ended.out.startswith("NOT VERIFIED")
    assert UNKNOWN in ended.out


def test_a_pinned_set_is_known_where_it_is_not_and_only_a_claim_wants_it_here(
    smriti: Smriti, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(lock.CACHE_VARIABLE, str(tmp_path / "empty"))
    for name in ("made", "again"):
        retrieval(Path(name), retrieval_manifest(run_id=name))
    assert smriti("noise", "made", "again").status == 0
    ended = smriti("claim", "made")
    assert ended.status == 1
    assert "smriti data fetch locomo10" in ended.out


def test_with_the_very_tasks_here_a_claim_is_made(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks of the receipt are put in the place of those that are installed."""
    directory = made("tasks")
    tasks = {task.id: task for task in bench_manifest().tasks}
    monkeypatch.setattr(present.Present, "_installed", tasks)
    assert smriti("claim", directory).status == 0
