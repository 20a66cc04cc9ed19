"""Paths into a JSON answer: `memory.id`, `results[0].id`, `results[]`, `models["a.b"]`."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r'(?P<dot>\.)?(?P<key>[A-Za-z_$][\w$-]*)|\[(?P<index>-?\d*)\]|\["(?P<quoted>[^"]+)"\]')


def steps(path: str) -> tuple[str | int | None, ...]:
    """Read a path: a key, an index (negative from the end), or None for `[]`, every item; ValueError for no path."""
    found: list[str | int | None] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (step["key"] is not None and (step["dot"] is not None) != bool(found)):
            break
        if step["index"] is not None:
            found.append(int(step["index"]) if step["index"] else None)
        else:
            found.append(step["key"] or step["quoted"])
        at = step.end()
    if at < len(path) or not found:
        raise ValueError('expected a path such as memory.id, results[0].id, results[] or models["a.b"]')
    return tuple(found)


def find(document: Any, path: str) -> Any:
    """Return what stands at `path`, a list where it has `[]`; None where it, or anything on the way, is missing."""
    return _find(document, steps(path))


def _find(document: Any, left: tuple[str | int | None, ...]) -> Any:
    for place, step in enumerate(left):
        if step is None:
            if not isinstance(document, list):
                return None
            rest = left[place + 1 :]
            return [_find(item, rest) for item in document]
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document
