"""The memories on disk: one SQLite file with the memories, the words they are found by (FTS5) and their vectors.

The realm "" is no project: what is in it is found from every realm. Observations and actions are in the same file, and
in journal.py.
"""

# ruff: noqa: PTH100, PTH103, PTH111, PTH113, PTH118, PTH119, S608
# PTH: pathlib costs 10 ms, which every prompt would pay. S608: what is put into SQL are this module's own constants.

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from smriti.errors import MemorySystemError
from smriti.memory.embedded.vector import pack, vectorise
from smriti.memory.embedded.words import telling, words

FILE_NAME = "memory.db"
TYPES = ("wisdom", "belief", "episode", "correction")

_SCHEMA_VERSION = 2
_MEMORY_SCHEMA = """
CREATE TABLE memory (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    realm TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    source_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    superseded_by TEXT,
    word_count INTEGER NOT NULL
);
CREATE INDEX memory_realm ON memory (realm);
CREATE INDEX memory_superseded_by ON memory (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE VIRTUAL TABLE memory_words USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0);
CREATE TABLE memory_vector (seq INTEGER PRIMARY KEY, vector BLOB NOT NULL);
"""
_JOURNAL_SCHEMA = """
CREATE TABLE observation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    realm TEXT NOT NULL,
    session_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    content TEXT NOT NULL,
    source_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    word_count INTEGER NOT NULL
);
CREATE INDEX observation_realm ON observation (realm);
CREATE VIRTUAL TABLE observation_words USING fts5 (words, tokenize = 'ascii', detail = none, columnsize = 0);
CREATE TABLE action (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    realm TEXT NOT NULL,
    title TEXT NOT NULL,
    memory_ids TEXT NOT NULL,
    created_ms INTEGER NOT NULL
);
CREATE INDEX action_realm ON action (realm);
"""
_STEPS = (_MEMORY_SCHEMA, _JOURNAL_SCHEMA)
"""What leads from each version of the schema to the next, from 0 on."""
_COLUMNS = "seq, id, realm, type, content, source_id, created_ms, superseded_by"


class UnknownIdError(MemorySystemError):
    """Nothing has an id that was named."""


class Draft(NamedTuple):
    """A memory as it is handed in."""

    content: str
    type: str
    source_id: str


class Recorded(NamedTuple):
    """A memory as it stands in the store; a greater `seq` is newer."""

    seq: int
    id: str
    realm: str
    type: str
    content: str
    source_id: str
    created_ms: int
    superseded_by: str | None


class Matching(NamedTuple):
    """A current memory that holds a word of the query."""

    seq: int
    type: str
    words: list[str]


class Vectored(NamedTuple):
    """A current memory and its packed vector."""

    seq: int
    vector: bytes


class Extent(NamedTuple):
    """How much is current in a realm and in none, or in all other realms."""

    memories: int
    mean_words: float


class MemoryFile:
    """An open memory file. Every method raises MemorySystemError where the file does not let it keep its promise."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, home: str, *, create: bool = True, durable: bool = True, timeout_s: float = 5.0) -> Self:
        """Open the file in the directory `home`.

        With `create`, what is missing is made; without it, a missing file is a MemorySystemError. The file is in WAL
        mode, so that hooks read while it is written. `durable` survives a power cut (synchronous=NORMAL); without it
        the disk is never waited for, which suits a store that ends with its run: a crash of a process loses nothing
        either way. `timeout_s` is the wait for a lock.
        """
        path = os.path.join(home, FILE_NAME)
        if not create and not os.path.isfile(path):
            raise MemorySystemError(
                f"{path}: there is no memory file; expected one that `smriti-mem remember` or a run has made"
            )
        with _faults_of(path):
            os.makedirs(home, mode=0o700, exist_ok=True)
            connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        opened = cls(path, connection)
        try:
            opened._prepare(create=create, durable=durable)
        except BaseException:
            connection.close()
            raise
        return opened

    def remember(self, drafts: Sequence[Draft], realm: str, supersedes: Sequence[str] = ()) -> list[str]:
        """Store `drafts` in order, all or none, and return their ids, one each; each was looked up in the index before.

        `supersedes` names memories of the realm that the one draft, a correction, replaces: these are recalled no more.
        """
        with self.transaction():
            ids = [self._insert(draft, realm, new_id()) for draft in drafts]
            self._supersede(supersedes, drafts, ids, realm)
            for memory_id, draft in zip(ids, drafts, strict=True):
                self._check_searchable(memory_id, draft)
        return ids

    def update(self, memory_id: str, content: str) -> None:
        """Change what a memory says, under the same id; it is then the newest, and its old text is in no index."""
        with self.transaction():
            memory = self.find(memory_id)
            if memory is None:
                raise UnknownIdError(f"{self._path}: no memory has the id {memory_id!r}; nothing was updated")
            draft = Draft(content, memory.type, memory.source_id)
            self._delete(memory)
            self._insert(draft, memory.realm, memory_id)
            self.execute("UPDATE memory SET superseded_by = ? WHERE id = ?", memory.superseded_by, memory_id)
            self._check_searchable(memory_id, draft)

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, all or none, and look that each is gone; what they superseded is current again."""
        with self.transaction():
            found = {memory_id: self.find(memory_id) for memory_id in ids}
            missing = [memory_id for memory_id, memory in found.items() if memory is None]
            if missing:
                raise UnknownIdError(
                    f"{self._path}: no memory has the id {', '.join(map(repr, missing))}; nothing was forgotten"
                )
            gone = [memory for memory in found.values() if memory is not None]
            for memory in gone:
                self._delete(memory)
                self.execute("UPDATE memory SET superseded_by = NULL WHERE superseded_by = ?", memory.id)
            left = [memory.id for memory in gone if self._traces(memory) or self._indexed(memory)]
            if left:
                raise MemorySystemError(
                    f"{self._path}: still there after being forgotten: {', '.join(left)}; nothing was forgotten"
                )

    def find(self, memory_id: str) -> Recorded | None:
        """Return the memory that has an id, superseded or not."""
        rows = self.execute(f"SELECT {_COLUMNS} FROM memory WHERE id = ?", memory_id)
        return Recorded(*rows[0]) if rows else None

    def recorded(self, seqs: Sequence[int]) -> list[Recorded]:
        """Return the memories with these numbers, in their order; one that is gone by now is left out."""
        sql = f"SELECT {_COLUMNS} FROM memory WHERE seq IN (SELECT value FROM json_each(?))"
        by_seq = {row[0]: Recorded(*row) for row in self.execute(sql, json.dumps(list(seqs)))}
        return [by_seq[seq] for seq in seqs if seq in by_seq]

    def listing(self, realm: str, *, superseded: bool) -> list[Recorded]:
        """Return what `realm` holds, oldest first, with or without what is superseded."""
        current = "" if superseded else "AND superseded_by IS NULL"
        return [
            Recorded(*row)
            for row in self.execute(f"SELECT {_COLUMNS} FROM memory WHERE realm = ? {current} ORDER BY seq", realm)
        ]

    def matching(self, query_words: Sequence[str], realm: str, *, elsewhere: bool = False) -> list[Matching]:
        """Return what is current in `realm` or in none, or in all realms but these, and holds one of the words."""
        if not query_words:
            return []
        # CROSS JOIN makes SQLite ask the index once; else it may ask it again for each memory of the realm.
        rows = self.execute(
            "SELECT seq, type, words FROM memory_words CROSS JOIN memory ON seq = memory_words.rowid "
            f"WHERE memory_words MATCH ? AND superseded_by IS NULL AND realm {'NOT ' if elsewhere else ''}IN (?, '')",
            any_of(query_words),
            realm,
        )
        return [Matching(row[0], row[1], row[2].split(" ")) for row in rows]

    def vectors(self, realm: str, seqs: Sequence[int] | None = None) -> list[Vectored]:
        """Return the vectors of what is current in `realm` or in none, or of those of it that are in `seqs`."""
        sql = (
            "SELECT seq, vector FROM memory JOIN memory_vector USING (seq) "
            "WHERE realm IN (?, '') AND superseded_by IS NULL"
        )
        if seqs is None:
            return [Vectored(*row) for row in self.execute(sql, realm)]
        chosen = f"{sql} AND seq IN (SELECT value FROM json_each(?))"
        return [Vectored(*row) for row in self.execute(chosen, realm, json.dumps(list(seqs)))]

    def extent(self, realm: str, *, elsewhere: bool = False) -> Extent:
        """Count what is current in `realm` or in none, or in all realms but these; a mean of 0 where nothing is."""
        sql = (
            "SELECT count(*), coalesce(avg(word_count), 0) FROM memory "
            f"WHERE superseded_by IS NULL AND realm {'NOT ' if elsewhere else ''}IN (?, '')"
        )
        return Extent(*self.execute(sql, realm)[0])

    def execute(self, sql: str, *arguments: object) -> list[Any]:
        """Run one statement and return its rows."""
        with _faults_of(self._path):
            return self._connection.execute(sql, arguments).fetchall()

    @contextmanager
    def transaction(self, mode: str = "IMMEDIATE") -> Iterator[None]:
        """Within it, everything is written or nothing; one within another is a part of it."""
        if self._connection.in_transaction:
            yield
            return
        self.execute(f"BEGIN {mode}")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Within it, everything that is read is of one moment, whatever others write."""
        with self.transaction("DEFERRED"):
            yield

    def close(self) -> None:
        """Close the file; closing it twice does nothing more."""
        with _faults_of(self._path):
            self._connection.close()

    def _prepare(self, *, create: bool, durable: bool) -> None:
        self.execute(f"PRAGMA synchronous = {'NORMAL' if durable else 'OFF'}")
        if create and self._schema_version() == 0:
            self.execute("PRAGMA journal_mode = WAL")
        if (0 if create else 1) <= self._schema_version() < _SCHEMA_VERSION:
            with self.transaction():
                for step in _STEPS[self._schema_version() :]:
                    for statement in step.split(";\n"):
                        self.execute(statement)
                self.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        if (found := self._schema_version()) != _SCHEMA_VERSION:
            raise MemorySystemError(
                f"{self._path}: found a memory file of schema {found}, expected {_SCHEMA_VERSION}; "
                "another version of smriti has made it"
            )

    def _schema_version(self) -> int:
        version: int = self.execute("PRAGMA user_version")[0][0]
        return version

    def _insert(self, draft: Draft, realm: str, memory_id: str) -> str:
        if draft.type not in TYPES:
            raise MemorySystemError(f"memory type {draft.type!r} is not one of {', '.join(TYPES)}")
        found = words(draft.content)
        if not found:
            raise MemorySystemError(f"the memory of source {draft.source_id!r} is empty; expected a text")
        [(seq,)] = self.execute(
            "INSERT INTO memory (id, realm, type, content, source_id, created_ms, word_count) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
            memory_id,
            realm,
            draft.type,
            draft.content,
            draft.source_id,
            now_ms(),
            len(found),
        )
        self.execute("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", seq, " ".join(found))
        self.execute("INSERT INTO memory_vector (seq, vector) VALUES (?, ?)", seq, pack(vectorise(telling(found))))
        return memory_id

    def _delete(self, memory: Recorded) -> None:
        self.execute("DELETE FROM memory_words WHERE rowid = ?", memory.seq)
        self.execute("DELETE FROM memory_vector WHERE seq = ?", memory.seq)
        self.execute("DELETE FROM memory WHERE seq = ?", memory.seq)

    def _supersede(self, old_ids: Sequence[str], drafts: Sequence[Draft], ids: Sequence[str], realm: str) -> None:
        if not old_ids:
            return
        if len(drafts) != 1 or drafts[0].type != "correction":
            raise MemorySystemError(
                "only a memory of type correction, remembered by itself, supersedes others; nothing was remembered"
            )
        for old_id in old_ids:
            if old_id == ids[0] or not self.execute("SELECT 1 FROM memory WHERE id = ? AND realm = ?", old_id, realm):
                raise UnknownIdError(
                    f"{self._path}: realm {realm!r} has no memory {old_id!r} to supersede; nothing was remembered"
                )
            self.execute("UPDATE memory SET superseded_by = ? WHERE id = ?", ids[0], old_id)

    def _check_searchable(self, memory_id: str, draft: Draft) -> None:
        memory = self.find(memory_id)
        if memory is None or memory.content != draft.content or not self._indexed(memory):
            raise MemorySystemError(
                f"{self._path}: the memory of source {draft.source_id!r} cannot be found again; nothing was remembered"
            )

    def _indexed(self, memory: Recorded) -> bool:
        """Look the memory up in the index by its longest word."""
        probe = max(words(memory.content), key=len)
        return bool(
            self.execute(
                "SELECT 1 FROM memory_words WHERE memory_words MATCH ? AND rowid = ?", f'"{probe}"', memory.seq
            )
        )

    def _traces(self, memory: Recorded) -> list[Any]:
        return self.execute(
            "SELECT 1 FROM memory WHERE seq = ? OR id = ? OR superseded_by = ? "
            "UNION ALL SELECT 1 FROM memory_words WHERE rowid = ? UNION ALL SELECT 1 FROM memory_vector WHERE seq = ?",
            memory.seq,
            memory.id,
            memory.id,
            memory.seq,
            memory.seq,
        )


def new_id() -> str:
    """Make an id that cannot be guessed and was never given."""
    return os.urandom(16).hex()


def now_ms() -> int:
    """Tell the time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def any_of(query_words: Sequence[str]) -> str:
    """Write what FTS5 matches where one of the words is."""
    return " OR ".join(f'"{word}"' for word in query_words)


@contextmanager
def _faults_of(path: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeEncodeError) as error:
        raise MemorySystemError(f"{path}: the memory file cannot be used: {error}") from error


def home_of(environ: Mapping[str, str]) -> str:
    """Return the store's directory: SMRITI_MEM_HOME, or $XDG_DATA_HOME/smriti-mem, or ~/.local/share/smriti-mem."""
    data_home = environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return environ.get("SMRITI_MEM_HOME") or os.path.join(data_home, "smriti-mem")


def realm_of(environ: Mapping[str, str], folder: str) -> str:
    """Return SMRITI_MEM_REALM verbatim, or `project:<name of the folder>`."""
    return environ.get("SMRITI_MEM_REALM") or f"project:{os.path.basename(os.path.abspath(folder))}"
