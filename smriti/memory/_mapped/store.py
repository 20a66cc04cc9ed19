"""A store of a mapped system: every write is verified, and what goes wrong is named."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from typing import Any
from uuid import uuid4

from smriti.errors import MemorySystemError
from smriti.memory._mapped import found
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.client import Client
from smriti.memory._mapped.mapping import Call, Get, Interface, Search, Write
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.planted import Planted, PlantedIds
from smriti.memory._mapped.words import project_of
from smriti.types import Action, Attachment, Condition, Hit, Memory, Observation, Recalled, RecallForm

OBSERVATIONS = "observations"
"""The layer in which captured observations are looked for, where a system has it."""

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


@dataclass
class _Writes:
    """The writes that are under way, and what was counted before the first of them."""

    under_way: int = 0
    before: int = 0
    added: int = 0
    countable: bool = True


class MappedStore:
    """An opened store. Threads may share it: their calls reach the system side by side."""

    def __init__(self, place: Place, start: Callable[[Place], Client]) -> None:
        self.where = place.where
        self._place = place
        self._interface: Interface = place.interface
        self._start = start
        self._planted = PlantedIds(place.root / "planted.ndjson")
        self._writes = _Writes()
        self._lock = RLock()
        self._client: Client | None = None
        prepared = place.root / "prepared"
        fresh = not prepared.exists()
        if fresh:
            place.prepare()
        self._client = start(place)
        try:
            if fresh:
                for call in self._interface.setup:
                    self._called("setup", call, {})
                prepared.touch()
        except BaseException:
            self.close()
            raise

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        verb = self._interface.remember
        with self._counted(verb.count):
            ids = [
                self._written("remember", verb, _values(memory), Planted(realm, memory.source_id, memory.content))
                for memory in memories
            ]
            self._writes_added(len(ids) * verb.count)
            self._all_found("remember", ids)
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Return the system's hits in its own order, with the sources of the ids that were planted here.

        A hit that nobody planted has no sources. MemorySystemError for a hit without an id.
        """
        self._check_layer(layer)
        return self._hits("search", self._interface.search, query, realm, k, layer=layer)

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, and see for each that neither its id nor a search of its text finds it any more."""
        ids = list(dict.fromkeys(ids))
        for memory_id in ids:
            if self._planted.get(memory_id) is None and not self._got(memory_id):
                raise MemorySystemError(f"{self.where}: no memory has the id {memory_id!r}; nothing was forgotten")
        if not ids:
            return
        verb = self._interface.forget
        with self._counted(None):
            together = "{ids}" in str(verb.arguments) + str(verb.path)
            for some in [ids] if together else [[memory_id] for memory_id in ids]:
                sent = [self._sent(memory_id) for memory_id in some]
                answer = self._called("forget", verb, {"ids": sent, "id": sent[0]})
                self._check_deleted(answer, some)
            for memory_id in ids:
                planted = self._planted.get(memory_id)
                self._until(
                    lambda: not self._is_there(memory_id, planted),  # noqa: B023  # called before the next turn
                    f"forget of {memory_id!r} was confirmed, but it is still found",
                )
                self._planted.remove(memory_id)

    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        verb = self._offered("correct", self._interface.correct)
        old = self._planted.get(memory_id)
        with self._counted(None):
            values = _values(memory) | {"id": self._sent(memory_id)}
            planted = Planted(realm, memory.source_id, memory.content)
            new_id = self._written("correct", verb, values, planted, replaces=memory_id)
            self._all_found("correct", [new_id])
            if old is not None and new_id != memory_id:
                self._until(
                    lambda: memory_id not in self._found_ids(old),
                    f"correct of {memory_id!r} gave {new_id!r}, but a search still finds what it replaces",
                )
        return new_id

    def update(self, memory_id: str, content: str) -> str:
        verb = self._offered("update", self._interface.update)
        old = self._planted.get(memory_id)
        if old is None:
            raise MemorySystemError(f"{self.where}: update knows no memory of the id {memory_id!r}")
        with self._counted(None):
            values = {"id": self._sent(memory_id), "content": content, "now": _now()}
            answer = self._called("update", verb, self._realm(old.realm) | values)
            found_id = memory_id if verb.id is None else self._id_of("update", answer, verb)
            new = old._replace(content=content)
            if found_id != memory_id:
                self._planted.remove(memory_id)
            self._planted.change(found_id, new)
            self._until(
                lambda: any(hit.id == found_id and hit.content != old.content for hit in self._verifying(new)),
                f"update of {memory_id!r} is not found by its new text",
            )
        return found_id

    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        return self._hits("compact", self._offered("compact", self._interface.compact), query, realm, k)

    def expand(self, memory_id: str) -> str:
        verb = self._offered("expand", self._interface.expand)
        content = self._content("expand", verb, memory_id)
        if content is None:
            raise MemorySystemError(f"{self.where}: expand found no memory of the id {memory_id!r}")
        return content

    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        verb = self._offered("capture", self._interface.capture)
        layer = OBSERVATIONS if OBSERVATIONS in self._interface.layers else None
        with self._counted(None):
            ids = [
                self._written(
                    "capture",
                    verb,
                    {"content": each.content, "tool": each.tool, "session": each.session_id, "source": each.source_id},
                    Planted(realm, each.source_id, each.content, layer),
                )
                for each in observations
            ]
            self._all_found("capture", ids)
        return ids

    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        verb = self._offered("act", self._interface.act)
        new_id = _new_id()
        values = {"title": title, "memory_ids": [self._sent(each) for each in memory_ids], "new_id": new_id}
        answer = self._called("act", verb, self._realm(realm) | values)
        action_id = new_id if verb.id is None else self._id_of("act", answer, verb)
        if action_id not in {action.id for action in self.actions(realm)}:
            raise MemorySystemError(f"{self.where}: act gave the id {action_id!r}, which is not among the actions")
        return action_id

    def actions(self, realm: str) -> list[Action]:
        verb = self._offered("actions", self._interface.actions)
        answer = self._called("actions", verb, self._realm(realm))
        items = answer.items(verb.actions)
        if items is None:
            raise MemorySystemError(f"{self.where}: actions answered no list at {verb.actions!r}: {answer.shown}")
        return [found.action(self.where, verb, item) for item in items]

    def recall(self, query: str, realm: str, form: RecallForm, budget: int, layer: str | None = None) -> Recalled:
        verb = self._offered("recall", self._interface.recall)
        self._check_layer(layer)
        values = {"form": form, "budget": budget, "layer": layer, "k": verb.k_max}
        answer = self._called("recall", verb, self._realm(realm) | values | {"query": query})
        hits = self._named(found.hits(self.where, "recall", verb, answer))
        text = None if verb.text is None else answer.find(verb.text)
        cut = None if verb.cut is None else answer.find(verb.cut)
        if not isinstance(text, str | None) or not isinstance(cut, int | None):
            raise MemorySystemError(f"{self.where}: recall answered a text or a cut of another kind: {answer.shown}")
        return Recalled(tuple(self._kept(verb, hits, realm)), text or "", cut)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Attach nothing but under on, which a mapping cannot say anything of yet: MemorySystemError."""
        if condition.kind not in {"on", "ablate"} or str(condition) == "ablate:all":
            return Attachment()
        raise MemorySystemError(
            f"{self.where}: condition {condition} of realm {realm!r} needs hooks or another way to the agent, which a "
            "mapping does not describe; run the conditions off and handed"
        )

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        """Return None: a mapping says nothing of a ledger."""
        del session_id, window

    def restart(self) -> None:
        """Stop the process and start it over the same state."""
        with self._lock:
            if self._client is None:
                raise self._closed("restart")
            self._client.stop()
            self._client = None
            self._client = self._start(self._place)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.stop()

    def count(self) -> int | None:
        """Return how many memories the system says that it holds; None where it cannot."""
        verb = self._interface.count
        if verb is None:
            return None
        answer = self._called("count", verb, {})
        if any(map(answer.matches, verb.empty)):
            return 0
        value = answer.find(verb.value)
        if isinstance(value, list):
            return len(value)
        with contextlib.suppress(TypeError, ValueError):
            return int(value)
        raise MemorySystemError(f"{self.where}: count answered no number at {verb.value!r}: {answer.shown}")

    def _called(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        """Make one call; MemorySystemError where its answer refuses."""
        client = self._client
        if client is None:
            raise self._closed(verb)
        answer = client.call(verb, call, {**self._place.values, **values})
        if answer.failed is not None:
            raise RefusedError(f"{self.where}: {verb} was refused ({answer.failed}): {answer.shown}")
        if any(map(answer.matches, (*call.refused, *self._interface.refused))):
            raise RefusedError(f"{self.where}: {verb} was refused: {answer.shown}")
        return answer

    def _closed(self, verb: str) -> MemorySystemError:
        return MemorySystemError(f"{self.where}: {verb} of a store that is closed, or did not start again")

    def _written(
        self, name: str, verb: Write, values: Mapping[str, Any], planted: Planted, replaces: str | None = None
    ) -> str:
        """Make one write and keep its source; MemorySystemError unless a new id came back and nothing was replaced."""
        new_id = _new_id()
        own = {"new_id": new_id, "now": _now()}
        answer = self._called(name, verb, {**self._realm(planted.realm), **values, **own})
        lost = f"source {planted.source_id!r} is lost"
        memory_id = new_id if verb.id is None else self._id_of(name, answer, verb, lost)
        if verb.superseded is not None:
            replaced = answer.find(verb.superseded)
            replaced = [
                str(each) for each in (replaced if isinstance(replaced, list) else [replaced] if replaced else [])
            ]
            if unasked := [each for each in replaced if each != replaces]:
                sources = [known.source_id if (known := self._planted.get(each)) else None for each in unasked]
                raise MemorySystemError(
                    f"{self.where}: {name} of source {planted.source_id!r} replaced {', '.join(map(repr, unasked))} "
                    f"(sources {sources}) unasked"
                )
        if not self._planted.add(memory_id, planted):
            raise MemorySystemError(
                f"{self.where}: {name} answered with the id {memory_id!r}, which was given before: {lost}"
            )
        return memory_id

    def _id_of(self, name: str, answer: Answer, verb: Write, lost: str = "") -> str:
        assert verb.id is not None
        value = answer.find(verb.id)
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            tail = f"; {lost}" if lost else ""
            raise MemorySystemError(f"{self.where}: {name} gave no id at {verb.id!r}{tail}: {answer.shown}")
        return str(value)

    def _all_found(self, name: str, ids: Sequence[str]) -> None:
        """Wait until every id is found; MemorySystemError names the sources of those that are not."""
        deadline = time.monotonic() + self._interface.settle_s
        lost = []
        for memory_id in ids:
            planted = self._planted.get(memory_id)
            if planted is not None and not _holds(lambda: self._is_found(memory_id, planted), deadline):  # noqa: B023
                lost.append(planted.source_id)
        if lost:
            raise MemorySystemError(
                f"{self.where}: {name} was confirmed, but {len(lost)} of {len(ids)} are not found after "
                f"{self._interface.settle_s:g} s: lost are the sources {', '.join(map(repr, lost[:20]))}"
            )

    def _is_found(self, memory_id: str, planted: Planted) -> bool:
        if self._interface.get is not None and planted.layer is None:
            return self._got(memory_id)
        return memory_id in self._found_ids(planted)

    def _is_there(self, memory_id: str, planted: Planted | None) -> bool:
        return (planted is not None and memory_id in self._found_ids(planted)) or self._got(memory_id)

    def _found_ids(self, planted: Planted) -> set[str]:
        return {hit.id for hit in self._verifying(planted)}

    def _verifying(self, planted: Planted) -> list[Hit]:
        """Search for a memory by the whole of its own text, also where a query is asked for word by word."""
        verb = self._interface.search.model_copy(update={"per": "query"})
        return self._hits("search", verb, planted.content, planted.realm, verb.k_max, layer=planted.layer)

    def _got(self, memory_id: str) -> bool:
        verb = self._interface.get
        return verb is not None and self._content("get", verb, memory_id) is not None

    def _content(self, name: str, verb: Get, memory_id: str) -> str | None:
        try:
            answer = self._called(name, verb, {"id": self._sent(memory_id)})
        except RefusedError:
            return None
        if any(map(answer.matches, verb.missing)):
            return None
        content = answer.find(verb.content)
        return found.text(content)

    def _hits(self, name: str, verb: Search, query: str, realm: str, k: int, *, layer: str | None = None) -> list[Hit]:
        if k < 1:
            return []
        asked = verb.k_max if verb.keep == "realm" else min(k, verb.k_max)
        values = {**self._realm(realm), "layer": layer, "k": asked}
        rankings = [
            found.hits(self.where, name, verb, self._called(name, verb, values | {"query": part}))
            for part in found.queries(verb, query)
        ]
        hits = rankings[0] if len(rankings) == 1 and verb.per == "query" else found.merged(rankings)
        return self._kept(verb, self._named(hits), realm)[:k]

    def _named(self, hits: Sequence[Hit]) -> list[Hit]:
        """Give the hits their sources; nothing for an id that nobody planted."""
        known = [self._planted.get(hit.id) for hit in hits]
        return [
            hit._replace(source_ids=() if planted is None else (planted.source_id,))
            for hit, planted in zip(hits, known, strict=True)
        ]

    def _kept(self, verb: Search, hits: Sequence[Hit], realm: str) -> list[Hit]:
        if verb.keep == "all":
            return list(hits)
        seen = {realm, ""} if "global" in self._interface.capabilities else {realm}
        return [hit for hit in hits if (planted := self._planted.get(hit.id)) is None or planted.realm in seen]

    def _sent(self, memory_id: str) -> str | int:
        if not self._interface.integer_ids:
            return memory_id
        try:
            return int(memory_id)
        except ValueError:
            raise MemorySystemError(f"{self.where}: no memory has the id {memory_id!r}; its ids are numbers") from None

    def _realm(self, realm: str) -> dict[str, Any]:
        return {"realm": realm or None, "project": project_of(realm)}

    def _check_layer(self, layer: str | None) -> None:
        if layer is not None and layer not in self._interface.layers:
            has = ", ".join(self._interface.layers) or "none"
            raise MemorySystemError(f"{self.where}: has no layer {layer!r}; its layers are: {has}")

    def _offered(self, name: str, verb: Any) -> Any:
        if verb is None:
            raise MemorySystemError(f"{self.where}: its mapping has no {name}")
        return verb

    def _check_deleted(self, answer: Answer, ids: Sequence[str]) -> None:
        place = self._interface.forget.deleted
        if place is None:
            return
        value = answer.find(place)
        count = len(value) if isinstance(value, list) else value
        if str(count) != str(len(ids)):
            raise MemorySystemError(
                f"{self.where}: forget of {', '.join(map(repr, ids))} deleted {count!r}, expected {len(ids)}: "
                f"{answer.shown}"
            )

    def _until(self, condition: Callable[[], bool], otherwise: str) -> None:
        if not _holds(condition, time.monotonic() + self._interface.settle_s):
            raise MemorySystemError(f"{self.where}: {otherwise} after {self._interface.settle_s:g} s")

    @contextlib.contextmanager
    def _counted(self, each: int | None) -> Iterator[None]:
        """Hold what the system counts against what was written, when no other write is under way.

        `each` is None for a verb of which nobody says what it does to the count: the writes beside it are not held
        against it either.
        """
        if self._interface.count is None:
            yield
            return
        writes = self._writes
        with self._lock:
            if writes.under_way == 0:
                writes.before, writes.added, writes.countable = self.count() or 0, 0, True
            writes.under_way += 1
            writes.countable = writes.countable and each is not None
        try:
            yield
        except BaseException:
            with self._lock:
                writes.countable = False
                writes.under_way -= 1
            raise
        with self._lock:
            writes.under_way -= 1
            if writes.under_way == 0 and writes.countable:
                self._until(
                    lambda: self.count() == writes.before + writes.added,
                    f"remember confirmed {writes.added} writes, but the count went from {writes.before} to "
                    f"{self.count()}",
                )

    def _writes_added(self, count: int) -> None:
        with self._lock:
            self._writes.added += count


class RefusedError(MemorySystemError):
    """A system answered, and refused."""


def _holds(condition: Callable[[], bool], deadline: float) -> bool:
    """Wait until `condition` holds; it is asked at least once, also after the deadline."""
    pause_s = _FIRST_PAUSE_S
    while not condition():
        if time.monotonic() + pause_s > deadline:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return True


def _values(memory: Memory) -> dict[str, Any]:
    return {"content": memory.content, "type": memory.type, "source": memory.source_id}


def _new_id() -> str:
    return f"m-{uuid4().hex}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
