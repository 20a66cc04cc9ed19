"""Change one thing of a JSON document at a time: every leaf, every key, every element."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A document with one change, and where it is: keys joined by dots, an element of a list as `[]`."""

    where: str
    change: str
    document: Any


def mutants(document: Any) -> Iterator[Mutant]:
    """Yield every document that differs from this one in one place."""
    for path, value in _places(document):
        where = ".".join("[]" if isinstance(step, int) else step for step in path)
        for change, other in _others(value):
            yield Mutant(where, change, _with(document, path, partial(_put, other)))
        if path:
            yield Mutant(where, "drop", _with(document, path, _drop))
        if path and isinstance(path[-1], int):
            yield Mutant(where, "repeat", _with(document, path, _repeat))
            if path[-1] > 0:
                yield Mutant(where, "swap", _with(document, path, _swap))


def line(document: Any) -> bytes:
    """Write a document as a line of ndjson is written."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def page(document: Any) -> bytes:
    """Write a document as manifest.json and summary.json are written."""
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    if value is not None:
        yield "null", None
    match value:
        case dict():
            yield "add a key", {**value, "mutant": 1}
        case list():
            yield "add an element", [*value, "mutant"]
        case bool():
            yield "invert", not value
        case int():
            yield "one more", value + 1
            yield "negative", -value - 1
        case float():
            yield "the next float", math.nextafter(value, math.inf)
            yield "the other sign", -value
        case str():
            yield "another text", _another_text(value)
            yield "no text", ""
        case None:
            yield from (("a number", 1), ("a text", "mutant"), ("false", False))


_WORDS = {
    "agent": "grade",
    "agent_timeout": "agent_error",
    "completed": "failed",
    "component": "development",
    "convention": "exploration",
    "development": "measured",
    "failed": "passed",
    "ingest": "query",
    "init": "ingest",
    "locomo": "longmemeval",
    "misleading": "convention",
    "passed": "failed",
    "plant_failed": "memory_error",
    "prepare": "teardown",
    "query": "teardown",
    "rehearsal": "development",
    "skipped": "infra_error",
    "visible": "holdout",
}
"""Of the words that a schema allows in one place, each with another."""


def _another_text(text: str) -> str:
    """Return a text of the same kind, so that it is refused for what it says and not for its shape."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) == 64:
        return ("1" if text[0] == "0" else "0") + text[1:]
    try:
        return (datetime.fromisoformat(text) + timedelta(seconds=1)).isoformat()
    except ValueError:
        return text + "x"


def _with(document: Any, path: tuple[str | int, ...], change: Callable[[Any, Any], None]) -> Any:
    """Change a copy of the document at `path`; what lies beside the path is shared with the original."""
    holder = [document]
    parent: Any = holder
    *before, last = (0, *path)
    for step in before:
        parent[step] = copy.copy(parent[step])
        parent = parent[step]
    change(parent, last)
    return holder[0]


def _put(other: Any, parent: Any, key: Any) -> None:
    parent[key] = other


def _drop(parent: Any, key: Any) -> None:
    del parent[key]


def _repeat(parent: list[Any], index: int) -> None:
    parent.insert(index, parent[index])


def _swap(parent: list[Any], index: int) -> None:
    parent[index - 1], parent[index] = parent[index], parent[index - 1]
