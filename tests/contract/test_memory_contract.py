"""What every memory system promises, run over each of them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import bm25, embedded, file, grep, hybrid, off, openai_vector, vector
from smriti.memory._embedding import EmbeddingStore, unit
from smriti.protocols import MemorySystem, Store
from smriti.types import Condition, Memory


class Case(NamedTuple):
    """A system, and what it does not claim to do."""

    name: str
    create: Callable[[str | None], MemorySystem]
    recalls: bool = True
    """False for a system from which nothing ever comes back."""
    layer: str | None = None
    """The layer to search where other realms must stay out; None where the whole search keeps to the realm."""
    keeps: bool = True
    """False for a system whose memories end with their store."""
    ranks_all: bool = False
    """True for a system that ranks every memory of the realm, also what has nothing of the query."""


class HashedWords:
    """An embedder without a model: each word counts in a place of its own, more or less."""

    def documents(self, texts: Sequence[str]) -> list[Any]:
        return [unit([self._counts(text)]) for text in texts]

    def query(self, text: str) -> Any:
        return self.documents([text])[0][0]

    def close(self) -> None:
        pass

    def _counts(self, text: str) -> list[float]:
        counts = [0.1, *([0.0] * 509)]
        for word in re.findall(r"\w+", text.lower()):
            counts[1 + zlib.crc32(word.encode()) % 509] += 1
        return counts


class OfflineOpenAIVector(openai_vector.OpenAIVectorMemory):
    """The system and its store without its service, which tests/memory/test_openai_vector.py plays."""

    def open(self, workspace: Path, replica: Path | None = None) -> EmbeddingStore:
        del workspace, replica
        return EmbeddingStore(self.name, HashedWords())


def offline_openai_vector(argument: str | None) -> OfflineOpenAIVector:
    assert argument is None
    return OfflineOpenAIVector(openai_vector.Service(openai_vector.MODEL, openai_vector.BASE_URL, "key"))


CASES = [
    Case("bm25", bm25.create, keeps=False, ranks_all=True),
    Case("embedded", embedded.create, layer="kw"),
    Case("file", file.create, keeps=False),
    Case("grep", grep.create, keeps=False),
    Case("hybrid", hybrid.create, keeps=False, ranks_all=True),
    Case("off", off.create, recalls=False, keeps=False),
    Case("openai-vector", offline_openai_vector, keeps=False, ranks_all=True),
    Case("vector", vector.create, keeps=False, ranks_all=True),
]

REALM = "project:smriti-contract-on-t1"
WINDOW = (0, 2**53)


@dataclass(frozen=True)
class Opened:
    case: Case
    system: MemorySystem
    store: Store
    workspace: Path

    def found(self, query: str, realm: str = REALM, k: int = 10) -> list[str]:
        """The ids that the store returns; the test ends here for a system that recalls nothing."""
        ids = [hit.id for hit in self.store.search(query, realm, k, self.case.layer)]
        if not self.case.recalls:
            assert ids == []
            pytest.skip("nothing comes back from this system")
        return ids


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    case: Case = request.param
    try:
        system = case.create(None)
    except UsageError as error:
        if "is not installed" not in str(error):
            raise
        pytest.skip(str(error))
    store = system.open(tmp_path)
    yield Opened(case, system, store, tmp_path)
    store.close()


def memory(content: str, source_id: str = "m1") -> Memory:
    return Memory(content=content, type="wisdom", role="distractor", source_id=source_id)


def test_what_was_remembered_is_found_with_its_text_and_source(opened: Opened) -> None:
    [memory_id] = opened.store.remember([memory("Exports write 640 lots by default.", "m7")], REALM)
    assert opened.found("How many lots do exports write?") == [memory_id]
    [hit] = opened.store.search("How many lots do exports write?", REALM, 10)
    assert (hit.content, hit.source_ids) == ("Exports write 640 lots by default.", ("m7",))


def test_every_memory_gets_an_id_of_its_own_in_the_order_given(opened: Opened) -> None:
    animals = ["heron", "otter", "newt", "heron"]
    ids = opened.store.remember([memory(f"We saw a {animal}.", f"m{n}") for n, animal in enumerate(animals)], REALM)
    assert len(set(ids)) == len(animals)
    for animal in ("otter", "newt"):
        assert opened.found(animal)[0] == ids[animals.index(animal)]


def test_an_id_is_given_once_over_all_calls_and_realms_also_after_it_was_forgotten(opened: Opened) -> None:
    given = opened.store.remember([memory("We saw a heron."), memory("We saw a newt.", "m2")], REALM)
    opened.store.forget(given[:1])
    given += opened.store.remember([memory("We saw a heron.")], REALM)
    given += opened.store.remember([memory("We saw a heron.")], f"{REALM}0")
    assert len(set(given)) == len(given) == 4


def test_remembering_nothing_gives_no_ids(opened: Opened) -> None:
    assert opened.store.remember([], REALM) == []


def test_at_most_k_hits_come_back_best_first(opened: Opened) -> None:
    opened.store.remember([memory(f"Rule {n} of the harbour.", f"m{n}") for n in range(5)], REALM)
    hits = opened.store.search("harbour rule", REALM, 3)
    assert len(hits) == (3 if opened.case.recalls else 0)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_query_that_matches_nothing_finds_nothing(opened: Opened) -> None:
    if opened.case.ranks_all:
        pytest.skip("this system ranks whatever there is")
    opened.store.remember([memory("Exports write 640 lots by default.")], REALM)
    assert opened.found("zzyzx") == []


def test_a_realm_shows_nothing_of_another(opened: Opened) -> None:
    [mine] = opened.store.remember([memory("The gate closes at nine.")], REALM)
    [theirs] = opened.store.remember([memory("The gate closes at ten.")], f"{REALM}0")
    assert opened.found("When does the gate close?") == [mine]
    assert opened.found("When does the gate close?", f"{REALM}0") == [theirs]


@pytest.mark.parametrize("realm", ["no-colon", "project:with blank", "π:ß", "a:b:c", "%", "project:self"])
def test_a_realm_is_taken_verbatim(opened: Opened, realm: str) -> None:
    [memory_id] = opened.store.remember([memory("The gate closes at nine.")], realm)
    assert opened.found("gate", realm.upper() + "?") == []
    assert opened.found("gate", realm) == [memory_id]


def test_forget_removes_exactly_the_ids_given(opened: Opened) -> None:
    ids = opened.store.remember([memory(f"Rule {n} of the harbour.", f"m{n}") for n in range(4)], REALM)
    opened.store.forget([ids[1], ids[2]])
    assert set(opened.found("harbour rule")) == {ids[0], ids[3]}


def test_forgetting_an_unknown_id_is_an_error_that_names_it(opened: Opened) -> None:
    [memory_id] = opened.store.remember([memory("The gate closes at nine.")], REALM)
    opened.store.forget([memory_id])
    with pytest.raises(MemorySystemError, match=memory_id):
        opened.store.forget([memory_id])


def test_a_restart_keeps_what_was_remembered_and_what_was_forgotten(opened: Opened) -> None:
    kept, gone = opened.store.remember([memory("The gate closes at nine."), memory("The gate is red.")], REALM)
    opened.store.forget([gone])
    opened.store.restart()
    assert opened.found("gate") == [kept]


def test_what_was_remembered_is_there_when_the_workspace_is_opened_again(opened: Opened) -> None:
    if not opened.case.keeps:
        pytest.skip("memories of this system end with their store")
    [memory_id] = opened.store.remember([memory("The gate closes at nine.")], REALM)
    opened.store.close()
    again = opened.system.open(opened.workspace)
    assert [hit.id for hit in again.search("gate", REALM, 10)] == [memory_id]
    again.close()


def test_closing_twice_is_closing_once(opened: Opened) -> None:
    opened.store.close()
    opened.store.close()


def test_under_off_nothing_is_attached_that_could_carry_memory(opened: Opened) -> None:
    opened.store.remember([memory("The gate closes at nine.")], REALM)
    attachment = opened.store.attach(REALM, Condition.parse("off"))
    assert (attachment.hooks, attachment.prefix) == ((), "")
    assert (dict(attachment.files), dict(attachment.mcp_servers)) == ({}, {})


def test_a_session_that_never_ran_was_given_nothing(opened: Opened) -> None:
    opened.store.remember([memory("The gate closes at nine.")], REALM)
    assert not opened.store.injected("no-such-session", WINDOW)


@pytest.mark.parametrize(
    "content",
    [
        "Überall: “ß”, naïve, e\u0301, 数据库 использует PostgreSQL, स्मृति 🦦",
        "  leading, trailing and\r\n\ttabs \n\n",
        'quote " star * paren ( AND OR NOT NEAR -x ^y col:z \0 nul',
        "gate " + "x" * 4_990 + " gate " + "y" * 4_994 + " gate",
    ],
    ids=["unicode", "white space", "query syntax", "10,000 characters"],
)
def test_content_comes_back_whole(opened: Opened, content: str) -> None:
    [memory_id] = opened.store.remember([memory(content)], REALM)
    assert opened.found(content) == [memory_id]
    assert opened.store.search(content, REALM, 1)[0].content == content


def test_an_identity_carries_the_systems_name_and_version(opened: Opened) -> None:
    identity = opened.system.identity()
    assert (identity.name, identity.version) == (opened.case.name, opened.system.version)
    assert identity.version
