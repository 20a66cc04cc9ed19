"""agentmemory: its contract, against a stand-in of its routes that misbehaves, and against the worker from npm."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shlex
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smriti import registry
from smriti.errors import MemorySystemError, UsageError
from smriti.memory import agentmemory
from smriti.memory._mapped import mapping
from smriti.memory.agentmemory import AgentMemory, AgentMemoryStore
from smriti.types import Action, Condition, Hit, Observation
from tests.memory.servers.opened import REALM, SERVERS, memory, server_pids

OTHER = f"{REALM}0"
HERON = "We saw a heron by the old harbour."

PLAYED = (sys.executable, "-I", "-S", str(SERVERS / "agentmemory_node.py"))

Open = Callable[..., AgentMemoryStore]


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, misbehave: str) -> Path:
    """Put a worker and an engine of ours in the place of those of agentmemory, and a node that plays them."""
    prefix = folder / "systems" / "agentmemory"
    package = prefix / "node_modules/@agentmemory/agentmemory"
    worker, node, engine = package / "dist/index.mjs", prefix / "bin" / "node", folder / "engine.mjs"
    for file in (worker, node, engine):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"// {file.name}\n")
    (package / "package.json").write_text('{"version": "0.9.29"}')
    node.write_text(f'#!/bin/sh\nexec {shlex.join([*PLAYED, misbehave])} "$@"\n')
    node.chmod(0o755)
    monkeypatch.setenv("SMRITI_SYSTEMS", str(folder / "systems"))
    monkeypatch.setenv("SMRITI_AGENTMEMORY_III", str(engine))
    monkeypatch.delenv("SMRITI_KEEP", raising=False)
    return engine


@pytest.fixture
def standing_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    return functools.partial(stand_in, tmp_path, monkeypatch)


@pytest.fixture
def opened(standing_in: Callable[[str], Path], tmp_path: Path) -> Iterator[Open]:
    """Open a store of a system that misbehaves as it is told, with short time limits; all are closed afterwards."""
    with contextlib.ExitStack() as stack:

        def open_(misbehave: str = "", workspace: str = "workspace", replica: Path | None = None) -> AgentMemoryStore:
            standing_in(misbehave)
            store = hurried(agentmemory.create(None)).open(tmp_path / workspace, replica)
            stack.callback(store.close)
            return store

        yield open_
    assert server_pids(tmp_path) == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentMemoryStore]:
    folder = tmp_path_factory.mktemp("agentmemory")
    with pytest.MonkeyPatch.context() as monkeypatch:
        stand_in(folder, monkeypatch, "")
        store = hurried(agentmemory.create(None)).open(folder / "workspace")
    yield store
    store.close()


@pytest.fixture
def store(shared: AgentMemoryStore) -> AgentMemoryStore:
    """A well-behaved store that is empty at the beginning of each test, but for actions."""
    shared.forget(list(shared._planted._by_id))
    return shared


def hurried(system: AgentMemory, **limits: float) -> AgentMemory:
    limits = {"call_s": 1.0, "settle_s": 0.2, "start_s": 10.0, "stop_s": 0.5} | limits
    interface = system.mapped.interface.model_copy(update=limits)
    mapped = system.mapped.model_copy(update={"interface": interface})
    return AgentMemory(system.name, mapped, system.start, engine=system.engine)


def told(store: AgentMemoryStore, role: str) -> dict[str, str]:
    """The environment that the worker or the engine was started with."""
    said: dict[str, str] = json.loads((store._place.root / "home" / f"{role}.json").read_text())
    return said


# The engine.


def test_without_its_engine_it_cannot_be_used_and_says_what_that_is_and_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agentmemory, "_usual_places", lambda: [tmp_path / "iii"])
    monkeypatch.delenv("SMRITI_AGENTMEMORY_III", raising=False)
    with pytest.raises(
        UsageError, match=r"needs its engine `iii` 0\.11\.2.*usual places.*releases of github.*image"
    ) as e:
        registry.load("memory", "agentmemory")
    assert "\n" not in str(e.value)


def test_an_engine_that_is_named_and_not_there_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMRITI_AGENTMEMORY_III", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"names '.*nowhere', which is no program"):
        agentmemory.create(None)


def test_the_engine_itself_is_recorded_with_its_version_and_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "iii"
    program.write_text("#!/bin/sh\necho iii 0.11.2\n")
    program.chmod(0o755)
    monkeypatch.setattr(agentmemory, "_usual_places", lambda: [program])
    monkeypatch.delenv("SMRITI_AGENTMEMORY_III", raising=False)
    identity = agentmemory.create(None).identity()
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    assert (identity.name, identity.version) == ("agentmemory", "0.9.29")
    assert [identity.detail[f"engine{part}"] for part in ("", "_version", "_sha256")] == ["iii", "0.11.2", digest]
    assert "warning" not in identity.detail


def test_a_program_that_is_no_engine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "iii"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    monkeypatch.setenv("SMRITI_AGENTMEMORY_III", str(program))
    with pytest.raises(UsageError, match="says 'hello' to --version, expected a version"):
        agentmemory.create(None)


def test_a_stand_in_for_the_engine_is_named_loudly(standing_in: Callable[[str], Path]) -> None:
    engine = standing_in("")
    identity = registry.load("memory", "agentmemory").identity()
    assert identity.name == "agentmemory (stand-in engine)"
    assert identity.detail["engine"] == "stand-in"
    assert "NO FIGURE OF THIS RUN IS AGENTMEMORY'S" in identity.detail["warning"]
    digests = registry.sources("memory", "agentmemory")
    assert digests["memory/agentmemory engine engine.mjs"] == hashlib.sha256(engine.read_bytes()).hexdigest()
    assert {"memory/agentmemory.toml", "memory/agentmemory worker index.mjs"} < digests.keys()


def test_the_engine_itself_serves_at_the_ports_and_over_the_state_of_its_store(
    standing_in: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in("")
    program = tmp_path / "iii"
    played = shlex.join([*PLAYED, "", "iii"])
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo iii 0.11.2 || exec {played} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("SMRITI_AGENTMEMORY_III", str(program))
    store = hurried(agentmemory.create(None)).open(tmp_path / "workspace")
    try:
        [id_] = store.remember([memory(HERON)], REALM)
        store.restart()
        assert [hit.id for hit in store.search("heron", REALM, 5)] == [id_]
        assert (store._place.root / "state" / "state_store.db").is_file()
        assert told(store, "engine")["III_TELEMETRY_ENABLED"] == "false"
    finally:
        store.close()
    assert server_pids(tmp_path) == []


def test_another_version_of_the_worker_than_that_of_the_mapping_is_refused(standing_in: Callable[[str], Path]) -> None:
    standing_in("")
    (agentmemory._worker().parents[1] / "package.json").write_text('{"version": "0.9.30"}')
    with pytest.raises(UsageError, match=r"is 0\.9\.29, but 0\.9\.30 is installed"):
        agentmemory.create(None)


def test_an_argument_is_refused() -> None:
    with pytest.raises(UsageError, match="has no variant 'x'"):
        agentmemory.create("x")


# What it promises.


def test_it_declares_what_it_can_do_and_neither_update_nor_supersession(standing_in: Callable[[str], Path]) -> None:
    standing_in("")
    assert agentmemory.create(None).capabilities == {
        *("actions", "budget", "capture", "expand", "global", "projects", "provenance", "rest", "restart")
    }


def test_what_was_remembered_is_found_whole_with_its_source_which_the_system_never_sees(
    store: AgentMemoryStore,
) -> None:
    [id_, _] = store.remember([memory(HERON * 5, "source-7"), memory("We saw a newt.", "m8")], REALM)
    assert store.search("heron", REALM, 5) == [Hit(id_, HERON * 5, 1.0, ("source-7",))]
    state = (store._place.root / "state" / "state.json").read_text()
    assert "heron" in state
    assert "source-7" not in state


def test_a_search_keeps_to_its_project_and_the_compact_one_does_not(store: AgentMemoryStore) -> None:
    [mine] = store.remember([memory(HERON)], REALM)
    [theirs] = store.remember([memory("A heron of another team.")], OTHER)
    [anyones] = store.remember([memory("A heron of no team.")], "")
    assert {hit.id for hit in store.search("heron", REALM, 5)} == {mine, anyones}
    assert {hit.id for hit in store.compact("heron", REALM, 5)} == {mine, theirs, anyones}


def test_a_compact_hit_is_a_title_that_expands_to_the_whole_text(store: AgentMemoryStore) -> None:
    [id_] = store.remember([memory(HERON * 5)], REALM)
    assert store.compact("heron", REALM, 5)[0].content == (HERON * 5)[:80]
    assert store.expand(id_) == HERON * 5


def test_forget_removes_exactly_what_it_is_given(store: AgentMemoryStore) -> None:
    gone, kept = store.remember([memory(HERON), memory("The heron has gone.", "m2")], REALM)
    store.forget([gone])
    assert [hit.id for hit in store.search("heron", REALM, 5)] == [kept]
    with pytest.raises(MemorySystemError, match=gone):
        store.forget([gone])


def test_what_was_captured_is_found_with_its_source_expanded_and_forgotten(store: AgentMemoryStore) -> None:
    seen = Observation(session_id="s", tool="shell", content="pytest: 212 passed", source_id="o1")
    [id_] = store.capture([seen], REALM)
    assert store.search("pytest", REALM, 5) == [Hit(id_, "pytest: 212 passed", 1.0, ("o1",))]
    assert store.search("pytest", OTHER, 5) == []
    assert store.expand(id_) == "pytest: 212 passed"
    store.forget([id_])
    assert store.search("pytest", REALM, 5) == []


def test_actions_name_their_memories_oldest_first_in_their_own_project(store: AgentMemoryStore) -> None:
    first, second = store.act("run a", ["mem_1"], REALM), store.act("run b", [], REALM)
    store.act("run c", [], OTHER)
    assert store.actions(REALM) == [
        Action(id=first, title="run a", memory_ids=("mem_1",)),
        Action(id=second, title="run b", memory_ids=()),
    ]


def test_recall_in_every_form_names_the_sources_and_tells_that_nothing_was_cut(store: AgentMemoryStore) -> None:
    store.remember([memory(HERON * 5, "m7")], REALM)
    for form, content, text in (
        ("full", HERON * 5, ""),
        ("narrative", HERON * 5, HERON * 5),
        ("compact", (HERON * 5)[:80], ""),
    ):
        recalled = store.recall("heron", REALM, form, 50)  # type: ignore[arg-type]
        assert [(hit.content, hit.source_ids) for hit in recalled.hits] == [(content, ("m7",))], form
        assert (recalled.text, recalled.cut) == (text, 0), form


def test_of_a_recall_that_was_cut_it_does_not_say_by_how_much(store: AgentMemoryStore) -> None:
    store.remember([memory(f"Heron {n} was here.", f"m{n}") for n in range(3)], REALM)
    recalled = store.recall("heron", REALM, "full", 10)
    assert (len(recalled.hits), recalled.cut) == (1, None)


def test_a_restart_keeps_what_was_remembered_and_forgotten_in_new_processes(store: AgentMemoryStore) -> None:
    kept, gone = store.remember([memory(HERON), memory("The heron is grey.", "m2")], REALM)
    store.forget([gone])
    before = server_pids(store._place.root)
    assert len(before) == 4  # worker and engine, each with its guard
    store.restart()
    assert [(hit.id, hit.source_ids) for hit in store.search("heron", REALM, 5)] == [(kept, ("m1",))]
    assert not set(before) & set(server_pids(store._place.root))


def test_a_replica_is_opened_as_a_copy_whose_memories_have_no_source_here(opened: Open, tmp_path: Path) -> None:
    store = opened()
    [old] = store.remember([memory(HERON)], REALM)
    frozen = tmp_path / "frozen"
    (store._place.root / "state").rename(frozen)
    before = (frozen / "state.json").read_bytes()
    copy = opened("", "copy", frozen)
    [new] = copy.remember([memory("A new heron.", "m2")], REALM)
    assert {hit.id: hit.source_ids for hit in copy.search("heron", REALM, 5)} == {old: (), new: ("m2",)}
    assert (frozen / "state.json").read_bytes() == before


def test_under_off_nothing_is_attached(opened: Open) -> None:
    attachment = opened().attach(REALM, Condition.parse("off"))
    assert (attachment.hooks, attachment.prefix, dict(attachment.mcp_servers)) == ((), "", {})


# What it is given.


def test_worker_and_engine_get_nothing_of_the_users_environment(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("EMBEDDING_PROVIDER", "openai")
    store = opened()
    home = str(store._place.root / "home")
    own = {"PATH", "HOME", "TMPDIR", "LANG", "SMRITI_SERVER", "LC_CTYPE", "PWD", "SHLVL", "_", "OLDPWD"}
    engine = told(store, "engine")
    assert engine.keys() - own == {"NODE_PATH", "MINI_WS_PORT", "MINI_HTTP_PORT", "MINI_STATE"}
    worker = told(store, "worker")
    assert (engine["HOME"], worker["HOME"]) == (home, home)
    off = {name: worker[name] for name in worker.keys() - own if not name.startswith(("III_", "AGENTMEMORY_SECRET"))}
    assert off == {
        "OTEL_ENABLED": "false",
        "AGENTMEMORY_PROVIDER": "noop",
        "AGENTMEMORY_AUTO_COMPRESS": "false",
        "AGENTMEMORY_INJECT_CONTEXT": "false",
        "CONSOLIDATION_ENABLED": "false",
        "GRAPH_EXTRACTION_ENABLED": "false",
        "SNAPSHOT_ENABLED": "false",
    }


def test_each_store_has_ports_and_a_secret_of_its_own(opened: Open) -> None:
    one, two = (told(opened("", name), "worker") for name in ("one", "two"))
    assert one["AGENTMEMORY_SECRET"] != two["AGENTMEMORY_SECRET"]
    assert len(one["AGENTMEMORY_SECRET"]) >= 32
    for worker in (one, two):
        first = int(worker["III_REST_PORT"])
        assert worker["III_STREAMS_PORT"] == str(first + 1)  # and it takes the next for its viewer
        assert worker["III_ENGINE_URL"] == f"ws://127.0.0.1:{first + 3}"
    assert abs(int(one["III_REST_PORT"]) - int(two["III_REST_PORT"])) >= 5


def test_without_the_adapter_its_worker_reaches_no_engine() -> None:
    assert mapping.read("http", "agentmemory").interface.env["III_ENGINE_URL"] == "ws://127.0.0.1:9"


def test_ports_that_a_store_holds_are_given_to_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with agentmemory._held_block() as found:
        first = found.getsockname()[1]
    monkeypatch.setattr(agentmemory, "_PORTS", range(first, first + 5))
    with agentmemory._held_block() as held:
        assert held.getsockname()[1] == first
        with pytest.raises(MemorySystemError, match="no 5 ports in a row are free"):
            agentmemory._held_block()
    with socket.create_server(("127.0.0.1", first + 3)), pytest.raises(MemorySystemError, match="free"):
        agentmemory._held_block()
    agentmemory._held_block().close()


# What is left.


def test_closing_ends_engine_and_worker_and_leaves_no_file(opened: Open, tmp_path: Path) -> None:
    store = opened()
    store.remember([memory(HERON)], REALM)
    assert server_pids(tmp_path)
    store.close()
    store.close()
    assert server_pids(tmp_path) == []
    assert list((tmp_path / "workspace").iterdir()) == []


@pytest.mark.parametrize("misbehave", ["hang:search", "die:search", "engine-dies:search", "garbage:search"])
def test_also_after_a_query_that_failed_nothing_is_left(opened: Open, tmp_path: Path, misbehave: str) -> None:
    store = opened(misbehave)
    with pytest.raises(MemorySystemError, match="search"):
        store.search("heron", REALM, 5)
    store.close()
    assert server_pids(tmp_path) == []
    assert list((tmp_path / "workspace").iterdir()) == []


def test_with_smriti_keep_its_files_are_kept_and_its_processes_are_not(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "kept"))
    store = opened()
    store.remember([memory(HERON)], REALM)
    monkeypatch.setenv("SMRITI_KEEP", "1")
    store.close()
    [kept] = (tmp_path / "kept").iterdir()
    assert "heron" in (kept / "agentmemory" / "state" / "state.json").read_text()
    assert f"kept in {kept}" in capsys.readouterr().err
    assert server_pids(tmp_path) == []


@pytest.mark.parametrize(
    ("misbehave", "said"), [("deaf", "start of its engine took more than"), ("not-loaded", "to read its index")]
)
def test_a_start_that_fails_names_its_cause_and_leaves_nothing(
    standing_in: Callable[[str], Path], tmp_path: Path, misbehave: str, said: str
) -> None:
    standing_in(misbehave)
    with pytest.raises(MemorySystemError, match=said):
        hurried(agentmemory.create(None), start_s=1.0).open(tmp_path / "workspace")
    assert server_pids(tmp_path) == []
    assert list((tmp_path / "workspace").iterdir()) == []


def test_a_worker_that_is_not_installed_is_named_and_leaves_no_engine(
    standing_in: Callable[[str], Path], tmp_path: Path
) -> None:
    standing_in("")
    agentmemory._worker().unlink()
    with pytest.raises(MemorySystemError, match=r"index\.mjs' is not there, expected the system to be installed"):
        hurried(agentmemory.create(None)).open(tmp_path / "workspace")
    assert server_pids(tmp_path) == []


# How it misbehaves.


@pytest.mark.parametrize(
    ("misbehave", "said"),
    [
        ("refuse", "remember was refused.*success"),
        ("not-latest", "remember was refused.*isLatest"),
        ("unauthorized", r"HTTP 401.*unauthorized"),
        ("hang:remember", "remember got no whole answer in 1 s"),
        ("die:remember", r"HTTP 500.*Function not found"),
        ("engine-dies:remember", "remember failed.*its engine: the server ended with exit status 9.*panic: the engine"),
        ("garbage:remember", "remember gave no id.*source 'm1' is lost"),
    ],
)
def test_a_write_that_fails_is_an_error_that_says_how(opened: Open, misbehave: str, said: str) -> None:
    with pytest.raises(MemorySystemError, match=said):
        opened(misbehave).remember([memory(HERON)], REALM)


def test_a_memory_that_is_replaced_unasked_is_named_with_its_source(opened: Open) -> None:
    store = opened("supersede")
    [old] = store.remember([memory(HERON, "m1")], REALM)
    with pytest.raises(
        MemorySystemError, match=rf"remember of source 'm2' replaced '{old}' \(sources \['m1'\]\) unasked"
    ):
        store.remember([memory("We saw a newt.", "m2")], REALM)


def test_a_memory_that_is_replaced_without_a_word_is_missed_in_the_count(opened: Open) -> None:
    store = opened("replace")
    store.remember([memory(HERON, "m1")], REALM)
    with pytest.raises(MemorySystemError, match="confirmed 1 writes, but the count went from 1 to 1"):
        store.remember([memory("We saw a newt.", "m2")], REALM)


def test_what_nobody_planted_is_an_error_in_every_search(opened: Open) -> None:
    store = opened("foreign")
    store.remember([memory(HERON)], REALM)
    for search in (
        lambda: store.search("heron", REALM, 5),
        lambda: store.compact("heron", REALM, 5),
        lambda: store.recall("heron", REALM, "full", 500),
    ):
        with pytest.raises(MemorySystemError, match="found 'mem_strange', which nobody planted"):
            search()


def test_a_lie_about_forgetting_is_found_out(opened: Open) -> None:
    store = opened("lie")
    [id_] = store.remember([memory(HERON)], REALM)
    with pytest.raises(MemorySystemError, match=f"forget of '{id_}' was confirmed, but it is still found"):
        store.forget([id_])


def test_a_forget_that_deleted_nothing_is_an_error(opened: Open) -> None:
    store = opened("shrug")
    [id_] = store.remember([memory(HERON)], REALM)
    with pytest.raises(MemorySystemError, match=f"forget of '{id_}' deleted 0, expected 1"):
        store.forget([id_])


def test_a_capture_that_is_dropped_as_a_duplicate_is_an_error_that_names_its_source(opened: Open) -> None:
    seen = Observation(session_id="s", tool="shell", content="pytest: 212 passed", source_id="o1")
    with pytest.raises(MemorySystemError, match=r"capture gave no id.*source 'o1' is lost.*deduplicated"):
        opened("deduplicate").capture([seen], REALM)


# The worker from npm.


@pytest.fixture
def real(tmp_path: Path) -> Iterator[AgentMemoryStore]:
    engine = Path(os.environ.get("SMRITI_AGENTMEMORY_III", ""))
    if engine.suffix != ".mjs" or not engine.is_file():
        pytest.skip("SMRITI_AGENTMEMORY_III names no stand-in for the engine (iii-standin.mjs)")
    if "SMRITI_SYSTEMS" not in os.environ or not agentmemory._worker().is_file():
        pytest.skip("the worker from npm is not installed in SMRITI_SYSTEMS/agentmemory")
    store = agentmemory.create(None).open(tmp_path)
    yield store
    store.close()
    assert server_pids(tmp_path) == []


def test_the_worker_from_npm_keeps_its_contract(real: AgentMemoryStore) -> None:
    gate, newt = real.remember([memory("The gate closes at nine.", "m1"), memory("We saw a newt.", "m2")], REALM)
    assert [(hit.id, hit.source_ids) for hit in real.search("When does the gate close?", REALM, 5)] == [(gate, ("m1",))]
    assert real.count() == 2
    [anyones] = real.remember([memory("Every gate is red.", "m3")], "")
    assert {hit.id for hit in real.search("gate", OTHER, 5)} == {anyones}
    assert gate in {hit.id for hit in real.compact("gate", OTHER, 5)}, "its compact search knows no projects"
    assert real.expand(newt) == "We saw a newt."
    seen = Observation(session_id="s", tool="shell", content="pytest: 212 passed", source_id="o1")
    [observed] = real.capture([seen], REALM)
    assert [hit.source_ids for hit in real.search("pytest", REALM, 5)] == [("o1",)]
    real.forget([newt, observed])
    acted = real.act("run the gate", [gate], REALM)
    assert real.recall("gate", REALM, "narrative", 500).text
    real.restart()
    assert {hit.id for hit in real.search("gate newt pytest", REALM, 5)} == {gate, anyones}
    assert real.actions(REALM) == [Action(id=acted, title="run the gate", memory_ids=(gate,))]


def test_the_worker_from_npm_replaces_a_fact_that_changed(real: AgentMemoryStore) -> None:
    [old] = real.remember([memory("The checkout service waits 30 seconds for the payment gateway.", "m1")], REALM)
    with pytest.raises(MemorySystemError, match=f"replaced '{old}'"):
        real.remember([memory("The checkout service waits 45 seconds for the payment gateway.", "m2")], REALM)
