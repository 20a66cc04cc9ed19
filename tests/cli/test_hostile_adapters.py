"""What a memory system of a user's may do in its process, and what of the run it touches: nothing but its own rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smriti.receipts.verify import verify
from tests.cli.command_line import Ended, Smriti

ADAPTERS = """
import os
from smriti.memory import _ranked
from smriti.memory.bm25 import Bm25

class Plain(Bm25):
    def __init__(self):
        super().__init__(None)

class Poison(Plain):
    '''Turns the searches of every system of its process round.'''
    def open(self, workspace, replica=None):
        search = _ranked._Indexed.search
        _ranked._Indexed.search = lambda self, query, k: search(self, query, k)[::-1]
        return super().open(workspace, replica)

class Prints(Plain):
    def open(self, workspace, replica=None):
        print("from a system")
        return super().open(workspace, replica)

class Wanders(Plain):
    def open(self, workspace, replica=None):
        os.chdir("/")
        os.environ.clear()
        return super().open(workspace, replica)

class Searching(Plain):
    def open(self, workspace, replica=None):
        store = super().open(workspace, replica)
        store.search = self.search
        return store

class Silent(Searching):
    def search(self, *_arguments):
        class Mute(Exception):
            def __str__(self):
                raise SystemExit(0)
        raise Mute

class Interrupts(Searching):
    def search(self, *_arguments):
        raise KeyboardInterrupt

class Leaves(Searching):
    def search(self, *_arguments):
        os._exit(0)

class Unspeakable(Plain):
    def identity(self):
        return super().identity().model_copy(update={"detail": {"self": self}})
"""


@pytest.fixture(autouse=True)
def _adapters(smriti: Smriti, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    del smriti  # which goes to the folder in which commands run
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "cache"))
    Path("hostile_r1.py").write_text(ADAPTERS)


def ran(smriti: Smriti, systems: str, jobs: int) -> tuple[Ended, dict[str, Any]]:
    """Run some of coding-life's questions; return how it ended, and recall_all@5 of each system."""
    arguments = ("coding-life", "--stratify", 3, "--memory", systems, "--jobs", jobs, "--out", "out", "--json")
    ended = smriti(*arguments)
    assert verify(Path("out")).state == "verified"
    scores = json.loads(Path("out", "summary.json").read_text())["scores"]
    return ended, {s["system"]: s["value"] for s in scores if (s["metric"], s["group"]) == ("recall_all@5", "all")}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["Poison", "Prints", "Wanders"])
def test_what_one_system_does_to_its_process_reaches_no_other_and_not_the_output(
    smriti: Smriti, name: str, jobs: int
) -> None:
    ended, recalls = ran(smriti, f"hostile_r1:{name},bm25", jobs)
    assert ended.status == 0
    assert ended.json["stands"], "one object is all that is on stdout"
    assert recalls["bm25"] > 0.7
    if name != "Poison":
        assert recalls[f"hostile_r1:{name}"] == recalls["bm25"]


@pytest.mark.parametrize(("name", "phase"), [("Silent", "query"), ("Interrupts", "query"), ("Leaves", "process")])
def test_a_system_cannot_end_the_run_and_has_failed_attempts_instead(smriti: Smriti, name: str, phase: str) -> None:
    ended, recalls = ran(smriti, f"hostile_r1:{name},bm25", 2)
    assert ended.status == 1
    assert recalls[f"hostile_r1:{name}"] == 0
    assert recalls["bm25"] > 0.7
    rows = [json.loads(line) for line in Path("out", "scores.ndjson").read_text().splitlines()]
    own = [row for row in rows if row["system"] == f"hostile_r1:{name}"]
    assert len(own) == len(rows) / 2, "no row is lost"
    assert {row["fault"]["phase"] for row in own} == {phase}


def test_an_identity_that_no_manifest_can_hold_is_refused_before_there_is_a_receipt(smriti: Smriti) -> None:
    refused = smriti("coding-life", "--memory", "hostile_r1:Unspeakable", "--out", "out")
    refused.assert_refused("Unspeakable.identity()", "plain JSON values")
    assert not Path("out").exists()
