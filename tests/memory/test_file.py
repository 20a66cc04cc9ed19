"""The `file` memory: lines of AGENTS.md and CLAUDE.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import file
from smriti.memory.file import FileStore
from smriti.types import Attachment, Condition, Memory

REALM, OTHER = "project:gatehouse", "project:boathouse"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return file.create(None).open(tmp_path)


def memories(*contents: str) -> list[Memory]:
    return [
        Memory(content=content, type="wisdom", role="convention", source_id=f"m{number}")
        for number, content in enumerate(contents)
    ]


def found(store: FileStore, query: str, realm: str = REALM, k: int = 10) -> list[str]:
    return [hit.content for hit in store.search(query, realm, k)]


def attached(store: FileStore, realm: str = REALM, condition: str = "on") -> Attachment:
    return store.attach(realm, Condition.parse(condition))


def listed(store: FileStore, realm: str = REALM) -> list[str]:
    """The lines of the list that an agent would read."""
    text = attached(store, realm).files.get("AGENTS.md", "")
    return [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]


# The files


def test_both_context_files_get_the_same_list_below_a_heading(store: FileStore) -> None:
    store.remember(memories("The gate is red.", "The quay is long."), REALM)
    text = "\n## Notes from earlier work on this project\n\n- The gate is red.\n- The quay is long.\n"
    assert dict(attached(store).files) == {"AGENTS.md": text, "CLAUDE.md": text}


def test_the_newest_line_is_the_last_whatever_was_remembered_in_between(store: FileStore) -> None:
    store.remember(memories("Beta.", "Alpha."), REALM)
    store.remember(memories("Elsewhere."), OTHER)
    store.remember(memories("Aardvark."), REALM)
    assert listed(store) == ["Beta.", "Alpha.", "Aardvark."]


def test_the_files_hold_nothing_of_another_realm(store: FileStore) -> None:
    store.remember(memories("The gate is red."), REALM)
    store.remember(memories("The gate is blue."), OTHER)
    assert listed(store) == ["The gate is red."]
    assert listed(store, OTHER) == ["The gate is blue."]
    assert attached(store, f"{REALM}0") == Attachment()


@pytest.mark.parametrize("condition", ["on", "file"])
def test_the_files_are_all_that_an_agent_gets(store: FileStore, condition: str) -> None:
    store.remember(memories("The gate is red."), REALM)
    attachment = attached(store, condition=condition)
    assert list(attachment.files) == ["AGENTS.md", "CLAUDE.md"]
    assert attachment == Attachment(files=attachment.files)


@pytest.mark.parametrize("condition", ["off", "handed", "placebo", "ablate:all", "ablate:kw"])
def test_under_any_other_condition_nothing_is_attached(store: FileStore, condition: str) -> None:
    store.remember(memories("The gate is red."), REALM)
    assert attached(store, condition=condition) == Attachment()


def test_without_a_line_no_file_is_touched(store: FileStore) -> None:
    assert attached(store) == Attachment()
    store.forget(store.remember(memories("The gate is red."), REALM))
    assert attached(store) == Attachment()


# Ids


def test_an_id_is_never_given_twice_not_even_after_it_was_forgotten(store: FileStore) -> None:
    first = store.remember(memories("One.", "Two."), REALM)
    store.forget(first)
    given = [*first, *store.remember(memories("One."), REALM), *store.remember(memories("One.", "Two."), OTHER)]
    assert len(given) == len(set(given)) == 5


def test_ids_stand_in_the_order_of_the_memories(store: FileStore) -> None:
    ids = store.remember(memories("One.", "Two.", "Three."), REALM)
    [second] = store.search("two", REALM, 10)
    assert (second.id, second.source_ids) == (ids[1], ("m1",))


def test_forget_removes_exactly_the_ids_given_from_the_files_and_the_search(store: FileStore) -> None:
    ids = store.remember(memories("Gate one.", "Gate two.", "Gate three.", "Gate four."), REALM)
    [theirs] = store.remember(memories("Gate five."), OTHER)
    store.forget([ids[2], theirs, ids[0]])
    assert listed(store) == found(store, "gate") == ["Gate two.", "Gate four."]
    assert listed(store, OTHER) == found(store, "gate", OTHER) == []


def test_an_id_named_twice_is_forgotten_once(store: FileStore) -> None:
    [gone, _] = store.remember(memories("Gate one.", "Gate two."), REALM)
    store.forget([gone, gone])
    assert listed(store) == ["Gate two."]


def test_with_an_unknown_id_among_them_none_is_forgotten(store: FileStore) -> None:
    [known] = store.remember(memories("The gate is red."), REALM)
    with pytest.raises(MemorySystemError, match="no memory has the id 'line-9'; nothing was forgotten"):
        store.forget([known, "line-9"])
    assert listed(store) == ["The gate is red."]


# Search


def test_a_search_finds_what_shares_a_word_whatever_its_case_and_nothing_else(store: FileStore) -> None:
    store.remember(memories("The GATE is red.", "A gatehouse.", "The quay."), REALM)
    assert found(store, "Which gate?") == ["The GATE is red."]
    assert found(store, "boat") == []
    assert found(store, "") == []


def test_a_search_finds_nothing_of_another_realm(store: FileStore) -> None:
    store.remember(memories("The gate is red."), REALM)
    store.remember(memories("The gate is blue."), OTHER)
    assert found(store, "gate") == ["The gate is red."]
    assert found(store, "gate", OTHER) == ["The gate is blue."]
    assert found(store, "gate", f"{REALM}0") == []


@pytest.mark.parametrize("others", [0, 20])
def test_a_line_with_both_words_of_the_query_is_the_first_in_a_short_list_and_in_a_long_one(
    store: FileStore, others: int
) -> None:
    store.remember(memories(*(f"Note {number} of the harbour." for number in range(others))), REALM)
    store.remember(memories("The quay is red.", "The gate is blue.", "The gate is red."), REALM)
    assert found(store, "red gate") == ["The gate is red.", "The quay is red.", "The gate is blue."]


def test_a_rarer_word_of_the_realm_weighs_more(store: FileStore) -> None:
    store.remember(memories("A red gate.", "A red quay.", "A red boat.", "A blue gate."), REALM)
    assert found(store, "red blue")[0] == "A blue gate."


def test_what_is_in_another_realm_does_not_change_a_score(store: FileStore) -> None:
    store.remember(memories("A red gate.", "A blue gate."), REALM)
    before = store.search("red gate", REALM, 10)
    store.remember(memories("A red quay.", "A red boat.", "A red gull."), OTHER)
    assert store.search("red gate", REALM, 10) == before


def test_scores_are_above_0_and_fall_and_the_older_of_equals_comes_first(store: FileStore) -> None:
    store.remember(memories("A red gate.", "A blue gate.", "A red quay.", "A red gate."), REALM)
    hits = store.search("red gate", REALM, 10)
    assert [hit.id for hit in hits] == ["line-0", "line-3", "line-1", "line-2"]
    first, second, third, fourth = [hit.score for hit in hits]
    assert first == second > third == fourth > 0


def test_at_most_k_hits_come_back_and_they_are_the_best(store: FileStore) -> None:
    store.remember(memories("A blue gate.", "A green gate.", "A red gate."), REALM)
    assert found(store, "red gate", k=2) == ["A red gate.", "A blue gate."]


def test_a_line_without_a_word_is_kept_and_not_found(store: FileStore) -> None:
    store.remember(memories("!?", "…"), REALM)
    assert found(store, "!? …") == []
    assert listed(store) == ["!?", "…"]


def test_a_layer_is_refused(store: FileStore) -> None:
    store.remember(memories("The gate is red."), REALM)
    with pytest.raises(MemorySystemError, match="file: has no layer 'kw'"):
        store.search("gate", REALM, 10, "kw")


# The rest


def test_it_cannot_tell_what_reached_an_agent(store: FileStore) -> None:
    store.remember(memories("The gate is red."), REALM)
    attached(store)
    # The type says that it is None; what is asked here is that it is not a list that could read as "nothing".
    assert store.injected("session", (0, 2**53)) is None  # type: ignore[func-returns-value]


def test_a_restart_keeps_the_lines_and_a_close_ends_them(store: FileStore) -> None:
    store.remember(memories("The gate is red."), REALM)
    store.restart()
    assert listed(store) == ["The gate is red."]
    store.close()
    assert listed(store) == []


def test_two_stores_of_one_system_share_nothing(tmp_path: Path) -> None:
    system = file.create(None)
    one, two = system.open(tmp_path), system.open(tmp_path)
    one.remember(memories("The gate is red."), REALM)
    assert listed(two) == []
    assert list(tmp_path.iterdir()) == [], "it writes no file itself"


def test_a_replica_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MemorySystemError, match="no stored form to replicate"):
        file.create(None).open(tmp_path, tmp_path / "replica")


def test_an_argument_is_refused() -> None:
    with pytest.raises(UsageError, match="'file' takes no argument, found 'x'"):
        file.create("x")


def test_the_identity_names_the_files_and_the_ranking() -> None:
    identity = file.create(None).identity()
    assert (identity.name, identity.version) == ("file", "1")
    assert identity.detail["files"] == ["AGENTS.md", "CLAUDE.md"]
    assert str(identity.detail["search"]).startswith("BM25Plus of rank-bm25 ")
