"""`command:FILE`: a driver in any language, by JSON lines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smriti import registry
from smriti.errors import MemorySystemError, UsageError
from smriti.memory import command
from smriti.memory._mapped.store import MappedStore
from smriti.types import Action, Hit
from tests.memory.servers.opened import REALM, memory, server_pids

EXAMPLE = Path(__file__).parent / "drivers" / "example.py"

FULL = """
import json, sys, time
VERBS = ["update", "act", "actions", "recall"]
memories, actions = {}, []
def answer(verb, given):
    if verb == "hello":
        return {"name": "full", "version": "2", "verbs": VERBS, "layers": ["deep"]}
    if verb == "remember":
        memories[f"n{len(memories)}"] = given["content"]
        return {"id": f"n{len(memories) - 1}"}
    if verb == "search":
        hits = [{"id": i, "content": c} for i, c in memories.items() if set(c.split()) & set(given["query"].split())]
        return {"hits": hits[: given["k"]]}
    if verb == "recall":
        return {"hits": [], "text": f"{given['form']} {given['budget']} {given.get('layer')}", "cut": len(memories)}
    if verb == "update":
        memories[given["id"]] = given["content"]
        return {"id": given["id"]}
    if verb == "act":
        actions.append({"id": "a1", "title": given["title"], "memory_ids": given["memory_ids"]})
        return {"id": "a1"}
    if verb == "actions":
        return {"actions": actions}
    raise ValueError(f"no {verb}")
for line in sys.stdin:
    request = json.loads(line)
    verb, given, id_ = request["verb"], request["arguments"], request["id"]
    #HERE
    try:
        print(json.dumps({"id": id_, "result": answer(verb, given)}), flush=True)
    except ValueError as error:
        print(json.dumps({"id": id_, "error": str(error)}), flush=True)
"""


@contextlib.contextmanager
def opened(folder: Path, here: str = "", settings: str = "") -> Iterator[MappedStore]:
    """Open a store of a driver that has most verbs; `here` is run before it answers."""
    (folder / "driver.py").write_text(FULL.replace("#HERE", here))
    toml = folder / "driver.toml"
    toml.write_text(f'command = ["{sys.executable}", "-I", "driver.py"]\nsettle_s = 0.3\nstop_s = 0.2\n{settings}\n')
    store = command.create(str(toml)).open(folder)
    try:
        yield store
    finally:
        store.close()
        assert server_pids(folder) == []


def test_the_example_driver_does_all_that_a_memory_system_must(tmp_path: Path) -> None:
    system = registry.load("memory", f"command:{EXAMPLE}")
    assert (system.name, system.version) == ("command:example", "1.0")
    assert system.capabilities == {"projects", "provenance", "restart"}
    store = system.open(tmp_path)
    try:
        [one, two] = store.remember([memory("The gate is red."), memory("The gate is tall.", "m2")], REALM)
        assert store.search("red gate", REALM, 1) == [Hit(one, "The gate is red.", 2.0, ("m1",))]
        assert store.search("gate", f"{REALM}0", 5) == []
        store.forget([one])
        store.restart()
        assert [hit.id for hit in store.search("gate", REALM, 5)] == [two]
    finally:
        store.close()
    assert server_pids(tmp_path) == []


def test_the_example_has_at_most_60_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 60


def test_the_readme_shows_the_example_driver_as_it_is_run() -> None:
    readme = Path(command.__file__).parent / "README.md"
    assert "tests/memory/drivers/example.py" in readme.read_text()


def test_verbs_that_a_driver_says_that_it_has_are_used(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        [id_] = store.remember([memory("gate red")], REALM)
        assert store.update(id_, "gate blue") == id_
        store.act("Paint it.", [id_], REALM)
        assert store.actions(REALM) == [Action(id="a1", title="Paint it.", memory_ids=(id_,))]
        recalled = store.recall("gate", REALM, "narrative", 30, "deep")
        assert (recalled.text, recalled.cut) == ("narrative 30 deep", 1)


def test_capabilities_of_a_driver_follow_from_its_verbs(tmp_path: Path) -> None:
    with opened(tmp_path):
        system = command.create(str(tmp_path / "driver.toml"))
        assert system.capabilities == {"projects", "provenance", "update", "actions", "budget", "layers"}


def test_an_error_of_the_driver_is_quoted(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        [id_] = store.remember([memory("gate red")], REALM)
        with pytest.raises(MemorySystemError, match=r"forget was refused .*'no forget'"):
            store.forget([id_])


def test_a_driver_that_dies_is_named_with_its_last_words(tmp_path: Path) -> None:
    with opened(tmp_path, "if verb == 'search': raise SystemExit('out of memory')") as store:
        with pytest.raises(MemorySystemError, match=r"search got no answer; .* exit status 1; .*'out of memory'"):
            store.search("gate", REALM, 5)
        with pytest.raises(MemorySystemError, match=r"search got no answer"):
            store.search("gate", REALM, 5)


def test_a_driver_that_hangs_is_named_and_ended(tmp_path: Path) -> None:
    with opened(tmp_path, "if verb == 'search': time.sleep(3600)", "call_s = 0.7") as store:
        with pytest.raises(MemorySystemError, match=r"search got no answer in 0.7 s; the server is running"):
            store.search("gate", REALM, 5)
        assert server_pids(tmp_path) == []


@pytest.mark.parametrize("said", ["%% garbage", '{"id": 77, "result": {}}', "[]", '{"id": 2}'])
def test_a_line_that_is_no_answer_to_the_request_is_quoted(said: str, tmp_path: Path) -> None:
    with (
        opened(tmp_path, f"if verb == 'search': print({said!r}, flush=True); continue") as store,
        pytest.raises(MemorySystemError, match=r"search was answered .*expected ..id.: 1, .result.: …"),
    ):
        store.search("gate", REALM, 5)


def test_a_driver_that_does_not_read_does_not_block_for_ever(tmp_path: Path) -> None:
    with (
        opened(tmp_path, "if verb == 'remember': time.sleep(3600)", "call_s = 0.7") as store,
        pytest.raises(MemorySystemError, match=r"remember got no answer in 0.7 s"),
    ):
        store.remember([memory("x" * 1_000_000)], REALM)


@pytest.mark.parametrize(
    ("here", "said"),
    [
        ("VERBS[:] = ['fly']", r"says that it has \['fly'\], expected some of remember"),
        (
            "if verb == 'hello': print('{\"id\": 1, \"result\": []}', flush=True); continue",
            "said hello with .*expected an",
        ),
        (
            "if verb == 'hello': print('{\"id\": 1, \"result\": {}}', flush=True); continue",
            "said hello with {}: .*name",
        ),
        ("raise SystemExit('no library')", "hello got no answer.*'no library'"),
    ],
)
def test_a_driver_that_does_not_say_what_it_is_cannot_be_used(here: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said), opened(tmp_path, here):
        pass


def test_a_file_that_cannot_be_a_driver_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "driver"
    plain.write_text("#!/bin/sh\n")
    (tmp_path / "a.toml").write_text("command = 'x'")
    (tmp_path / "b.toml").write_text("command = ['x']\nname = 'b'")
    for argument, said in {
        None: "was given no file",
        "no-such-file": "is no file",
        str(plain): "cannot be executed",
        str(tmp_path / "a.toml"): "has no list 'command'",
        str(tmp_path / "b.toml"): "has the keys .'name'.",
    }.items():
        with pytest.raises(UsageError, match=said):
            command.create(argument)


def test_a_run_is_fingerprinted_with_the_driver_and_what_starts_it(tmp_path: Path) -> None:
    with opened(tmp_path):
        found = command.sources(str(tmp_path / "driver.toml"))
    assert {label.partition(" ")[2] or label for label in found} == {
        "driver.toml",
        "driver.py",
        Path(sys.executable).name,
    }
    (tmp_path / "driver.py").write_text("changed")
    assert command.sources(str(tmp_path / "driver.toml")) != found
