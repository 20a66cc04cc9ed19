"""What a memory system of a user's may do in its process, and what of the run it touches: nothing but its own rows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smriti.datasets import synthetic
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

class Shouts(Searching):
    '''Raises what cannot be told, by its text, its name or its class.'''
    def search(self, *_arguments):
        class Text(str):
            def __format__(self, _form):
                raise RuntimeError
        class Meta(type):
            @property
            def __name__(self):
                raise RuntimeError
        class Loud(Exception, metaclass=Meta):
            __class__ = property(lambda self: 1 / 0)
            def __str__(self):
                return Text("a shout")
        raise Loud

class Digs(Plain):
    '''Leaves folders within folders, more than can be taken away one from within the other.'''
    def open(self, workspace, replica=None):
        here = os.open(workspace, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("deeper", dir_fd=here)
            below = os.open("deeper", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        return super().open(workspace, replica)

class Backwards(Plain):
    '''Turns the clock back.'''
    def open(self, workspace, replica=None):
        import itertools, time
        from smriti.suites.retrieval import attempt
        ticks = itertools.count(0, -1)
        attempt.time.perf_counter = time.perf_counter = lambda: float(next(ticks))
        return super().open(workspace, replica)

SEEN = set()

class Keeps(Plain):
    '''Has no word for what it has met in an earlier corpus.'''
    def open(self, workspace, replica=None):
        store = super().open(workspace, replica)
        remember = store.remember
        def remembering(memories, realm):
            ids = remember(memories, realm)
            store.forget([id for id, memory in zip(ids, memories) if memory.content in SEEN])
            SEEN.update(memory.content for memory in memories)
            return ids
        store.remember = remembering
        return store

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


@pytest.fixture
def depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder for temporary folders, which is taken away as no recursion would."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    yield
    subprocess.run(["rm", "-rf", str(folder)], check=True)


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


@pytest.mark.parametrize(("name", "phase"), [("Shouts", "query"), ("Backwards", "process")])
def test_whatever_a_system_raises_or_reports_is_a_failed_attempt_and_the_others_go_on(
    smriti: Smriti, name: str, phase: str
) -> None:
    ended, recalls = ran(smriti, f"hostile_r1:{name},bm25", 2)
    assert ended.status == 1
    assert recalls["bm25"] > 0.7
    rows = [json.loads(line) for line in Path("out", "scores.ndjson").read_text().splitlines()]
    own = [row for row in rows if row["system"] == f"hostile_r1:{name}"]
    assert len(own) == len(rows) / 2
    assert {row["fault"]["phase"] for row in own} == {phase}


@pytest.mark.usefixtures("depth")
def test_a_folder_that_cannot_be_taken_away_ends_nothing(smriti: Smriti) -> None:
    ended, recalls = ran(smriti, "hostile_r1:Digs,bm25", 1)
    assert ended.status == 0
    assert recalls["hostile_r1:Digs"] == recalls["bm25"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_nothing_that_a_system_keeps_in_its_process_goes_from_one_corpus_to_the_next(smriti: Smriti, jobs: int) -> None:
    rows = list(synthetic.make_rows(4, seed=5))
    for row in rows:
        for key in ("haystack_sessions", "haystack_dates", "haystack_session_ids", "answer_session_ids"):
            row[key] = rows[0][key]
    Path("alike.json").write_text(json.dumps(rows))
    arguments = ("--data", "alike.json", "--memory", "hostile_r1:Keeps,hostile_r1:Plain", "--jobs", jobs)
    assert smriti("longmemeval", *arguments, "--out", "out").status == 0
    rows = [json.loads(line) for line in Path("out", "scores.ndjson").read_text().splitlines()]
    metrics = {(row["system"], row["question"]): row["metrics"] for row in rows}
    assert len(metrics) == 8
    for (_, question), earned in metrics.items():
        assert earned == metrics["hostile_r1:Plain", question]


def test_what_is_printed_where_the_command_itself_runs_is_not_in_its_json(smriti: Smriti) -> None:
    Path("noisy_r1.py").write_text("print('at import')\nfrom hostile_r1 import Plain as System\n")
    ended, _ = ran(smriti, "noisy_r1:System", 1)
    assert ended.status == 0
    assert ended.json["stands"]
    assert "at import" in ended.err
    bench = ("bench", "--trials", 1, "--task", "csv-null-token", "--agent", "nop", "--conditions", "off,on", "--json")
    Path("noisy_r2.py").write_text("print('at import')\nfrom hostile_r1 import Prints as System\n")
    ended = smriti(*bench, "--memory", "noisy_r2:System", "--out", "trials")
    assert ended.json["receipt"] == "trials"
    assert ended.err.count("from a system") >= 2


def test_an_identity_that_no_manifest_can_hold_is_refused_before_there_is_a_receipt(smriti: Smriti) -> None:
    refused = smriti("coding-life", "--memory", "hostile_r1:Unspeakable", "--out", "out")
    refused.assert_refused("Unspeakable.identity()", "plain JSON values")
    assert not Path("out").exists()
