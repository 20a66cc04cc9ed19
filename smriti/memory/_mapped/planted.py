"""What was remembered through this client: the sources of ids, outside of the system and its searchable text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Planted(NamedTuple):
    """One memory or observation that a system holds."""

    realm: str
    source_id: str
    content: str
    layer: str | None = None
    """`observations` for what was captured."""


class PlantedIds:
    """Ids with their memories; kept in a file, so that a workspace can be opened again. Threads may share it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._by_id: dict[str, Planted] = {}
        self._given: set[str] = set()
        """Every id that was ever given: none is given twice."""
        for line in self._lines():
            self._apply(line)

    def __len__(self) -> int:
        with self._lock:
            return len(self._by_id)

    def get(self, memory_id: str) -> Planted | None:
        """Return what was planted under an id; None for one that nobody planted or that is forgotten."""
        with self._lock:
            return self._by_id.get(memory_id)

    def was_given(self, memory_id: str) -> bool:
        """Tell whether an id was ever given, also if its memory is forgotten."""
        with self._lock:
            return memory_id in self._given

    def add(self, memory_id: str, planted: Planted) -> bool:
        """Keep a memory under its id; False, and nothing is kept, where the id was given before."""
        with self._lock:
            if memory_id in self._given:
                return False
            self._write([memory_id, *planted])
            return True

    def change(self, memory_id: str, planted: Planted) -> None:
        """Keep what a memory says now."""
        with self._lock:
            self._write([memory_id, *planted])

    def remove(self, memory_id: str) -> None:
        """Forget an id."""
        with self._lock:
            self._write([memory_id])

    def _write(self, line: list[str | None]) -> None:
        self._apply(line)
        with self._file.open("a", encoding="utf-8", errors="surrogatepass") as file:
            file.write(json.dumps(line) + "\n")

    def _apply(self, line: list[str | None]) -> None:
        memory_id, *planted = line
        assert memory_id is not None
        self._given.add(memory_id)
        if planted:
            self._by_id[memory_id] = Planted(*planted)  # type: ignore[arg-type]  # as `_write` laid it down
        else:
            self._by_id.pop(memory_id, None)

    def _lines(self) -> Iterator[list[str | None]]:
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                yield json.loads(line)
