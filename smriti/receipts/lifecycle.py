"""What the receipts of the lifecycle suite are held to: the calls of its scripts, and what those can bring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from smriti.receipts.check import Check, judge, repeated
from smriti.score.lifecycle import ADDING, LOOKS, MOST_HITS, REPLACING, LifecycleScoring, missing
from smriti.types import (
    Asking,
    LifecycleCheck,
    LifecycleEvidence,
    LifecycleManifest,
    LifecycleStep,
    Observed,
    ObservedHit,
)

_PLACE = attrgetter("system", "check", "order")
_GIVES_NO_IDS = {"search", "compact", "recall", "read", "actions", "restart"}
_GIVES_NO_HITS = {*ADDING, *REPLACING, "forget", "act", "restart", "actions"}


def script_problems(check: LifecycleCheck) -> Iterator[str]:
    """Say what makes a script one that cannot be gone through, or that concludes without a control."""
    steps = check.steps
    parts = [step.part for step in steps]
    if set(parts) != {"control", "check"} or parts != sorted(parts, reverse=True):
        yield "expected control steps first, and check steps after them"
    for part in ("control", "check"):
        if not any(step.part == part and step.verb in LOOKS for step in steps):
            yield f"no look in its {part} part"
    yield from (f"the step name {name!r} twice" for name in repeated([step.name for step in steps]))
    if check.changes is not None and not set(check.changes) <= check.memories.keys():
        yield f"a changed fact {check.changes} that it does not have"
    kept: set[str] = set()
    for step in steps:
        yield from (f"step {step.name!r}: {why}" for why in _step_problems(check, step, kept))


def _step_problems(check: LifecycleCheck, step: LifecycleStep, kept: set[str]) -> Iterator[str]:
    """Say what is wrong with a step after those that have put `kept` into the store, and add what it puts there."""
    known = check.memories.keys()
    unknown = {*step.memories, *step.wanted, *step.unwanted} - known
    if unknown:
        yield f"unknown memories {', '.join(sorted(unknown))}"
    if set(step.wanted) & set(step.unwanted):
        yield "wanted and unwanted at once"
    yield from _look_problems(step) if step.verb in LOOKS else _change_problems(step)
    needed = step.memories[:1] if step.verb in REPLACING else step.memories if step.verb in {"forget", "expand"} else ()
    if not kept.issuperset(needed):
        yield f"{', '.join(sorted(set(needed) - kept))} was not remembered before"
    kept.update(step.memories if step.verb in ADDING else step.memories[1:] if step.verb in REPLACING else ())


def _look_problems(step: LifecycleStep) -> Iterator[str]:
    if not step.each and step.verb not in {"expand", "actions"} and not step.query:
        yield "no query"
    if step.verb != "actions" and step.command is None and not (step.wanted or step.unwanted):
        yield "nothing wanted and nothing unwanted"
    if (step.everywhere or step.each) and step.verb != "search":
        yield "everywhere and each are ways to search"
    if step.verb == "expand" and len(step.memories) != 1:
        yield f"{len(step.memories)} memories, expected one"


def _change_problems(step: LifecycleStep) -> Iterator[str]:
    if step.verb == "act" and (len(step.memories) != 1 or step.command is None):
        yield "expected one memory and the command that it names"
    if step.verb in REPLACING and len(step.memories) != 2:
        yield f"{len(step.memories)} memories, expected the old one and the new one"
    if step.verb in {*ADDING, "forget"} and not step.memories:
        yield "no memories"


class LifecycleRules:
    """The rules of one run of the lifecycle suite."""

    def __init__(self, manifest: LifecycleManifest) -> None:
        self._manifest = manifest
        self._scoring = LifecycleScoring(manifest)
        self._checks = {check.id: check for check in manifest.checks}
        self.plan_size = len(manifest.config.memory) * len(manifest.checks)
        self.step_size = 1

    def manifest_problems(self) -> Iterator[str]:
        manifest = self._manifest
        systems = manifest.config.memory
        for names in (systems, [check.id for check in manifest.checks]):
            yield from (f"{name} twice" for name in repeated(names))
        if len(manifest.systems) != len(systems):
            yield f"{len(manifest.systems)} systems identified, {len(systems)} named"
        for name, of in (("capabilities", manifest.capabilities), ("layers", manifest.layers)):
            if list(of) != list(systems):
                yield f"{name} of {', '.join(of)}, expected of {', '.join(systems)}"
            if any(list(each) != sorted(set(each)) for each in of.values()):
                yield f"{name} that are not sorted, or twice the same"
        bare = [
            name for name, of in manifest.layers.items() if of and "layers" not in manifest.capabilities.get(name, ())
        ]
        yield from (f"layers of {name}, which does not declare the capability" for name in bare)
        count = len(manifest.checks)
        if manifest.selection != {"selected": count, "of": count}:
            yield f"selection {manifest.selection}, expected all {count} checks"
        for check in manifest.checks:
            yield from (f"check {check.id}: {why}" for why in script_problems(check))

    def evidence_class(self) -> Check:
        manifest = self._manifest
        if manifest.evidence_class == "development":
            return Check("class", True, "development: other checks or uncommitted code; it supports no claim")
        if manifest.evidence_class != "component":
            return Check("class", False, f"{manifest.evidence_class}: {manifest.suite} is run without an agent")
        code, wrong = manifest.code, []
        if code.commit is None or code.dirty is not False:
            wrong.append(f"component needs clean code of a known commit, found {code.commit!r}, dirty {code.dirty!r}")
        return judge("class", wrong, f"component: every check, by the code of commit {code.commit}")

    def row_problems(self, row: LifecycleEvidence) -> Iterator[str]:
        """Say what no case can have left behind: other calls than its script makes, or what no call brings."""
        check = self._checks.get(row.check)
        if check is None or row.system not in self._manifest.config.memory:
            yield f"check {row.check!r} of {row.system!r}, which the manifest does not have"
            return
        lacks = missing(check, self._manifest.capabilities.get(row.system, ()))
        if lacks:
            if row.observed or row.fault is not None:
                yield f"it was asked, and yet the system does not declare {', '.join(lacks)}"
            return
        strange = list(self._strange_course(row))
        yield from strange
        yield from () if strange else _strange_answers(check, row.observed)

    def place(self, case: object) -> tuple[object, ...]:
        return tuple(_PLACE(case))

    def unchecked(self) -> Check:
        named = ", ".join(f"{name} {sha256}" for name, sha256 in self._manifest.datasets.items())
        return Check("data set", None, f"the texts of the checks: they are not part of a receipt ({named})")

    def _strange_course(self, row: LifecycleEvidence) -> Iterator[str]:
        planned = self._scoring.planned(row.system, row.check)
        count = len(row.observed)
        if [observed.asking for observed in row.observed] != planned[:count]:
            yield "its calls are not those of the check"
        elif row.fault is None:
            if count < len(planned):
                yield f"no fault, and yet {count} of {len(planned)} calls"
        elif row.fault.phase in {"init", "process"}:
            if count:
                yield f"failed in {row.fault.phase}, and yet it made calls"
        elif row.fault.phase == "teardown":
            if count < len(planned):
                yield f"failed in teardown, after {count} of {len(planned)} calls"
        elif count == len(planned) or planned[count].part != row.fault.phase:
            yield f"failed in {row.fault.phase}, which is not where its calls end"


def _strange_answers(check: LifecycleCheck, course: Sequence[Observed]) -> Iterator[str]:
    """Say what calls cannot have brought which are those of the check."""
    yield from _strange_ids(course)
    texts: dict[str, tuple[str, ...]] = {}
    for observed in course:
        for why in _strange_answer(check, observed, texts):
            yield f"{observed.asking.step}: {why}"


def _strange_ids(observed: Sequence[Observed]) -> Iterator[str]:
    """Say where a call was given another id than the store had given out before, or another than it had returned."""
    ids: dict[str, str] = {}
    last: tuple[ObservedHit, ...] = ()
    for each in observed:
        asking = each.asking
        if asking.verb in ADDING:
            ids |= dict(zip(asking.memories, each.ids, strict=False))
        elif asking.verb in REPLACING:
            ids |= dict(zip(asking.memories[1:], each.ids, strict=False))
        elif asking.verb == "forget" and list(each.ids) != [ids.get(name, "") for name in asking.memories]:
            yield f"{asking.step}: other ids are forgotten than were given out"
        elif asking.verb == "expand" and each.ids != target(last, asking, ids):
            yield f"{asking.step}: another hit is expanded than was found"
        elif asking.verb == "act":
            following = tuple(hit.id for hit in last if set(asking.memories[:1]) <= set(hit.holds))
            if any(act.memory_ids != following for act in each.actions):
                yield f"{asking.step}: it does not follow from the hits before it"
        if asking.verb in {"search", "compact", "read"}:
            last = each.hits


def target(hits: Sequence[ObservedHit], asking: Asking, ids: Mapping[str, str]) -> tuple[str, ...]:
    """Return the id to expand: of the first hit that holds the memory, or else the one that was given out for it."""
    return tuple(next((hit.id for hit in hits if name in hit.holds), ids.get(name, "")) for name in asking.memories[:1])


def _strange_answer(check: LifecycleCheck, observed: Observed, texts: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Say what the verb cannot have brought; `texts` is what each text of the row holds, as far as it was seen."""
    verb, hits = observed.asking.verb, observed.hits
    if (observed.ids and verb in _GIVES_NO_IDS) or (hits and verb in _GIVES_NO_HITS):
        yield f"ids or hits, which {verb} does not bring"
    if (verb == "expand" and len(hits) != 1) or len(hits) > MOST_HITS + (verb == "recall"):
        yield f"{len(hits)} hits"
    yield from _strange_reading(check, observed)
    yield from _strange_actions(observed)
    for hit in observed.hits:
        yield from _strange_hit(check, hit)
        if texts.setdefault(hit.sha256, hit.holds) != hit.holds:
            yield "one text holds two different things"


def _strange_reading(check: LifecycleCheck, observed: Observed) -> Iterator[str]:
    if observed.commands and observed.asking.verb != "read":
        yield "commands without a reader"
    if list(observed.commands) != sorted(set(observed.commands)):
        yield "commands that are not sorted, or twice the same"
    whole = {hit.sha256 for hit in observed.hits}
    told = {
        memory.command
        for name, memory in check.memories.items()
        if memory.sha256 in whole and name in observed.asking.wanted and memory.command is not None
    }
    if observed.asking.verb == "read" and not told.issubset(observed.commands):
        yield "the reader did not see a command that the texts name"


def _strange_actions(observed: Observed) -> Iterator[str]:
    verb = observed.asking.verb
    if verb == "act" and ([act.id for act in observed.actions] != list(observed.ids) or len(observed.ids) != 1):
        yield "another action than the one that was recorded"
    if observed.actions and verb not in {"act", "actions"}:
        yield "actions of another verb"


def _strange_hit(check: LifecycleCheck, hit: ObservedHit) -> Iterator[str]:
    if list(hit.holds) != [name for name in check.memories if name in hit.holds]:
        yield "a text that holds what the check does not have"
    same = [name for name, memory in check.memories.items() if memory.sha256 == hit.sha256]
    if same and not set(hit.holds).issuperset(same):
        yield "the very text of a memory, and yet it does not hold it"
