"""Memories as lines of AGENTS.md and CLAUDE.md: the baseline that people really use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version as installed_version
from pathlib import Path

from smriti.errors import MemorySystemError, UsageError
from smriti.types import Attachment, Condition, Hit, Memory, SystemIdentity

CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
_HEADING = "\n## Notes from earlier work on this project\n\n"


def create(argument: str | None) -> FileMemory:
    """Make the system; UsageError if an argument is given."""
    if argument is not None:
        raise UsageError(f"memory system 'file' takes no argument, found {argument!r}")
    return FileMemory()


class FileMemory:
    """A Markdown list, newest last, appended to both context files. It cannot tell whether an agent read them."""

    name = "file"
    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def identity(self) -> SystemIdentity:
        detail = {"files": list(CONTEXT_FILES), "search": f"BM25Plus of rank-bm25 {installed_version('rank-bm25')}"}
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> FileStore:
        """Open an empty store; MemorySystemError for a replica, which a list in memory does not have."""
        del workspace
        if replica is not None:
            raise MemorySystemError("file: there is no stored form to replicate")
        return FileStore()


class FileStore:
    """The lines of each realm, in the order in which they were remembered."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[str, Memory]] = {}
        self._given = 0

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        ids = [f"line-{self._given + index}" for index in range(len(memories))]
        self._given += len(memories)
        self._lines.update({id_: (realm, memory) for id_, memory in zip(ids, memories, strict=True)})
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Rank the realm's lines that share a word with the query by BM25; the older comes first among equals."""
        if layer is not None:
            raise MemorySystemError(f"file: has no layer {layer!r}")
        lines = [(id_, memory) for id_, (stored, memory) in self._lines.items() if stored == realm]
        words = [_words(memory.content) for _, memory in lines]
        wanted = _words(query)
        matches = [not set(wanted).isdisjoint(of_line) for of_line in words]
        if not any(matches):
            return []
        from rank_bm25 import BM25Plus  # noqa: PLC0415  # numpy, paid only by a search

        # Okapi's weights fall below 0 for a word that half of the lines hold: in a short list the best would come last.
        scores = BM25Plus(words).get_scores(wanted)
        hits = [
            Hit(id=id_, content=memory.content, score=float(score), source_ids=(memory.source_id,))
            for (id_, memory), score, match in zip(lines, scores, matches, strict=True)
            if match
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:k]

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, all or none."""
        unknown = [id_ for id_ in ids if id_ not in self._lines]
        if unknown:
            raise MemorySystemError(f"file: no memory has the id {unknown[0]!r}; nothing was forgotten")
        for id_ in set(ids):
            del self._lines[id_]

    def attach(self, realm: str, condition: Condition) -> Attachment:
        lines = [f"- {memory.content}\n" for stored, memory in self._lines.values() if stored == realm]
        if condition.kind not in {"on", "file"} or not lines:
            return Attachment()
        text = _HEADING + "".join(lines)
        return Attachment(files=dict.fromkeys(CONTEXT_FILES, text))

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        """Return None: a file does not know who read it."""
        del session_id, window

    def restart(self) -> None:
        """Nothing to restart."""

    def close(self) -> None:
        self._lines.clear()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
