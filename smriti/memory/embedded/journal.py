"""What is kept beside memories in the same file: observations of an agent's tools, and actions."""

# ruff: noqa: S608
# S608: what is put into SQL are this module's own constants.

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from smriti.errors import MemorySystemError
from smriti.memory.embedded.store import (
    Extent,
    Matching,
    MemoryFile,
    Recorded,
    UnknownIdError,
    any_of,
    new_id,
    now_ms,
)
from smriti.memory.embedded.words import words

OBSERVATION = "observation"
"""The type of an observation where memories are told by theirs."""


class Sighting(NamedTuple):
    """An observation as it is handed in."""

    session_id: str
    tool: str
    content: str
    source_id: str


class Deed(NamedTuple):
    """An action as it stands in the store."""

    id: str
    title: str
    memory_ids: tuple[str, ...]


class Counts(NamedTuple):
    """How much there is; `memories` are the current ones."""

    memories: int
    superseded: int
    observations: int
    actions: int


class Journal:
    """The observations and actions of a memory file."""

    def __init__(self, memories: MemoryFile) -> None:
        self._memories = memories

    def capture(self, sightings: Sequence[Sighting], realm: str) -> list[str]:
        """Store observations in order, all or none, and return their ids; each was looked up in the index before."""
        with self._memories.transaction():
            return [self._insert(sighting, realm) for sighting in sightings]

    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        """Record an action; UnknownIdError unless all it follows from is to be found from `realm`."""
        with self._memories.transaction():
            unknown = [memory_id for memory_id in memory_ids if not self._within_reach(memory_id, realm)]
            if unknown:
                raise UnknownIdError(
                    f"nothing that is found from realm {realm!r} has the id {', '.join(map(repr, unknown))}; "
                    "no action was recorded"
                )
            action_id = new_id()
            self._memories.execute(
                "INSERT INTO action (id, realm, title, memory_ids, created_ms) VALUES (?, ?, ?, ?, ?)",
                action_id,
                realm,
                title,
                json.dumps(list(memory_ids)),
                now_ms(),
            )
        return action_id

    def actions(self, realm: str) -> list[Deed]:
        """Return the actions of `realm` alone, oldest first."""
        rows = self._memories.execute("SELECT id, title, memory_ids FROM action WHERE realm = ? ORDER BY seq", realm)
        return [Deed(action_id, title, tuple(json.loads(memory_ids))) for action_id, title, memory_ids in rows]

    def find(self, observation_id: str) -> Recorded | None:
        """Return the observation that has an id."""
        rows = self._memories.execute(f"{_AS_RECORDED} WHERE id = ?", observation_id)
        return Recorded(*rows[0]) if rows else None

    def recorded(self, seqs: Sequence[int]) -> list[Recorded]:
        """Return the observations with these numbers, in no order."""
        rows = self._memories.execute(
            f"{_AS_RECORDED} WHERE seq IN (SELECT value FROM json_each(?))", json.dumps(list(seqs))
        )
        return [Recorded(*row) for row in rows]

    def matching(self, query_words: Sequence[str], realm: str) -> list[Matching]:
        """Return the observations of `realm` or of no project that hold one of the words."""
        if not query_words:
            return []
        rows = self._memories.execute(
            "SELECT seq, words FROM observation_words CROSS JOIN observation ON seq = observation_words.rowid "
            "WHERE observation_words MATCH ? AND realm IN (?, '')",
            any_of(query_words),
            realm,
        )
        return [Matching(seq, OBSERVATION, held.split(" ")) for seq, held in rows]

    def extent(self, realm: str) -> Extent:
        """Count the observations of `realm` and of no project."""
        sql = "SELECT count(*), coalesce(avg(word_count), 0) FROM observation WHERE realm IN (?, '')"
        return Extent(*self._memories.execute(sql, realm)[0])

    def forget(self, ids: Sequence[str]) -> None:
        """Remove memories and observations by their exact ids, all or none, and look that each is gone."""
        with self._memories.transaction():
            observations = [found for found in map(self.find, dict.fromkeys(ids)) if found is not None]
            observed = {observation.id for observation in observations}
            self._memories.forget([given for given in ids if given not in observed])
            for observation in observations:
                self._memories.execute("DELETE FROM observation_words WHERE rowid = ?", observation.seq)
                self._memories.execute("DELETE FROM observation WHERE seq = ?", observation.seq)
            left = [found.id for found in observations if self.find(found.id) or self._indexed(found)]
            if left:
                raise MemorySystemError(f"still there after being forgotten: {', '.join(left)}; nothing was forgotten")

    def counts(self, realm: str | None) -> Counts:
        """Count what is in `realm` alone, or in all realms."""
        current, superseded, observations, actions = (
            self._memories.execute(f"SELECT count(*) FROM {where} AND coalesce(realm = ?, 1)", realm)[0][0]
            for where in (
                "memory WHERE superseded_by IS NULL",
                "memory WHERE superseded_by IS NOT NULL",
                "observation WHERE 1",
                "action WHERE 1",
            )
        )
        return Counts(current, superseded, observations, actions)

    def _insert(self, sighting: Sighting, realm: str) -> str:
        found = words(sighting.content)
        if not found:
            raise MemorySystemError(f"the observation of source {sighting.source_id!r} is empty; expected a text")
        observation_id = new_id()
        [(seq,)] = self._memories.execute(
            "INSERT INTO observation (id, realm, session_id, tool, content, source_id, created_ms, word_count) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
            observation_id,
            realm,
            *sighting,
            now_ms(),
            len(found),
        )
        self._memories.execute("INSERT INTO observation_words (rowid, words) VALUES (?, ?)", seq, " ".join(found))
        kept = self.find(observation_id)
        if kept is None or kept.content != sighting.content or not self._indexed(kept):
            raise MemorySystemError(
                f"the observation of source {sighting.source_id!r} cannot be found again; nothing was captured"
            )
        return observation_id

    def _indexed(self, observation: Recorded) -> bool:
        probe = max(words(observation.content), key=len)
        return bool(
            self._memories.execute(
                "SELECT 1 FROM observation_words WHERE observation_words MATCH ? AND rowid = ?",
                any_of([probe]),
                observation.seq,
            )
        )

    def _within_reach(self, given: str, realm: str) -> bool:
        found = self._memories.find(given) or self.find(given)
        return found is not None and found.realm in (realm, "")


_AS_RECORDED = f"SELECT seq, id, realm, '{OBSERVATION}', content, source_id, created_ms, NULL FROM observation"
