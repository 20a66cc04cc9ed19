"""Stores that break one promise each."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from smriti.types import Action, Hit, Memory, Observation
from tests.suites.lifecycle.fakes import Able, Kept, words


class LiesAboutForgetting(Able):
    def forget(self, ids: Sequence[str]) -> None:
        """Say nothing and do nothing."""


class ForgetsTheNeighbour(Able):
    def forget(self, ids: Sequence[str]) -> None:
        del ids
        self.disk.kept.clear()


class KeepsTheForgottenInALayer(Able):
    def __init__(self) -> None:
        super().__init__()
        self._gone: list[Kept] = []

    def forget(self, ids: Sequence[str]) -> None:
        self._gone += [self.disk.kept[id_] for id_ in ids]
        super().forget(ids)

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        gone = [self.hit(kept, 0.0) for kept in self._gone] if layer == "memories" else []
        return (super().search(query, realm, k, layer) + gone)[:k]

    def restart(self) -> None:
        self._gone.clear()


class LeaksAProject(Able):
    def in_reach(self, realm: str) -> list[Kept]:
        del realm
        return list(self.disk.kept.values())


class LeaksAProjectInCompact(Able):
    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        del realm
        return self.found(query, self.disk.kept.values(), k, "memories")


class KeepsToProjects(Able):
    def in_reach(self, realm: str) -> list[Kept]:
        return [kept for kept in self.disk.kept.values() if kept.realm == realm]


class KeepsWhatWasCorrected(Able):
    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        del memory_id
        return self.put(memory.content, memory.source_id, realm, "memories")


class KeepsBoth(Able):
    def same_fact(self, memory: Memory, realm: str) -> list[Kept]:
        del memory, realm
        return []


class KeepsTheStale(Able):
    def one(self, memory: Memory, realm: str) -> str:
        same = self.same_fact(memory, realm)
        return same[0].id if same else super().one(memory, realm)


class LosesTheChangedFact(Able):
    def one(self, memory: Memory, realm: str) -> str:
        same = self.same_fact(memory, realm)
        id_ = super().one(memory, realm)
        return self.disk.kept.pop(id_).id if same else id_


class KeepsWhatWasUpdated(Able):
    def update(self, memory_id: str, content: str) -> str:
        kept = self.disk.kept[memory_id]
        return self.put(content, kept.source_id, kept.realm, kept.layer)


class _Returns(Able):
    """Has something come back with a restart."""

    def __init__(self) -> None:
        super().__init__()
        self._before: list[Kept] = []

    def restart(self) -> None:
        self.disk.kept |= {f"{kept.id}-old": kept for kept in self._before}


class TheForgottenReturns(_Returns):
    def forget(self, ids: Sequence[str]) -> None:
        self._before += [self.disk.kept[id_] for id_ in ids]
        super().forget(ids)


class TheCorrectedReturns(_Returns):
    def correct(self, memory_id: str, memory: Memory, realm: str) -> str:
        self._before.append(self.disk.kept[memory_id])
        return super().correct(memory_id, memory, realm)


class TheUpdatedReturns(_Returns):
    def update(self, memory_id: str, content: str) -> str:
        self._before.append(self.disk.kept[memory_id])
        return super().update(memory_id, content)


class ShortensWhatItExpands(Able):
    def expand(self, memory_id: str) -> str:
        return super().expand(memory_id)[:100]


class LosesWhatItCaptures(Able):
    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        ids = super().capture(observations, realm)
        return [self.disk.kept.pop(id_).id for id_ in ids]


class ForgetsWhereObservationsAreFrom(Able):
    def hit(self, kept: Kept, score: float) -> Hit:
        hit = super().hit(kept, score)
        return hit._replace(source_ids=()) if kept.layer == "observations" else hit


class ForgetsWhereMemoriesAreFrom(Able):
    def hit(self, kept: Kept, score: float) -> Hit:
        hit = super().hit(kept, score)
        return hit._replace(source_ids=()) if kept.layer == "memories" else hit


class NamesAnotherSourceToo(Able):
    def hit(self, kept: Kept, score: float) -> Hit:
        hit = super().hit(kept, score)
        return hit._replace(source_ids=(*hit.source_ids, "more")) if kept.layer == "memories" else hit


class AnswersUnderOtherIds(Able):
    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        return [hit._replace(id=f"other-{hit.id}") for hit in super().search(query, realm, k, layer)]


class AddsWhatNobodyPlanted(Able):
    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        return [*super().search(query, realm, k - 1, layer), Hit("foreign", "Buy milk.", 0.0, ("elsewhere",))]


class InventsACommand(Able):
    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        hits = super().search(query, realm, k, layer)
        return [hit._replace(content=f"{hit.content} For the {query}: `rm -r x`") for hit in hits]


class InventsACommandForTheShop(InventsACommand):
    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        if "shop" in query:
            return super().search(query, realm, k, layer)
        return Able.search(self, query, realm, k, layer)


class TiresOfAQuestion(Able):
    def __init__(self) -> None:
        super().__init__()
        self._asked: list[str] = []

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        self._asked.append(query)
        return super().search(query, realm, 1 if self._asked.count(query) > 2 else k, layer)


class FindsNoQuestions(Able):
    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        return [] if query.endswith("?") else super().search(query, realm, k, layer)


class ActsForNoReason(Able):
    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        del memory_ids
        return super().act(title, (), realm)


class ForgetsToAct(Able):
    def actions(self, realm: str) -> list[Action]:
        del realm
        return []


class DropsBothOfTwo(Able):
    def one(self, memory: Memory, realm: str) -> str:
        same = [kept for kept in self.disk.kept.values() if kept.content == memory.content]
        id_ = super().one(memory, realm)
        for kept in same:
            del self.disk.kept[kept.id]
        return self.disk.kept.pop(id_).id if same else id_


class RefusesTheNearlySame(Able):
    def one(self, memory: Memory, realm: str) -> str:
        new = words(memory.content)
        near = [kept for kept in self.disk.kept.values() if len(new - words(kept.content)) == 2 and len(new) > 10]
        return near[0].id if near and not self.same_fact(memory, realm) else super().one(memory, realm)


class LosesEveryTenthOfMany(Able):
    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        ids = super().remember(memories, realm)
        for id_ in ids[9::10]:
            del self.disk.kept[id_]
        return ids


class CutsWhatIsLong(Able):
    def put(self, content: str, source_id: str, realm: str, layer: str) -> str:
        return super().put(content[:8000], source_id, realm, layer)


class ReadsLatinOnly(Able):
    def put(self, content: str, source_id: str, realm: str, layer: str) -> str:
        return super().put(content.encode("ascii", "replace").decode(), source_id, realm, layer)


class LosesWhatIsWrittenBesides(Able):
    def one(self, memory: Memory, realm: str) -> str:
        id_ = super().one(memory, realm)
        if threading.current_thread() is not threading.main_thread() and self.disk.given % 5 == 0:
            del self.disk.kept[id_]
        return id_


class FailsWhatIsWrittenBesides(Able):
    def one(self, memory: Memory, realm: str) -> str:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("database is locked")
        return super().one(memory, realm)


class HangsInCapture(Able):
    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        del observations, realm
        try:
            threading.Event().wait()
        except Exception:  # noqa: BLE001  # as many a client does that tries again
            return []
        return []


class StuckInCapture(Able):
    """As in code that never comes back to the interpreter, where no signal is heard."""

    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        threading.Event().wait()
        return super().capture(observations, realm)


class DiesInCapture(Able):
    def capture(self, observations: Sequence[Observation], realm: str) -> list[str]:
        del observations, realm
        os._exit(1)


class CannotAct(Able):
    act = None  # type: ignore[assignment]


class ActsWithoutId(Able):
    def act(self, title: str, memory_ids: Sequence[str], realm: str) -> str:
        super().act(title, memory_ids, realm)
        return None  # type: ignore[return-value]


class UpdatesUnderNoId(Able):
    def update(self, memory_id: str, content: str) -> str:
        self.disk.kept[memory_id] = replace(self.disk.kept[memory_id], content=content)
        return ""


FOUND_BY: dict[Callable[[], Able], tuple[str, set[str]]] = {
    LiesAboutForgetting: ("forget", {"restart-forgotten"}),
    ForgetsTheNeighbour: ("forget", {"restart-forgotten"}),
    KeepsTheForgottenInALayer: ("forget", set()),
    LeaksAProject: ("isolation", set()),
    LeaksAProjectInCompact: ("isolation", set()),
    KeepsToProjects: ("no-project", set()),
    KeepsWhatWasCorrected: ("supersede-correct", {"restart-corrected"}),
    KeepsBoth: ("supersede-remember", set()),
    KeepsTheStale: ("supersede-remember", set()),
    LosesTheChangedFact: ("supersede-remember", set()),
    KeepsWhatWasUpdated: ("supersede-update", {"restart-updated"}),
    UpdatesUnderNoId: ("supersede-update", {"restart-updated"}),
    TheForgottenReturns: ("restart-forgotten", set()),
    TheCorrectedReturns: ("restart-corrected", set()),
    TheUpdatedReturns: ("restart-updated", set()),
    ShortensWhatItExpands: ("expand", set()),
    LosesWhatItCaptures: ("capture", set()),
    ForgetsWhereObservationsAreFrom: ("capture", set()),
    ForgetsWhereMemoriesAreFrom: ("provenance", set()),
    NamesAnotherSourceToo: ("provenance", set()),
    AnswersUnderOtherIds: ("ids", set()),
    AddsWhatNobodyPlanted: ("ids", set()),
    InventsACommandForTheShop: ("reader-without-memory", set()),
    TiresOfAQuestion: ("reader-conflict", set()),
    FindsNoQuestions: ("recall", set()),
    ActsForNoReason: ("action", set()),
    ForgetsToAct: ("action", set()),
    CannotAct: ("action", set()),
    ActsWithoutId: ("action", set()),
    DropsBothOfTwo: ("duplicates", set()),
    RefusesTheNearlySame: ("near-duplicates", set()),
    LosesEveryTenthOfMany: ("templated", set()),
    CutsWhatIsLong: ("long", set()),
    ReadsLatinOnly: ("non-latin", set()),
    LosesWhatIsWrittenBesides: ("concurrent", set()),
    FailsWhatIsWrittenBesides: ("concurrent", set()),
    HangsInCapture: ("capture", set()),
}
"""Each break → the check that finds it, and those that fail before they begin, since their control needs the same."""
