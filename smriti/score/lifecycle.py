"""The lifecycle suite: scripts to calls, what came back to records, and records to figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from smriti.metrics.intervals import wilson
from smriti.score.figure import system_score
from smriti.types import (
    Action,
    Asking,
    ChangedFact,
    Coverage,
    LifecycleCase,
    LifecycleCheck,
    LifecycleEvidence,
    LifecycleManifest,
    LifecycleRecord,
    LifecycleStatus,
    LifecycleStep,
    Observed,
    RecallForm,
    Score,
)

OBSERVATIONS = "observations"
"""The layer in which a store that tells layers apart keeps what was captured."""

MOST_HITS = 10
"""How many hits a look asks for."""

ADDING = ("remember", "write", "capture")
REPLACING = ("correct", "update")
LOOKS = ("search", "compact", "expand", "recall", "read", "actions")
"""Verbs by what they do; `forget`, `act` and `restart` are each of their own."""

_FORMS: tuple[RecallForm, ...] = ("full", "narrative")


def missing(check: LifecycleCheck, capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return what the check needs and a system does not declare."""
    return tuple(need for need in check.needs if need not in set(capabilities))


def unfold(check: LifecycleCheck, capabilities: Iterable[str], layers: Sequence[str]) -> list[Asking]:
    """Lay out every call that the check makes of a system with these capabilities and layers, in order."""
    return [asking for step in check.steps for asking in _askings(step, frozenset(capabilities), layers)]


def first_broken(check: LifecycleCheck, observed: Sequence[Observed]) -> Observed | None:
    """Return the first call that did not bring what it had to; None where all did."""
    seen = _Seen(check)
    return next((each for each in observed if not seen.shows(each)), None)


def chosen(commands: Sequence[str]) -> str | None:
    """Return the reader's choice of the commands that texts name for a task: it abstains on none and on several."""
    return commands[0] if len(commands) == 1 else None


@dataclass(frozen=True)
class LifecycleScoring:
    """How one run of the lifecycle suite is scored."""

    manifest: LifecycleManifest
    evidence_type = LifecycleEvidence
    record_type = LifecycleRecord

    def plan(self) -> list[LifecycleCase]:
        """Lay out every check of every system, system by system."""
        cells = [(system, check.id) for system in self.manifest.config.memory for check in self.manifest.checks]
        return [LifecycleCase(*cell, order) for order, cell in enumerate(cells)]

    def planned(self, system: str, check: str) -> list[Asking]:
        """Return every call of one case; none where the system lacks what the check needs."""
        script, capabilities = self._checks[check], self.manifest.capabilities.get(system, ())
        if missing(script, capabilities):
            return []
        return unfold(script, capabilities, self.manifest.layers.get(system, ()))

    def record(self, evidence: LifecycleEvidence, evidence_sha256: str) -> LifecycleRecord:
        check = self._checks.get(evidence.check)
        if check is None:  # a row of another run: the rules refuse it, and there is nothing to score it by
            return _nothing(evidence, evidence_sha256)
        lacks = missing(check, self.manifest.capabilities.get(evidence.system, ()))
        broken = first_broken(check, evidence.observed)
        whole = len(evidence.observed) == len(self.planned(evidence.system, evidence.check))
        status: LifecycleStatus = "passed"
        if lacks:
            status = "unsupported"
        elif evidence.fault is not None or broken is not None or not whole:
            status = "failed"
        return LifecycleRecord(
            case=evidence.case,
            run_id=evidence.run_id,
            order=evidence.order,
            evidence_sha256=evidence_sha256,
            system=evidence.system,
            check=evidence.check,
            status=status,
            calls=len(evidence.observed),
            broken=None if broken is None else broken.asking.step,
            broken_part=None if broken is None else broken.asking.part,
            missed=len({name for each in evidence.observed for name in set(each.asking.wanted) - held(each)}),
            strays=len({name for each in evidence.observed for name in set(each.asking.unwanted) & held(each)}),
            changed_fact=_changed_fact(check, evidence.observed),
            missing=lacks,
            fault=evidence.fault,
        )

    def coverage(self, records: Sequence[LifecycleRecord]) -> Coverage:
        """Count cases that were gone through, that broke off, and that a system lacks the capabilities for."""
        skipped = sum(record.status == "unsupported" for record in records)
        failed = sum(record.fault is not None for record in records)
        completed = len(records) - skipped - failed
        return Coverage(planned=self.manifest.planned, completed=completed, failed=failed, skipped=skipped)

    def scores(self, records: Sequence[LifecycleRecord]) -> tuple[Score, ...]:
        """Compute the figures of each system: how many checks it passes, of those that it can be asked and of all."""
        scores: list[Score] = []
        for system in self.manifest.config.memory:
            own = sorted((record for record in records if record.system == system), key=lambda record: record.order)
            scores += _system_scores(system, own)
        return tuple(scores)

    def flags(self, records: Sequence[LifecycleRecord], scores: Sequence[Score]) -> tuple[str, ...]:
        """Say, most important first, what must be known before any figure is read; each flag is `name: sentence`."""
        del scores
        ordered = sorted(records, key=lambda record: record.order)
        flags: list[str] = []
        if self.manifest.evidence_class == "development":
            flags.append("development: other checks than those that come with smriti, or uncommitted code")
        faults = [f"{record.case} ({record.fault.phase})" for record in ordered if record.fault is not None]
        if faults:
            flags.append(f"faults: {_count(faults)} broke off and failed: {', '.join(faults)}")
        broken = [record for record in ordered if record.fault is None and record.broken is not None]
        controls = [f"{record.case} ({record.broken})" for record in broken if record.broken_part == "control"]
        if controls:
            flags.append(
                f"controls: {_count(controls)} failed before anything could be checked, since what has to work first "
                f"did not: {', '.join(controls)}"
            )
        checks = [f"{record.case} ({record.broken})" for record in broken if record.broken_part == "check"]
        if checks:
            flags.append(f"failed: {_count(checks)} did not show what they had to: {', '.join(checks)}")
        facts = [f"{record.case} {record.changed_fact}" for record in ordered if record.changed_fact is not None]
        if facts:
            flags.append(f"changed fact: what is found of it afterwards: {', '.join(facts)}")
        lacking = [f"{record.case} ({', '.join(record.missing)})" for record in ordered if record.missing]
        if lacking:
            flags.append(
                f"unsupported: {_count(lacking)} need what the system does not declare, and were not asked: "
                f"{', '.join(lacking)}"
            )
        return tuple(flags)

    @cached_property
    def _checks(self) -> Mapping[str, LifecycleCheck]:
        return {check.id: check for check in self.manifest.checks}


def held(observed: Observed) -> set[str]:
    """Return the memories whose telling words came back."""
    return {name for hit in observed.hits for name in hit.holds}


def _askings(step: LifecycleStep, capabilities: frozenset[str], layers: Sequence[str]) -> Iterator[Asking]:
    main = Asking(
        step=step.name,
        part=step.part,
        verb=step.verb,
        realm=step.realm,
        layer=OBSERVATIONS if step.observed and OBSERVATIONS in layers else None,
        form="full" if step.verb == "recall" else None,
        memories=step.memories,
        query=step.query,
        wanted=step.wanted,
        unwanted=step.unwanted,
        demands=step.demands,
        command=step.command,
    )
    if step.each:
        for name in step.wanted:
            yield main.model_copy(update={"memories": (name,), "query": "", "wanted": (name,)})
        return
    yield main
    if step.everywhere:
        for layer in layers:
            yield main.model_copy(update={"layer": layer, "wanted": ()})
        if "expand" in capabilities:
            yield main.model_copy(update={"verb": "compact"})
        if "budget" in capabilities:
            for form in _FORMS:
                yield main.model_copy(update={"verb": "recall", "form": form})


class _Seen:
    """What the calls of one case have shown so far."""

    def __init__(self, check: LifecycleCheck) -> None:
        self._memories = check.memories
        self._given: set[str] = set()
        self._acted: list[Action] = []

    def shows(self, observed: Observed) -> bool:
        """Tell whether a call brought what its script demands, and keep what later ones are held against."""
        asking = observed.asking
        if asking.verb in LOOKS:
            return self._looks(observed)
        if asking.verb in ADDING or asking.verb in REPLACING:
            self._given.update(observed.ids)
            texts = asking.memories[1:] if asking.verb in REPLACING else asking.memories
            return len(observed.ids) == len(texts) and all(observed.ids) and self._apart(texts, observed.ids)
        if asking.verb == "act":
            self._acted += observed.actions
            return any(act.id and act.memory_ids and act.title == asking.command for act in observed.actions)
        return True

    def _apart(self, names: Sequence[str], ids: Sequence[str]) -> bool:
        """Tell whether different texts have different ids."""
        return len(set(ids)) >= len(self._digests(names))

    def _looks(self, observed: Observed) -> bool:
        asking, found = observed.asking, held(observed)
        demands = {"whole": self._whole, "sources": self._sources, "known": self._known}
        return (
            found.issuperset(asking.wanted)
            and found.isdisjoint(asking.unwanted)
            and all(demands[demand](observed) for demand in asking.demands)
            and (asking.verb != "read" or chosen(observed.commands) == asking.command)
            and (asking.verb != "actions" or all(act in observed.actions for act in self._acted))
        )

    def _whole(self, observed: Observed) -> bool:
        return self._digests(observed.asking.wanted) <= {hit.sha256 for hit in observed.hits}

    def _sources(self, observed: Observed) -> bool:
        return all(
            set(hit.source_ids) == {self._memories[name].source_id for name in hit.holds if name in self._memories}
            for hit in observed.hits
            if hit.holds
        )

    def _digests(self, names: Iterable[str]) -> set[str]:
        """Return the digests of the texts; for a name that the check does not have, what no text has."""
        return {self._memories[name].sha256 if name in self._memories else "" for name in names}

    def _known(self, observed: Observed) -> bool:
        return self._given.issuperset(hit.id for hit in observed.hits)


def _changed_fact(check: LifecycleCheck, observed: Sequence[Observed]) -> ChangedFact | None:
    if check.changes is None:
        return None
    looks = [
        held(each)
        for each in observed
        if each.asking.part == "check" and each.asking.verb == "search" and each.asking.layer is None
    ]
    if not looks:
        return None
    old, new = (name in looks[-1] for name in check.changes)
    found: dict[tuple[bool, bool], ChangedFact] = {
        (False, True): "superseded",
        (True, True): "both",
        (True, False): "stale only",
        (False, False): "neither",
    }
    return found[old, new]


def _nothing(evidence: LifecycleEvidence, evidence_sha256: str) -> LifecycleRecord:
    return LifecycleRecord(
        case=evidence.case,
        run_id=evidence.run_id,
        order=evidence.order,
        evidence_sha256=evidence_sha256,
        system=evidence.system,
        check=evidence.check,
        status="failed",
        calls=len(evidence.observed),
        broken=None,
        broken_part=None,
        missed=0,
        strays=0,
        changed_fact=None,
        missing=(),
        fault=evidence.fault,
    )


def _system_scores(system: str, records: Sequence[LifecycleRecord]) -> Iterator[Score]:
    everything = len(records)
    counts = {status: sum(record.status == status for record in records) for status in _STATUSES}
    for status, count in counts.items():
        yield system_score(status, system, "all", float(count), everything)
    passed, asked = counts["passed"], counts["passed"] + counts["failed"]
    for metric, n in (("pass_rate", asked), ("pass_rate_over_all", everything)):
        value = passed / n if n else None
        yield system_score(metric, system, "all", value, n, excluded=everything - n, interval=wilson(passed, n))
    for record in records:
        supported = record.status != "unsupported"
        value = float(record.status == "passed") if supported else None
        yield system_score("pass_rate", system, record.check, value, int(supported), excluded=int(not supported))


_STATUSES: tuple[LifecycleStatus, ...] = ("passed", "failed", "unsupported")


def _count(cases: Sequence[str]) -> str:
    return "1 case" if len(cases) == 1 else f"{len(cases)} cases"
