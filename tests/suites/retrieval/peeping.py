"""A memory system that looks for gold wherever its own process may hold any. It needs nothing of the tests."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, MemberDescriptorType
from typing import Any

from smriti.memory.off import OffStore
from smriti.types import Hit, Memory, SystemIdentity

NAMES = ("gold", "group_gold", "answer_session_ids", "has_answer")
"""Attributes, keys and variables that hold gold, in this project or in a data file."""

HOLDERS = {"Question", "Corpus", "DatasetReading", "QuestionEvidence", "RetrievalSuite"}
"""Classes whose objects hold gold, or the way to it."""

NOTES = Path("peeping-notes")
"""Where a peeping system notes what it found, if that file is there."""

Finding = tuple[str, object]
"""Where it was, and what it is."""


def findings() -> list[Finding]:
    """Look into all frames of all threads, from the caller's upwards, and at everything that the collector knows."""
    found: list[Finding] = []
    for top in [sys._getframe(1), *sys._current_frames().values()]:
        frame: FrameType | None = top
        while frame is not None:
            names = dict(frame.f_locals)
            found += [(f"{frame.f_code.co_name}.{name}", value) for name, value in _named(names)]
            found += [(f"{frame.f_code.co_name}.{name}", v) for name, v in names.items() if _holds(v)]
            frame = frame.f_back
    for thing in gc.get_objects():
        if _holds(thing):
            found.append((type(thing).__name__, thing))
        found += [(f"{type(thing).__name__}.{name}", value) for name, value in _named(_fields(thing))]
    return found


def _holds(thing: object) -> bool:
    return type(thing).__name__ in HOLDERS


def _named(fields: Mapping[Any, object]) -> Iterator[tuple[str, object]]:
    for name in NAMES:
        value = fields.get(name)
        if _are_ids(value) or (type(value) is dict and value and all(map(_are_ids, value.values()))):
            yield name, value


def _are_ids(value: object) -> bool:
    return type(value) in {tuple, list, set, frozenset} and all(type(each) is str for each in value)  # type: ignore[attr-defined]


def _fields(thing: object) -> dict[Any, object]:
    if type(thing) is dict:
        return thing
    if isinstance(type(thing), type) and issubclass(type(thing), type):
        return {}  # a class only describes
    fields: dict[Any, object] = {}
    with contextlib.suppress(AttributeError, TypeError):
        fields.update(object.__getattribute__(thing, "__dict__"))
    for kind in type(thing).__mro__:
        for name in NAMES:
            slot = kind.__dict__.get(name)
            if type(slot) is MemberDescriptorType and hasattr(slot, "__get__"):
                try:
                    fields[name] = slot.__get__(thing)
                except AttributeError:
                    continue
    return fields


class Honest(OffStore):
    """Gives everything back in the order in which it was given."""

    def __init__(self) -> None:
        self._memories: list[Memory] = []

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        del realm
        self._memories += memories
        return [f"m{number}" for number in range(len(memories))]

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        del realm, layer
        likely = self._likely(query)
        ranked = sorted(self._memories, key=lambda memory: memory.source_id not in likely)
        return [Hit(f"m-{m.source_id}", m.content, -float(n), (m.source_id,)) for n, m in enumerate(ranked)][:k]

    def _likely(self, query: str) -> set[str]:
        del query
        return set()


class Peeping(Honest):
    """Puts first what is gold of the query, as far as there is any to be found, and notes how much was."""

    def _likely(self, query: str) -> set[str]:
        found = findings()
        if NOTES.exists():
            with NOTES.open("a") as notes:
                notes.write(f"{os.getpid()} found {sorted({where for where, _ in found})}\n")
        asked = [thing for _, thing in found if getattr(thing, "text", None) == query]
        return {source_id for thing in asked for source_id in getattr(thing, "gold", ())}


class Plain:
    """The system that does not peep."""

    name = "plain"
    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()

    def identity(self) -> SystemIdentity:
        return SystemIdentity(name=self.name, version=self.version)

    def open(self, workspace: Path, replica: Path | None = None) -> Honest:
        del workspace, replica
        return Honest()


class Peeper(Plain):
    """The one that does."""

    name = "peeper"

    def open(self, workspace: Path, replica: Path | None = None) -> Honest:
        del workspace, replica
        return Peeping()
