"""The memory file of the embedded memory."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.errors import MemorySystemError
from smriti.memory.embedded.lanes import Question, recall
from smriti.memory.embedded.store import Draft, MemoryFile, home_of, realm_of

REALM = "project:gatehouse"


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


@pytest.fixture
def memories(home: str) -> Iterator[MemoryFile]:
    opened = MemoryFile.open(home)
    yield opened
    opened.close()


def drafts(*contents: str) -> list[Draft]:
    return [Draft(content, "wisdom", f"m{number}") for number, content in enumerate(contents)]


def rows(home: str, sql: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(Path(home) / "memory.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def recalled(memories: MemoryFile, query: str, realm: str = REALM) -> list[str]:
    return [hit.memory.id for hit in recall(Question(memories, query, realm, 10))]


def test_ids_cannot_be_guessed(memories: MemoryFile) -> None:
    ids = memories.remember(drafts("The gate is red.", "The gate is red."), REALM)
    assert all(len(memory_id) == 32 and int(memory_id, 16) >= 0 for memory_id in ids)
    assert ids[0][:8] != ids[1][:8]


def test_a_memory_is_listed_as_it_was_handed_in(memories: MemoryFile) -> None:
    [memory_id] = memories.remember([Draft(" The gate\n", "belief", "m7")], "no colon")
    [listed] = memories.listing("no colon", superseded=False)
    assert listed.created_ms > 1_700_000_000_000
    expected = (memory_id, "no colon", "belief", " The gate\n", "m7")
    assert (listed.id, listed.realm, listed.type, listed.content, listed.source_id) == expected


def test_a_batch_is_remembered_whole_or_not_at_all(memories: MemoryFile, home: str) -> None:
    with pytest.raises(MemorySystemError, match="'lore' is not one of"):
        memories.remember([Draft("The gate is red.", "wisdom", "m1"), Draft("The gate is old.", "lore", "m2")], REALM)
    assert memories.listing(REALM, superseded=True) == []
    assert rows(home, "SELECT * FROM memory_words") == rows(home, "SELECT * FROM memory_vector") == []


def test_an_empty_memory_is_refused(memories: MemoryFile) -> None:
    with pytest.raises(MemorySystemError, match="source 'm0' is empty"):
        memories.remember(drafts(""), REALM)


def test_a_text_that_cannot_be_written_is_an_error_of_the_memory_system(memories: MemoryFile) -> None:
    with pytest.raises(MemorySystemError, match="surrogates"):
        memories.remember(drafts("The gate \ud800"), REALM)


def test_a_memory_that_the_index_does_not_find_is_not_remembered(memories: MemoryFile, home: str) -> None:
    connection = sqlite3.connect(Path(home) / "memory.db")
    connection.executescript(
        "CREATE TRIGGER lossy AFTER INSERT ON memory_vector BEGIN DELETE FROM memory_words WHERE rowid = NEW.seq; END"
    )
    connection.close()
    with pytest.raises(MemorySystemError, match="cannot be found again"):
        memories.remember(drafts("The gate is red."), REALM)
    assert memories.listing(REALM, superseded=True) == []


def test_a_memory_that_the_file_alters_is_not_remembered(memories: MemoryFile, home: str) -> None:
    connection = sqlite3.connect(Path(home) / "memory.db")
    connection.executescript(
        "CREATE TRIGGER lossy AFTER INSERT ON memory BEGIN UPDATE memory SET content = trim(content); END"
    )
    connection.close()
    with pytest.raises(MemorySystemError, match="cannot be found again"):
        memories.remember(drafts("The gate is red. "), REALM)


def test_a_correction_that_supersedes_hides_what_it_replaces_and_keeps_it_listed(memories: MemoryFile) -> None:
    stale, other = memories.remember(drafts("The gate closes at nine.", "The gate is red."), REALM)
    [correction] = memories.remember([Draft("The gate closes at ten.", "correction", "c")], REALM, [stale])
    assert recalled(memories, "gate closes") == [correction, other]
    assert [memory.id for memory in memories.listing(REALM, superseded=False)] == [other, correction]
    listed = {memory.id: memory.superseded_by for memory in memories.listing(REALM, superseded=True)}
    assert listed == {stale: correction, other: None, correction: None}


def test_a_correction_that_names_nothing_supersedes_nothing(memories: MemoryFile) -> None:
    [stale] = memories.remember(drafts("The gate closes at nine."), REALM)
    [correction] = memories.remember([Draft("Correction: the gate closes at ten.", "correction", "c")], REALM)
    assert set(recalled(memories, "gate closes")) == {stale, correction}


@pytest.mark.parametrize("realm", [REALM, "project:other"])
def test_only_what_the_realm_holds_can_be_superseded(memories: MemoryFile, realm: str) -> None:
    [theirs] = memories.remember(drafts("The gate closes at nine."), "project:theirs")
    named = theirs if realm != REALM else "unknown"
    with pytest.raises(MemorySystemError, match=f"no memory '{named}' to supersede"):
        memories.remember([Draft("The gate closes at ten.", "correction", "c")], realm, [named])
    assert memories.listing(realm, superseded=True) == []
    assert recalled(memories, "gate closes", "project:theirs") == [theirs]


def test_only_a_correction_supersedes(memories: MemoryFile) -> None:
    [stale] = memories.remember(drafts("The gate closes at nine."), REALM)
    with pytest.raises(MemorySystemError, match="only a memory of type correction"):
        memories.remember(drafts("The gate closes at ten."), REALM, [stale])


def test_what_a_forgotten_correction_superseded_is_current_again(memories: MemoryFile) -> None:
    [stale] = memories.remember(drafts("The gate closes at nine."), REALM)
    [correction] = memories.remember([Draft("The gate closes at ten.", "correction", "c")], REALM, [stale])
    memories.forget([correction])
    assert recalled(memories, "gate closes") == [stale]


def test_a_forgotten_memory_is_gone_from_table_index_and_vectors(memories: MemoryFile, home: str) -> None:
    kept, gone = memories.remember(drafts("The gate is red.", "The heron is grey."), REALM)
    memories.forget([gone])
    assert rows(home, "SELECT id FROM memory") == [(kept,)]
    assert rows(home, "SELECT rowid FROM memory_words WHERE memory_words MATCH 'heron'") == []
    assert len(rows(home, "SELECT * FROM memory_words")) == len(rows(home, "SELECT * FROM memory_vector")) == 1


def test_forgetting_one_unknown_id_forgets_nothing(memories: MemoryFile) -> None:
    [kept] = memories.remember(drafts("The gate is red."), REALM)
    with pytest.raises(MemorySystemError, match="'nobody'"):
        memories.forget([kept, "nobody"])
    assert recalled(memories, "gate") == [kept]


def test_what_stays_in_the_index_is_not_forgotten(memories: MemoryFile, home: str) -> None:
    [memory_id] = memories.remember(drafts("The gate is red."), REALM)
    connection = sqlite3.connect(Path(home) / "memory.db")
    connection.executescript(
        "CREATE TRIGGER sticky AFTER DELETE ON memory_vector BEGIN INSERT INTO memory_vector VALUES (OLD.seq, 'x'); END"
    )
    connection.close()
    with pytest.raises(MemorySystemError, match=f"still there after being forgotten: {memory_id}"):
        memories.forget([memory_id])
    assert recalled(memories, "gate") == [memory_id]


@given(content=st.text(min_size=1), query=st.text(alphabet=st.characters(exclude_categories=[])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_text_breaks_a_query_and_every_content_survives_whole(
    memories: MemoryFile, content: str, query: str
) -> None:
    [memory_id] = memories.remember(drafts(content), REALM)
    recalled(memories, query)
    assert recalled(memories, content) == [memory_id]
    assert [memory.content for memory in memories.listing(REALM, superseded=False)] == [content]
    memories.forget([memory_id])
    assert recalled(memories, content) == []


def test_a_file_written_by_one_process_is_read_by_another_at_once(memories: MemoryFile, home: str) -> None:
    reader = MemoryFile.open(home, create=False, timeout_s=0.1)
    writer = sqlite3.connect(Path(home) / "memory.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert recalled(reader, "gate") == []
    writer.execute("COMMIT")
    [memory_id] = memories.remember(drafts("The gate is red."), REALM)
    assert recalled(reader, "gate") == [memory_id]
    writer.close()
    reader.close()


def test_a_snapshot_is_of_one_moment(memories: MemoryFile, home: str) -> None:
    reader = MemoryFile.open(home)
    with reader.snapshot():
        assert reader.extent(REALM).memories == 0
        memories.remember(drafts("The gate is red."), REALM)
        assert reader.extent(REALM).memories == 0
    assert reader.extent(REALM).memories == 1
    reader.close()


def test_a_locked_file_is_an_error_after_the_time_given(memories: MemoryFile, home: str) -> None:
    memories.close()
    writer = sqlite3.connect(Path(home) / "memory.db", isolation_level=None)
    writer.execute("PRAGMA locking_mode = EXCLUSIVE")
    writer.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    with pytest.raises(MemorySystemError, match="locked"):
        MemoryFile.open(home, create=False, timeout_s=0.05)
    assert time.monotonic() - started < 3
    writer.close()


def test_threads_can_use_one_file_in_turn(memories: MemoryFile) -> None:
    ids: list[str] = []
    thread = threading.Thread(target=lambda: ids.extend(memories.remember(drafts("The gate is red."), REALM)))
    thread.start()
    thread.join()
    assert recalled(memories, "gate") == ids != []


def test_a_missing_file_is_made_only_where_that_is_asked_for(home: str) -> None:
    with pytest.raises(MemorySystemError, match="there is no memory file"):
        MemoryFile.open(home, create=False)
    assert not Path(home).exists()


@pytest.mark.parametrize("found", ["something else", "a later schema"])
def test_a_file_of_another_kind_is_an_error_that_names_it(tmp_path: Path, found: str) -> None:
    path = tmp_path / "memory.db"
    if found == "a later schema":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        path.write_text("This is no database, whatever its name says. " * 100)
    with pytest.raises(MemorySystemError, match=r"memory\.db"):
        MemoryFile.open(str(tmp_path))


def test_a_closed_file_is_an_error_of_the_memory_system(memories: MemoryFile) -> None:
    memories.close()
    memories.close()
    with pytest.raises(MemorySystemError, match="closed"):
        memories.listing(REALM, superseded=True)


def test_the_home_is_the_one_named_or_lies_where_data_is_kept() -> None:
    assert home_of({"SMRITI_MEM_HOME": "/h", "XDG_DATA_HOME": "/x"}) == "/h"
    assert home_of({"XDG_DATA_HOME": "/x"}) == "/x/smriti-mem"
    assert home_of({}) == str(Path("~/.local/share/smriti-mem").expanduser())


def test_the_realm_is_the_one_named_or_the_folders() -> None:
    assert realm_of({"SMRITI_MEM_REALM": "as it is"}, "/work/gatehouse") == "as it is"
    assert realm_of({}, "/work/gatehouse/") == "project:gatehouse"
