"""One check of one system, in a fresh store of its own: the calls of its script are made, and what they bring kept."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import Any

from smriti.engine.processes import ToldToEnd
from smriti.errors import MemorySystemError
from smriti.protocols import MemorySystem, Store
from smriti.receipts.lifecycle import target
from smriti.receipts.redact import redact_secrets
from smriti.score.lifecycle import MOST_HITS
from smriti.suites.adapter import shown, told, workspace
from smriti.suites.lifecycle.reader import commands_for
from smriti.suites.text import is_text
from smriti.types import (
    Action,
    Asking,
    Hit,
    LifecycleFault,
    LifecyclePhase,
    LifecycleText,
    Memory,
    Observation,
    Observed,
    ObservedHit,
    Recalled,
    StepRealm,
)

WRITERS = 8
"""Threads that write at once."""

RECALL_BUDGET = 4000
"""Tokens: more than the texts of any check in which everything is looked for by every search."""

_REALMS: dict[StepRealm, str] = {"own": "project:smriti-lifecycle", "other": "project:smriti-elsewhere", "none": ""}
_LONGEST_MESSAGE = 1000
_LONGEST_ID = 500
_CLOSING_S = 30.0
"""How long a store may take to close after the case."""
_AGAIN_S = 1.0
"""How long after a time-out that something caught it is raised again."""


@dataclass(frozen=True, slots=True)
class Step:
    """A case as the process of the system is told it: its calls, none where the system lacks what the check needs."""

    case: str
    system: str
    askings: tuple[Asking, ...]
    texts: Mapping[str, LifecycleText]
    """By the names of the check."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one case brought."""

    case: str
    observed: tuple[Observed, ...] = ()
    fault: LifecycleFault | None = None


@dataclass(frozen=True)
class Attempts:
    """What attempts cases, pickled, in another process."""

    timeout_s: float
    load: Callable[[str], MemorySystem]

    def __call__(self, step: Step) -> Outcome:
        """Go through one case, as far as it goes."""
        if not step.askings:
            return Outcome(step.case)
        observed: list[Observed] = []
        with workspace() as folder:
            try:
                self._go_through(step, folder, observed)
            except _Broken as broken:
                return Outcome(step.case, tuple(observed), broken.fault)
            except _TimedOut as up:  # between two calls
                left = step.askings[len(observed) :]
                fault = LifecycleFault(phase=left[0].part if left else "teardown", message=str(up))
                return Outcome(step.case, tuple(observed), fault)
        return Outcome(step.case, tuple(observed))

    def _go_through(self, step: Step, folder: Path, observed: list[Observed]) -> None:
        with _limited(self.timeout_s) as limit:
            with _phase("init"):
                store = self.load(step.system).open(folder)
            try:
                calls = _Calls(store, step.texts)
                for asking in step.askings:
                    with _phase(asking.part, asking.step):
                        observed.append(calls.make(asking))
            except BaseException:
                limit.restart(_CLOSING_S)
                with contextlib.suppress(_Broken), _phase("teardown"):  # what is raised already is the cause
                    store.close()
                raise
            limit.restart(_CLOSING_S)
            with _phase("teardown"):
                store.close()


def lost(step: Step) -> Outcome:
    """Return what a case brought that ended its process."""
    message = "the process that it ran in ended by itself, or ran out of memory"
    return Outcome(step.case, fault=LifecycleFault(phase="process", message=message))


class _Broken(Exception):  # noqa: N818  # it never leaves this module
    """The system failed in one phase; the message is fit for a receipt."""

    def __init__(self, phase: LifecyclePhase, message: str) -> None:
        super().__init__(message)
        text = " ".join(redact_secrets(message).encode("utf-8", "replace").decode().split())
        self.fault = LifecycleFault(phase=phase, message=text[:_LONGEST_MESSAGE])


class _TimedOut(BaseException):
    """The time of the case is up: not to be caught by a system that catches every Exception."""


class _Calls:
    """Makes the calls of one case, and keeps what later ones need of earlier ones."""

    def __init__(self, store: Store, texts: Mapping[str, LifecycleText]) -> None:
        self._store: Any = store  # what it can do beyond a Store is for its capabilities to say
        self._texts = texts
        self._ids: dict[str, str] = {}
        self._last: tuple[ObservedHit, ...] = ()
        self._verbs: dict[str, Callable[[Asking], Observed]] = {
            "remember": self._remember,
            "write": self._write,
            "correct": self._correct,
            "update": self._update,
            "forget": self._forget,
            "capture": self._capture,
            "act": self._act,
            "restart": self._restart,
            "search": self._search,
            "compact": self._compact,
            "expand": self._expand,
            "recall": self._recall,
            "read": self._read,
            "actions": self._actions,
        }

    def make(self, asking: Asking) -> Observed:
        """Make one call; MemorySystemError for what its protocol does not allow it to bring."""
        return self._verbs[asking.verb](asking)

    def _remember(self, asking: Asking) -> Observed:
        memories = [self._memory(name) for name in asking.memories]
        return self._added(asking, self._store.remember(memories, _REALMS[asking.realm]))

    def _capture(self, asking: Asking) -> Observed:
        observations = [
            Observation(session_id="lifecycle", tool="shell", content=text.content, source_id=text.source_id)
            for text in map(self._texts.__getitem__, asking.memories)
        ]
        return self._added(asking, self._store.capture(observations, _REALMS[asking.realm]))

    def _write(self, asking: Asking) -> Observed:
        """Remember one memory at a time in each of several threads that begin together."""
        given: dict[str, Any] = {}
        errors: list[BaseException] = []
        ready = threading.Barrier(WRITERS)

        def write(names: Sequence[str]) -> None:
            try:
                ready.wait()
                for name in names:
                    given[name] = self._store.remember([self._memory(name)], _REALMS[asking.realm])
            except BaseException as error:  # noqa: BLE001  # raised again below, where the case is
                errors.append(error)

        shares = [asking.memories[n::WRITERS] for n in range(WRITERS)]
        threads = [threading.Thread(target=write, args=(share,), daemon=True) for share in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return self._added(asking, [id_ for name in asking.memories for id_ in _ids("remember", given[name])])

    def _added(self, asking: Asking, found: object) -> Observed:
        ids = _ids(asking.verb, found)
        self._ids |= dict(zip(asking.memories, ids, strict=False))
        return Observed(asking=asking, ids=tuple(ids))

    def _correct(self, asking: Asking) -> Observed:
        old, new = asking.memories
        memory = self._memory(new, correction=True)
        return self._replaced(asking, self._store.correct(self._ids.get(old, ""), memory, _REALMS[asking.realm]))

    def _update(self, asking: Asking) -> Observed:
        old, new = asking.memories
        return self._replaced(asking, self._store.update(self._ids.get(old, ""), self._texts[new].content))

    def _replaced(self, asking: Asking, found: object) -> Observed:
        (id_,) = _ids(asking.verb, [found])
        self._ids[asking.memories[1]] = id_
        return Observed(asking=asking, ids=(id_,))

    def _forget(self, asking: Asking) -> Observed:
        ids = [self._ids.get(name, "") for name in asking.memories]
        self._store.forget(ids)
        return Observed(asking=asking, ids=tuple(ids))

    def _restart(self, asking: Asking) -> Observed:
        self._store.restart()
        return Observed(asking=asking)

    def _act(self, asking: Asking) -> Observed:
        """Record what the reader has read, with the hits that said so."""
        following = tuple(hit.id for hit in self._last if asking.memories[0] in hit.holds)
        title = asking.command or ""
        (id_,) = _ids("act", [self._store.act(title, list(following), _REALMS[asking.realm])])
        return Observed(asking=asking, ids=(id_,), actions=(Action(id=id_, title=title, memory_ids=following),))

    def _actions(self, asking: Asking) -> Observed:
        found = self._store.actions(_REALMS[asking.realm])
        if not isinstance(found, list) or not all(isinstance(each, Action) for each in found):
            raise MemorySystemError(f"actions gave {shown(found)}, expected a list of actions")
        return Observed(asking=asking, actions=tuple(found))

    def _search(self, asking: Asking) -> Observed:
        found = self._store.search(self._query(asking), _REALMS[asking.realm], MOST_HITS, asking.layer)
        return self._found(asking, _hits("search", found))

    def _compact(self, asking: Asking) -> Observed:
        found = self._store.compact(self._query(asking), _REALMS[asking.realm], MOST_HITS)
        return self._found(asking, _hits("compact", found))

    def _read(self, asking: Asking) -> Observed:
        hits = _hits("search", self._store.search(self._query(asking), _REALMS[asking.realm], MOST_HITS, None))
        commands = commands_for(asking.query, [hit.content for hit in hits])
        return self._found(asking, hits).model_copy(update={"commands": tuple(commands)})

    def _found(self, asking: Asking, hits: Sequence[Hit]) -> Observed:
        self._last = tuple(self._observed(hit.id, hit.source_ids, hit.content) for hit in hits)
        return Observed(asking=asking, hits=self._last)

    def _expand(self, asking: Asking) -> Observed:
        ids = target(self._last, asking, self._ids)
        found = self._store.expand(*ids)
        if not is_text(found):
            raise MemorySystemError(f"expand gave {type(found).__name__}, expected a text")
        return Observed(asking=asking, ids=ids, hits=(self._observed(ids[0], (), found),))

    def _recall(self, asking: Asking) -> Observed:
        query, realm = self._query(asking), _REALMS[asking.realm]
        found = self._store.recall(query, realm, asking.form, RECALL_BUDGET, asking.layer)
        if not isinstance(found, Recalled) or not isinstance(found.hits, tuple) or not is_text(found.text):
            raise MemorySystemError(f"recall gave {type(found).__name__}, expected a Recalled with hits and a text")
        hits = [self._observed(hit.id, hit.source_ids, hit.content) for hit in _hits("recall", list(found.hits))]
        if found.text:
            hits.append(self._observed("", (), found.text))
        return Observed(asking=asking, hits=tuple(hits))

    def _memory(self, name: str, *, correction: bool = False) -> Memory:
        text = self._texts[name]
        return Memory(
            content=text.content,
            type="correction" if correction else text.type,
            role="correction" if correction else "convention",
            source_id=text.source_id,
        )

    def _query(self, asking: Asking) -> str:
        return asking.query or self._texts[asking.memories[0]].content

    def _observed(self, id_: str, source_ids: tuple[str, ...], content: str) -> ObservedHit:
        return ObservedHit(
            id=id_,
            source_ids=source_ids,
            sha256=hashlib.sha256(content.encode()).hexdigest(),
            holds=tuple(name for name, text in self._texts.items() if text.needle in content),
        )


def _ids(verb: str, found: object) -> list[str]:
    """Return the ids that a verb gave; MemorySystemError for what no receipt can hold as such."""
    if type(found) is not list or not all(is_text(each) and len(each) <= _LONGEST_ID for each in found):
        raise MemorySystemError(f"{verb} gave {shown(found)}, expected ids")
    return [str(each) for each in found]


def _hits(verb: str, found: object) -> list[Hit]:
    """Return what a search gave; MemorySystemError for anything but what it promises."""
    if type(found) is not list:
        raise MemorySystemError(f"{verb} gave {type(found).__name__}, expected a list of hits")
    if len(found) > MOST_HITS:
        raise MemorySystemError(f"{verb} gave {len(found)} hits, expected at most {MOST_HITS}")
    for hit in found:
        if not _sound(hit):
            what = shown(hit._replace(content="…")) if isinstance(hit, Hit) else type(hit).__name__
            raise MemorySystemError(
                f"{verb} gave {what}, expected a Hit with an id, a text, a finite score and a tuple of sources"
            )
    return found


def _sound(hit: object) -> bool:
    return (
        isinstance(hit, Hit)
        and is_text(hit.id)
        and len(hit.id) <= _LONGEST_ID
        and is_text(hit.content)
        and isinstance(hit.score, int | float)
        and isfinite(hit.score)
        and isinstance(hit.source_ids, tuple)
        and all(map(is_text, hit.source_ids))
    )


class _Limit:
    """The clock of a case: when it has run out, a time-out is raised wherever the case is, again and again."""

    def __init__(self, seconds: float) -> None:
        self._before = signal.signal(signal.SIGALRM, self._ring)
        self._last: threading.Timer | None = None
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        """Give the case so many seconds from now."""
        self._stop_last()
        self.seconds = seconds
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
        if multiprocessing.parent_process() is not None:
            # What is stuck where Python cannot interrupt it takes its process down, which is told as that.
            self._last = threading.Timer(seconds + _CLOSING_S, os._exit, (1,))
            self._last.daemon = True
            self._last.start()

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        self._stop_last()

    def _stop_last(self) -> None:
        if self._last is not None:
            self._last.cancel()

    def _ring(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _TimedOut(f"no answer within {self.seconds:g} s")


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[_Limit]:
    limit = _Limit(seconds)
    try:
        yield limit
    finally:
        limit.stop()


@contextlib.contextmanager
def _phase(phase: LifecyclePhase, step: str | None = None) -> Iterator[None]:
    """Turn whatever comes out of a memory system into the failure of `phase`, but for being told to end."""
    try:
        yield
    except (_Broken, ToldToEnd):
        raise
    except BaseException as error:
        said = told(error, _TimedOut)
        raise _Broken(phase, said if step is None else f"{step}: {said}") from error
