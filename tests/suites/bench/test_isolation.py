"""Trials that run side by side share nothing: no memory, no folder, and nothing of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smriti import process
from smriti.protocols import Agent
from tests.benches import Ran, command_agent, fact, mooring_code, planted, run_bench, tiny_task

CANARY = "canary-in-the-users-environment"
REPORT = """
import json, os, pathlib
private = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR") or name.startswith("XDG_")}
held = [str(path) for root in (os.environ["HOME"], os.environ["TMPDIR"]) for path in pathlib.Path(root).rglob("*")]
print(json.dumps({"environ": dict(os.environ), "private": private, "held": held, "cwd": os.getcwd()}))
pathlib.Path(os.environ["HOME"], "left-behind").write_text("x")
pathlib.Path(os.environ["TMPDIR"], "left-behind").write_text("x")
"""
"""An agent and a check that say what they see, and leave something for the next one to find."""


@pytest.fixture
def reporter(tmp_path: Path) -> Agent:
    return command_agent(tmp_path, REPORT)


def test_trials_side_by_side_get_their_own_memories_and_no_others(tmp_path: Path) -> None:
    """The tasks' memories share nearly all of their words, so that any search across trials would find a wrong one."""
    pilots = "The mooring code of every harbour is agreed with the pilots, says harbour"
    tasks = [
        tiny_task(name, memories=[planted(fact(name)), planted(f"{pilots} {name}.", "distractor", source_id="m2")])
        for name in ("alpha", "beta", "gamma")
    ]
    ran = run_bench(tmp_path, tasks, conditions=("on", "ablate:kw"), trials=3, jobs=4)
    assert len(ran.records) == 18
    owners = {id_: record.case for record in ran.records for id_ in record.planted_ids}
    assert len(owners) == 36, "no id is given twice"
    for record in ran.records:
        assert record.status == "passed"
        assert record.injected_ids
        assert {owners[id_] for id_ in record.injected_ids} == {record.case}
        assert (record.injected_confirmed, record.contaminated) == (True, False)


def test_each_trial_has_a_home_and_temporary_folder_of_its_own_which_start_empty(
    tmp_path: Path, reporter: Agent
) -> None:
    ran = run_bench(tmp_path, [tiny_task(), tiny_task("beta")], agent=reporter, trials=2, jobs=4)
    seen = [_reported(ran, "transcripts", row.transcript_sha256) for row in ran.evidence]
    assert len(seen) == 8
    for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        folders = {report["private"][name] for report in seen}
        assert len(folders) == 8, f"{name} is shared"
        assert all(Path(folder).is_relative_to(ran.scratch) for folder in folders)
    assert len({report["cwd"] for report in seen}) == 8
    held = {path for report in seen for path in report["held"]}
    assert held == {path for path in held if path.endswith("smriti-prompt.txt")}, "but for the prompt itself"


def test_the_check_has_a_home_of_its_own_and_works_in_another_folder_than_the_agent(
    tmp_path: Path, reporter: Agent
) -> None:
    ran = run_bench(tmp_path, [tiny_task(check=_as_check(REPORT))], agent=reporter)
    for row in ran.evidence:
        agent = _reported(ran, "transcripts", row.transcript_sha256)
        check = _reported(ran, "checks", row.check_output_sha256)
        assert check["held"] == []
        assert check["private"]["HOME"] != agent["private"]["HOME"]
        assert check["private"]["TMPDIR"] != agent["private"]["TMPDIR"]
        assert check["cwd"] != agent["cwd"]


def test_nothing_of_the_users_environment_or_home_reaches_agent_hook_or_check(
    tmp_path: Path, reporter: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home-of-the-user"
    (home / ".config").mkdir(parents=True)
    (home / ".canary").write_text(CANARY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local"))
    monkeypatch.setenv("SMRITI_CANARY", CANARY)
    monkeypatch.setenv("PYTHONPATH", f"/{CANARY}")
    monkeypatch.setenv("SMRITI_MEM_HEADLESS", "1")
    ran = run_bench(tmp_path, [tiny_task(check=_as_check(REPORT))], agent=reporter)
    for row in ran.evidence:
        for report in (
            _reported(ran, "transcripts", row.transcript_sha256),
            _reported(ran, "checks", row.check_output_sha256),
        ):
            seen = json.dumps(report["environ"])
            assert CANARY not in seen
            assert str(home) not in seen
            assert "SMRITI_CANARY" not in seen
    assert ran.record("on").injected_confirmed, "nor did the user's kill switch reach the hook"
    assert sorted(path.name for path in home.rglob("*")) == [".canary", ".config"], "and nothing was written there"


def test_the_check_is_told_nothing_of_the_memory(tmp_path: Path, reporter: Agent) -> None:
    ran = run_bench(tmp_path, [tiny_task(check=_as_check(REPORT))], agent=reporter, conditions=("on",))
    check = _reported(ran, "checks", ran.trial().check_output_sha256)
    assert not [name for name in check["environ"] if name.startswith("SMRITI") and name != process.MARK]
    assert mooring_code("alpha") not in json.dumps(check)


def _reported(ran: Ran, kind: Any, sha256: str | None) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(ran.kept(kind, sha256))
    return report


def _as_check(code: str) -> str:
    """A check's text is filled in as a format, in which braces are doubled."""
    return code.replace("{", "{{").replace("}", "}}")
