"""Hits and actions from an answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from smriti.errors import MemorySystemError
from smriti.memory._mapped import paths
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.mapping import Actions, Search
from smriti.memory._mapped.words import cut, keywords
from smriti.types import Action, Hit


def queries(verb: Search, query: str) -> list[str]:
    """Return what is asked for `query`: the whole of it, or each of its keywords."""
    parts = keywords(query) if verb.per == "keyword" else [query]
    return [cut(part, verb.query_max) for part in parts]


def hits(where: str, name: str, verb: Search, answer: Answer) -> list[Hit]:
    """Return the hits in the system's order, without sources; MemorySystemError for an answer that has none to read."""
    items = answer.items(verb.hits)
    if not items and any(map(answer.matches, verb.empty)):
        return []
    if items is None or (not items and not isinstance(verb.hits, str) and verb.empty):
        raise MemorySystemError(f"{where}: {name} answered no hits at {verb.hits!r}: {answer.shown}")
    return _ranked([_hit(where, name, verb, item) for item in items])


def merged(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return each hit once: those of the most rankings first, and among equals what was found first."""
    by_id: dict[str, Hit] = {}
    count: dict[str, int] = {}
    for ranking in rankings:
        for hit in ranking:
            by_id.setdefault(hit.id, hit)
            count[hit.id] = count.get(hit.id, 0) + 1
    order = sorted(by_id, key=lambda id_: -count[id_])
    return [by_id[id_]._replace(score=float(count[id_])) for id_ in order]


def action(where: str, verb: Actions, item: Any) -> Action:
    """Return one action; MemorySystemError where it lacks something."""
    id_, title, memory_ids = (paths.find(item, path) for path in (verb.id, verb.title, verb.memory_ids))
    if id_ is None or not isinstance(title, str) or not isinstance(memory_ids, list):
        raise MemorySystemError(f"{where}: actions answered one without id, title or memories: {item!r:.200}")
    return Action(id=str(id_), title=title, memory_ids=tuple(map(str, memory_ids)))


def text(value: Any) -> str | None:
    """Return a content as text: a list of texts is joined by line feeds; None for anything else."""
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    return value if isinstance(value, str) else None


def _hit(where: str, name: str, verb: Search, item: Any) -> Hit:
    id_, content = paths.find(item, verb.id), text(paths.find(item, verb.content))
    if isinstance(id_, bool) or not isinstance(id_, (str, int)) or id_ == "":
        raise MemorySystemError(f"{where}: {name} returned a hit without an id at {verb.id!r}: {item!r:.200}")
    if content is None:
        raise MemorySystemError(f"{where}: {name} returned hit {id_!r} without text at {verb.content!r}: {item!r:.200}")
    score = None if verb.score is None else paths.find(item, verb.score)
    try:
        return Hit(str(id_), content, float("nan") if score is None else float(score))
    except (TypeError, ValueError):
        return Hit(str(id_), content, float("nan"))


def _ranked(found: list[Hit]) -> list[Hit]:
    """Keep the system's scores where all are numbers that fall with the rank; else they are 1/rank.

    The first of several hits of one id stands for all.
    """
    once = list({hit.id: hit for hit in reversed(found)}.values())[::-1]
    falls = all(one.score >= next_.score for one, next_ in pairwise(once))
    if falls and all(hit.score == hit.score for hit in once):  # not so for nan
        return once
    return [hit._replace(score=1 / rank) for rank, hit in enumerate(once, 1)]
