"""The embedded memory as suites see it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory.embedded import create
from smriti.memory.embedded.system import EmbeddedMemory, EmbeddedStore
from smriti.types import Condition, Memory, MemoryType

REALM = "project:smriti-x-on-t1"
WINDOW = (0, 2**53)
CALL = (
    b'{"session_id": "s1", "cwd": "/", "prompt": "Which port has the listener?", "hook_event_name": "UserPromptSubmit"}'
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedMemory().open(tmp_path)
    yield opened
    opened.close()


def memory(content: str, type_: MemoryType = "wisdom") -> Memory:
    return Memory(content=content, type=type_, role="distractor", source_id="m1")


def test_it_takes_no_argument() -> None:
    with pytest.raises(UsageError, match="takes no argument; found 'fast'"):
        create("fast")


def test_its_identity_tells_lanes_vectoriser_and_sqlite() -> None:
    identity = create(None).identity()
    assert identity.detail["lanes"] == ["kw", "sem", "ctx", "corr", "hyb", "xr"] == list(create(None).lanes)
    assert identity.detail["vectoriser"] == "hashing-vectoriser-v1"
    assert identity.detail["sqlite"].startswith("3.")


def test_making_it_costs_hooks_nothing() -> None:
    code = "import smriti.memory.embedded, sys; print('pydantic' in sys.modules, 'sqlite3' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"False False\n"


@pytest.mark.parametrize("condition", ["off", "handed", "placebo", "file"])
def test_without_hooks_the_kill_switch_is_set(store: EmbeddedStore, condition: str) -> None:
    attachment = store.attach(REALM, Condition.parse(condition))
    assert attachment.hooks == ()
    assert attachment.env["SMRITI_MEM_HEADLESS"] == "1"


def test_under_on_the_hook_runs_isolated_in_the_store_and_realm(store: EmbeddedStore) -> None:
    attachment = store.attach(REALM, Condition.parse("on"))
    assert dict(attachment.env) == {"SMRITI_MEM_HOME": str(store.home), "SMRITI_MEM_REALM": REALM}
    [hook] = attachment.hooks
    assert hook.event == "UserPromptSubmit"
    assert hook.command == (sys.executable, "-I", "-m", "smriti.memory.embedded", "hook")


@pytest.mark.parametrize(("lane", "ablated"), [("kw", "kw"), ("xr", "xr"), ("all", "kw,sem,ctx,corr,hyb,xr")])
def test_under_ablation_the_hook_is_told_the_lanes(store: EmbeddedStore, lane: str, ablated: str) -> None:
    attachment = store.attach(REALM, Condition("ablate", lane))
    assert attachment.env["SMRITI_MEM_ABLATE_LANES"] == ablated
    assert "SMRITI_MEM_HEADLESS" not in attachment.env
    assert attachment.hooks == store.attach(REALM, Condition.parse("on")).hooks


def test_a_lane_that_is_none_cannot_be_ablated(store: EmbeddedStore) -> None:
    with pytest.raises(MemorySystemError, match="ablate:bm25 names no lane"):
        store.attach(REALM, Condition("ablate", "bm25"))


@pytest.mark.parametrize(("condition", "confirmed"), [("on", True), ("ablate:kw", True), ("ablate:all", False)])
def test_what_the_attached_hook_printed_is_confirmed(store: EmbeddedStore, condition: str, confirmed: bool) -> None:
    ids = store.remember([memory("The metrics listener is on port 9318.")], REALM)
    attachment = store.attach(REALM, Condition.parse(condition))
    [hook] = attachment.hooks
    printed = subprocess.check_output(hook.command, input=CALL, env={"PATH": os.defpath, **attachment.env})
    assert (b"9318" in printed) is confirmed
    assert store.injected("s1", WINDOW) == (ids if confirmed else [])
    assert store.injected("s2", WINDOW) == []


@pytest.mark.parametrize("layer", ["kw", "sem", "ctx", "hyb"])
def test_a_layer_is_one_lane_alone(store: EmbeddedStore, layer: str) -> None:
    [own] = store.remember([memory("The metrics listener is on port 9318.")], REALM)
    [theirs] = store.remember([memory("The metrics listener is on port 9381.")], "project:other")
    assert [hit.id for hit in store.search("metrics listener", REALM, 5, layer)] == [own]
    assert [hit.id for hit in store.search("metrics listener", REALM, 5, "xr")] == [theirs]
    assert store.search("metrics listener", REALM, 5, "corr") == []
    assert [hit.id for hit in store.search("metrics listener", REALM, 5)] == [own]


def test_an_unknown_layer_is_an_error_that_names_the_lanes(store: EmbeddedStore) -> None:
    with pytest.raises(MemorySystemError, match=r"'bm25' is not a lane .* kw, sem"):
        store.search("port", REALM, 5, "bm25")


def test_a_correction_supersedes_what_it_names(store: EmbeddedStore) -> None:
    stale = store.remember([memory("The listener is on port 1.")], REALM)
    ids = store.remember([memory("The listener is on port 2.", "correction")], REALM, supersedes=stale)
    assert [hit.id for hit in store.search("listener port", REALM, 5)] == ids


def test_the_store_lies_in_its_workspace_and_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMRITI_MEM_HOME", str(tmp_path / "users"))
    monkeypatch.setenv("HOME", str(tmp_path / "users"))
    store = EmbeddedMemory().open(tmp_path / "workspace")
    store.remember([memory("The gate is red.")], REALM)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]
    assert (tmp_path / "workspace" / "embedded" / "memory.db").is_file()


def test_a_relative_workspace_is_found_from_the_agents_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = EmbeddedMemory().open(Path("workspace"))
    store.close()
    home = store.attach(REALM, Condition.parse("on")).env["SMRITI_MEM_HOME"]
    assert home == str(tmp_path / "workspace" / "embedded")


def test_a_replica_is_copied_and_not_touched(tmp_path: Path) -> None:
    system = EmbeddedMemory()
    first = system.open(tmp_path / "first")
    [memory_id] = first.remember([memory("The gate is red.")], REALM)
    first.close()
    copy = system.open(tmp_path / "second", tmp_path / "first" / "embedded")
    assert [hit.id for hit in copy.search("gate", REALM, 5)] == [memory_id]
    copy.forget([memory_id])
    copy.close()
    first = system.open(tmp_path / "first")
    assert [hit.id for hit in first.search("gate", REALM, 5)] == [memory_id]
    first.close()


def test_a_replica_of_a_store_in_use_holds_what_was_committed(store: EmbeddedStore, tmp_path: Path) -> None:
    [memory_id] = store.remember([memory("The gate is red.")], REALM)
    copy = EmbeddedMemory().open(tmp_path / "second", store.home)
    assert [hit.id for hit in copy.search("gate", REALM, 5)] == [memory_id]
    copy.close()


def test_a_replica_that_is_no_store_and_a_workspace_that_has_one_are_errors(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    with pytest.raises(MemorySystemError, match=r"has no memory\.db"):
        EmbeddedMemory().open(tmp_path / "second", tmp_path)
    with pytest.raises(MemorySystemError, match="there is a store already"):
        EmbeddedMemory().open(tmp_path, store.home)


def test_threads_share_a_store(store: EmbeddedStore) -> None:
    failures: list[Exception] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                ids = store.remember([memory(f"Gate {number} is red.")], f"project:{number}")
                assert [hit.id for hit in store.search("gate", f"project:{number}", 5, "kw")] == ids
                store.forget(ids)
        except Exception as failure:  # noqa: BLE001  # whatever it was, the test must see it
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
