"""What the embedded memory can do beyond remembering, searching and forgetting."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smriti.errors import MemorySystemError
from smriti.memory.embedded.finding import tokens
from smriti.memory.embedded.lanes import LANES
from smriti.memory.embedded.store import Draft, MemoryFile
from smriti.memory.embedded.system import EmbeddedMemory, EmbeddedStore
from smriti.types import Action, Memory, MemoryType, Observation, RecallForm

REALM = "project:gatehouse"
OTHER = "project:lotbook"
LONG = (
    "The metrics listener is on port 9318 of every host. " + "It answers no other path than the one for metrics. " * 4
)
OWN_LAYERS = ("memories", "kw", "sem", "ctx", "hyb")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedMemory().open(tmp_path)
    yield opened
    opened.close()


def memory(content: str, source_id: str = "m1", type_: MemoryType = "wisdom") -> Memory:
    return Memory(content=content, type=type_, role="convention", source_id=source_id)


def seen(content: str, source_id: str = "o1") -> Observation:
    return Observation(session_id="s1", tool="bash", content=content, source_id=source_id)


def plant(store: EmbeddedStore, *contents: str, realm: str = REALM) -> list[str]:
    return store.remember([memory(content, f"m{n}") for n, content in enumerate(contents)], realm)


def found(store: EmbeddedStore, query: str, realm: str = REALM, layer: str | None = None) -> list[str]:
    return [hit.id for hit in store.search(query, realm, 10, layer)]


def recalled(store: EmbeddedStore, query: str, realm: str = REALM, layer: str | None = None) -> list[str]:
    return [hit.id for hit in store.recall(query, realm, "full", 10_000, layer).hits]


def everywhere(store: EmbeddedStore, query: str, realm: str = REALM) -> set[str]:
    """What any search of the realm returns."""
    ids = {given for layer in (None, *EmbeddedMemory.layers) for given in found(store, query, realm, layer)}
    ids.update(hit.id for hit in store.compact(query, realm, 10))
    return ids.union(*(recalled(store, query, realm, layer) for layer in (None, *EmbeddedMemory.layers)))


def test_every_optional_capability_but_the_servers_is_declared() -> None:
    expected = "actions budget capture expand global layers projects provenance restart supersede update"
    assert " ".join(sorted(EmbeddedMemory.capabilities)) == expected
    assert EmbeddedMemory.layers == ("memories", "observations", "kw", "sem", "ctx", "corr", "hyb")


def test_a_correction_takes_the_place_of_what_it_corrects_and_of_nothing_else(store: EmbeddedStore) -> None:
    stale, neighbour = plant(store, "The listener is on port 1.", "The listener is on every host.")
    assert stale in everywhere(store, "listener port")
    new = store.correct(stale, memory("The listener is on port 2.", "m9"), REALM)
    assert everywhere(store, "listener port") == {new, neighbour}
    [hit] = [hit for hit in store.search("listener port", REALM, 5) if hit.id == new]
    assert (hit.content, hit.source_ids) == ("The listener is on port 2.", ("m9",))


def test_what_another_project_holds_cannot_be_corrected(store: EmbeddedStore) -> None:
    [theirs] = plant(store, "The listener is on port 1.", realm=OTHER)
    with pytest.raises(MemorySystemError, match=f"no memory '{theirs}' to supersede"):
        store.correct(theirs, memory("The listener is on port 2."), REALM)
    assert found(store, "listener", OTHER) == [theirs]
    assert found(store, "listener") == []


def test_an_updated_memory_keeps_id_and_source_and_its_old_text_is_in_no_search(store: EmbeddedStore) -> None:
    changed, neighbour = plant(store, "The heron nests at the weir.", "The weir is old.")
    assert changed in everywhere(store, "heron nests")
    assert store.update(changed, "The otter sleeps at the weir.") == changed
    assert everywhere(store, "heron nests") == set()
    assert everywhere(store, "otter weir") == {changed, neighbour}
    [hit] = store.search("otter", REALM, 5)
    assert (hit.content, hit.source_ids) == ("The otter sleeps at the weir.", ("m0",))
    store.forget([changed])
    assert everywhere(store, "otter weir") == {neighbour}


def test_an_updated_memory_is_the_newest_statement_of_its_fact(store: EmbeddedStore) -> None:
    first, second = plant(store, "The metrics listener is on port 1.", "The metrics listener is on port 2.")
    assert found(store, "metrics listener port") == [second, first]
    store.update(first, "The metrics listener is on port 3.")
    assert found(store, "metrics listener port") == [first, second]


def test_an_update_keeps_what_is_superseded_superseded_and_by_whom(store: EmbeddedStore) -> None:
    [stale] = plant(store, "The listener is on port 1.")
    new = store.correct(stale, memory("The listener is on port 2."), REALM)
    store.update(new, "The listener is on port 3.")
    store.update(stale, "The listener is on port 0.")
    assert found(store, "listener") == [new]
    store.forget([new])
    assert found(store, "listener") == [stale]


def test_an_update_that_cannot_be_done_changes_nothing(store: EmbeddedStore) -> None:
    [kept] = plant(store, "The listener is on port 1.")
    with pytest.raises(MemorySystemError, match="no memory has the id 'nobody'"):
        store.update("nobody", "The listener is on port 2.")
    with pytest.raises(MemorySystemError, match="is empty"):
        store.update(kept, "")
    assert [hit.content for hit in store.search("listener", REALM, 5)] == ["The listener is on port 1."]


def test_a_long_content_is_cut_with_a_mark_and_expands_to_the_whole(store: EmbeddedStore) -> None:
    long, short = plant(store, LONG, "A listener answers.")
    hits = {hit.id: hit.content for hit in store.compact("listener", REALM, 5)}
    assert hits == {long: LONG[:80] + "…", short: "A listener answers."}
    assert store.expand(long) == LONG
    assert [hit.id for hit in store.compact("listener", REALM, 1)] == found(store, "listener")[:1]
    with pytest.raises(MemorySystemError, match="'nobody'"):
        store.expand("nobody")


def test_an_observation_is_found_in_its_layer_and_by_recall_and_nowhere_else(store: EmbeddedStore) -> None:
    ids = store.capture([seen("pytest: 3 failed, listener", "o7"), seen("ls: listener.py", "o8")], REALM)
    assert found(store, "listener", layer="observations") == ids[::-1]
    [hit] = store.search("pytest", REALM, 5, "observations")
    assert (hit.id, hit.content, hit.source_ids) == (ids[0], "pytest: 3 failed, listener", ("o7",))
    assert set(recalled(store, "listener")) == set(recalled(store, "listener", layer="observations")) == set(ids)
    assert [lane for lane in (None, "memories", *LANES) if found(store, "listener", layer=lane)] == []
    assert recalled(store, "listener", layer="memories") == []
    assert store.expand(ids[1]) == "ls: listener.py"
    assert len(store.search("listener", REALM, 1, "observations")) == 1


def test_observations_are_captured_all_or_none(store: EmbeddedStore) -> None:
    empty = seen("a listener").model_copy(update={"content": ""})
    with pytest.raises(MemorySystemError, match="is empty"):
        store.capture([seen("a listener"), empty], REALM)
    assert found(store, "listener", layer="observations") == []


def test_an_observation_that_the_file_alters_is_not_captured(store: EmbeddedStore) -> None:
    connection = sqlite3.connect(store.home / "memory.db")
    connection.execute(
        "CREATE TRIGGER lossy AFTER INSERT ON observation BEGIN UPDATE observation SET content = trim(content); END"
    )
    connection.close()
    with pytest.raises(MemorySystemError, match="cannot be found again"):
        store.capture([seen("a listener ")], REALM)


def test_an_observation_that_the_index_does_not_find_is_not_captured(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = MemoryFile.execute

    def lossy(memories: MemoryFile, sql: str, *arguments: object) -> list[Any]:
        return [] if sql.startswith("INSERT INTO observation_words") else execute(memories, sql, *arguments)

    monkeypatch.setattr(MemoryFile, "execute", lossy)
    with pytest.raises(MemorySystemError, match="cannot be found again"):
        store.capture([seen("a listener")], REALM)
    assert recalled(store, "listener") == []


def test_a_forgotten_observation_is_gone_and_its_neighbour_is_not(store: EmbeddedStore) -> None:
    gone, kept = store.capture([seen("a listener"), seen("another listener")], REALM)
    [remembered] = plant(store, "The listener is on port 1.")
    store.forget([gone, remembered])
    assert everywhere(store, "listener") == {kept}
    with pytest.raises(MemorySystemError, match=f"'{gone}'; nothing was forgotten"):
        store.forget([kept, gone])
    assert everywhere(store, "listener") == {kept}


def test_an_action_keeps_what_it_follows_from(store: EmbeddedStore) -> None:
    [cause] = plant(store, "Run make seed before the tests.")
    [sight] = store.capture([seen("make: no rule to make target seed")], REALM)
    first = store.act("make seed", [cause, sight], REALM)
    second = store.act("tell the team", [], REALM)
    assert store.actions(REALM) == [
        Action(id=first, title="make seed", memory_ids=(cause, sight)),
        Action(id=second, title="tell the team", memory_ids=()),
    ]
    assert store.actions(OTHER) == []


def test_an_action_follows_from_nothing_that_its_project_cannot_find(store: EmbeddedStore) -> None:
    [theirs] = plant(store, "Run make seed.", realm=OTHER)
    [everyones] = plant(store, "Run make.", realm="")
    with pytest.raises(MemorySystemError, match=f"has the id '{theirs}', 'nobody'; no action was recorded"):
        store.act("make seed", [theirs, "nobody", everyones], REALM)
    assert store.actions(REALM) == []


def test_no_search_of_a_project_returns_what_belongs_to_another(store: EmbeddedStore) -> None:
    [own] = plant(store, "The metrics listener is on port 1.")
    [theirs] = plant(store, "The metrics listener is on port 2.", realm=OTHER)
    [sight] = store.capture([seen("metrics listener: port 2")], OTHER)
    assert everywhere(store, "metrics listener port") == {own}
    assert everywhere(store, "metrics listener port", OTHER) == {theirs, sight}
    assert everywhere(store, "metrics listener port", "") == set()


def test_what_has_no_project_is_found_from_every_one_and_without_one(store: EmbeddedStore) -> None:
    [everyones] = plant(store, "The metrics listener is on port 1.", realm="")
    [sight] = store.capture([seen("metrics listener: port 1")], "")
    [own] = plant(store, "The metrics listener is up.")
    for layer in OWN_LAYERS:
        assert set(found(store, "metrics listener", REALM, layer)) == {everyones, own}
        assert found(store, "metrics listener", "", layer) == found(store, "metrics listener", OTHER, layer)
        assert found(store, "metrics listener", "", layer) == [everyones]
    assert found(store, "metrics listener", REALM, "observations") == [sight]
    assert found(store, "metrics listener", REALM, "xr") == []
    assert found(store, "metrics listener", "", "xr") == [own]


def test_one_memory_is_found_among_360_observations_and_memories_of_another_project(store: EmbeddedStore) -> None:
    plant(store, *[f"The metrics listener is on port {n}." for n in range(60)], realm=OTHER)
    store.capture([seen(f"metrics listener port {n}", f"o{n}") for n in range(360)], REALM)
    [saved] = plant(store, LONG)
    for layer in (None, *OWN_LAYERS):
        assert [hit.id for hit in store.search("metrics listener port", REALM, 1, layer)] == [saved]
    assert recalled(store, "metrics listener port", layer="memories") == [saved]
    mixed = store.recall("metrics listener port", REALM, "full", 1000)
    assert saved not in [hit.id for hit in mixed.hits]
    assert len(mixed.hits) + (mixed.cut or 0) == 361


@pytest.mark.parametrize("form", ["full", "compact", "narrative"])
def test_a_recall_keeps_within_its_budget_and_says_what_was_cut(store: EmbeddedStore, form: RecallForm) -> None:
    plant(store, *[f"The listener of host {n} is on port {n}." for n in range(9)], LONG)
    for budget in (0, 1, 20, 100, 250, 10_000):
        given = store.recall("listener port", REALM, form, budget)
        assert tokens(given.text) <= budget
        assert len(given.hits) + (given.cut or 0) == 10
        assert all(hit.content in given.text for hit in given.hits)
    assert given.cut == 0
    assert [hit.content for hit in given.hits if hit.content.startswith(LONG[:80])] == [
        LONG if form != "compact" else LONG[:80] + "…"
    ]


@pytest.mark.parametrize("layer", [None, "memories", "kw"])
def test_a_recall_within_an_ample_budget_discloses_all_that_matches(store: EmbeddedStore, layer: str | None) -> None:
    assert set(plant(store, *[f"Listener {n}." for n in range(50)])) == set(recalled(store, "listener", layer=layer))


def test_what_does_not_fit_is_left_out_and_what_is_smaller_still_comes(store: EmbeddedStore) -> None:
    long, short = plant(store, LONG * 2, "A listener answers.")
    assert recalled(store, "metrics listener port host", layer="kw") == [long, short]
    given = store.recall("metrics listener port host", REALM, "full", 30, "kw")
    assert ([hit.id for hit in given.hits], given.cut) == ([short], 1)


def test_no_match_is_told_apart_from_what_the_budget_left_out(store: EmbeddedStore) -> None:
    plant(store, LONG)
    assert store.recall("ferry", REALM, "full", 1000) == ((), "", 0)
    assert store.recall("listener", REALM, "full", 1) == ((), "", 1)


def test_a_narrative_is_one_text_without_ids_that_says_how_many_it_leaves_out(store: EmbeddedStore) -> None:
    plant(store, "A listener answers.", LONG)
    assert store.recall("listener answers", REALM, "narrative", 31, "kw").text == (
        "What is remembered of this, best first:\n- A listener answers.\n(1 more matched and was left out.)"
    )


def test_a_token_is_four_characters_rounded_up() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]


def test_a_form_or_layer_that_there_is_not_is_an_error_that_names_those_there_are(store: EmbeddedStore) -> None:
    with pytest.raises(MemorySystemError, match="'short' is not one of full, compact, narrative"):
        store.recall("port", REALM, "short", 10)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(MemorySystemError, match="its layers are memories, observations, kw"):
        store.recall("port", REALM, "full", 10, "bm25")


def test_all_of_it_survives_a_restart(store: EmbeddedStore) -> None:
    stale, updated, gone = plant(store, "The listener is on port 1.", "The weir is old.", "The listener is grey.")
    [sight] = store.capture([seen("listener: ready")], REALM)
    new = store.correct(stale, memory("The listener is on port 2."), REALM)
    store.update(updated, "The listener is old.")
    store.forget([gone])
    action = store.act("listen", [new], REALM)
    store.restart()
    assert everywhere(store, "listener") == {updated, new, sight}
    assert [deed.id for deed in store.actions(REALM)] == [action]


def test_concurrent_writers_of_every_kind_lose_nothing(store: EmbeddedStore) -> None:
    given: list[str] = []

    def work(number: int) -> None:
        for turn in range(5):
            [old] = plant(store, f"Listener {number} has port {turn}.")
            new = store.correct(old, memory(f"Listener {number} has no port {turn}."), REALM)
            given.extend([new, *store.capture([seen(f"listener {number}: {turn}")], REALM)])
            store.update(new, f"Listener {number} had port {turn}.")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == 80
    assert set(recalled(store, "listener")) == set(given)


def test_a_file_of_the_schema_before_gets_the_new_tables_and_keeps_what_it_holds(tmp_path: Path) -> None:
    home = str(tmp_path)
    memories = MemoryFile.open(home)
    [kept] = memories.remember([Draft("The gate is red.", "wisdom", "m1")], REALM)
    memories.close()
    connection = sqlite3.connect(tmp_path / "memory.db")
    connection.executescript(
        "DROP TABLE observation; DROP TABLE observation_words; DROP TABLE action; PRAGMA user_version = 1"
    )
    connection.close()
    MemoryFile.open(home, create=False).close()
    (tmp_path / "embedded").symlink_to(tmp_path)
    store = EmbeddedMemory().open(tmp_path)
    assert found(store, "gate") == [kept]
    assert len(store.capture([seen("a gate")], REALM)) == 1
    store.close()


def test_the_hook_imports_nothing_of_it() -> None:
    code = """
import sys, smriti.memory.embedded.cli
ours = [f"smriti.memory.embedded.{name}" for name in ("journal", "finding", "verbs", "serve")]
others = ["pydantic", "starlette", "mcp", "anyio", "argparse", "pathlib", "secrets"]
print([name for name in ours + others if name in sys.modules])
"""
    assert subprocess.check_output([sys.executable, "-I", "-c", code], text=True) == "[]\n"
