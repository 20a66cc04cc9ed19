"""What the receipts of the bench are held to: rows that a trial of the manifest's tasks can have left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter

from smriti.receipts.check import Check, judge, repeated
from smriti.types import VERDICTS, BenchManifest, TrialCase, TrialEvidence, trial_realm

_PLACE = attrgetter("task_id", "condition", "trial", "order")
_SCRIPTED = {"nop", "oracle", "rehearsal"}
"""Agents that come with smriti and solve by script."""
_UNPLANTED = {"off", "handed", "placebo"}
"""Conditions under which no store holds anything."""


class TrialRules:
    """The rules of one run of the bench."""

    step_size = 1

    def __init__(self, manifest: BenchManifest) -> None:
        self._manifest = manifest
        self._tasks = {task.id: (task.sha256, task.family, task.split) for task in manifest.tasks}
        self.plan_size = len(manifest.tasks) * len(manifest.config.conditions) * manifest.config.trials
        """The trials that the manifest's tasks, conditions and trials make."""

    def manifest_problems(self) -> Iterator[str]:
        manifest = self._manifest
        for names in ([task.id for task in manifest.tasks], manifest.config.conditions):
            yield from (f"{name} twice" for name in repeated(names))
        if manifest.seed != manifest.config.seed:
            yield f"seed {manifest.seed}, and {manifest.config.seed} in its config"
        if len(manifest.agents) != 1 or not 1 <= len(manifest.systems) <= 1 + ("file" in manifest.config.conditions):
            yield f"{len(manifest.systems)} memory systems and {len(manifest.agents)} agents identified"
        if manifest.config.agent.partition(":")[0] in _SCRIPTED and not manifest.scripted:
            yield f"agent {manifest.config.agent} is scripted, which it does not say"
        chosen, of = manifest.selection.get("selected"), manifest.selection.get("of")
        if chosen != len(manifest.tasks) or not isinstance(of, int) or of < len(manifest.tasks):
            yield f"{chosen!r} of {of!r} tasks selected, {len(manifest.tasks)} named"

    def evidence_class(self) -> Check:
        manifest = self._manifest
        code, chosen, of = manifest.code, manifest.selection.get("selected"), manifest.selection.get("of")
        match manifest.evidence_class:
            case "rehearsal":
                wrong = [] if manifest.scripted else ["rehearsal, and its agent is not said to be scripted"]
                return judge("class", wrong, "rehearsal: a script was the agent; no figure is one of a memory system")
            case _ if manifest.scripted:
                return Check(
                    "class", False, f"{manifest.evidence_class}, and its agent is scripted: that is a rehearsal"
                )
            case "development":
                return Check(
                    "class", True, "development: a selection, a limit or uncommitted code; it supports no claim"
                )
            case "component":
                return Check("class", False, f"component: {manifest.suite} puts no retrieval component under test")
        wrong = []
        if code.commit is None or code.dirty is not False:
            wrong.append(f"measured needs clean code of a known commit, found {code.commit!r}, dirty {code.dirty!r}")
        if not chosen == of == len(manifest.tasks):
            wrong.append(f"measured needs the whole corpus, found {chosen!r} of {of!r} and {len(manifest.tasks)} tasks")
        return judge("class", wrong, f"measured: the whole corpus, by the code of commit {code.commit}")

    def row_problems(self, row: TrialEvidence) -> Iterator[str]:
        yield from _misplacements(self._tasks, row)
        yield from _misplanted(row)
        yield from _contradictions(self._manifest, row)

    def place(self, case: object) -> tuple[object, ...]:
        return tuple(_PLACE(case))

    def unchecked(self) -> Check:
        count = len(self._manifest.tasks)
        return Check("tasks", None, f"the {count} task folders named in the manifest are not part of a receipt")


def _misplacements(tasks: Mapping[str, tuple[str, str, str]], row: TrialEvidence) -> Iterator[str]:
    """Say what makes a row one of another trial."""
    task = tasks.get(row.task_id)
    if task is None:
        yield f"task {row.task_id!r} is not in the manifest"
    elif (row.task_sha256, row.family, row.split) != task:
        yield "another task of that name than the manifest's"
    if row.realm != trial_realm(row.run_id, TrialCase(row.task_id, row.condition, row.trial, row.order)):
        yield f"realm {row.realm!r} is another trial's"


def _misplanted(row: TrialEvidence) -> Iterator[str]:
    """Say what no store and no channel can have held."""
    if len({planted.id for planted in row.planted}) < len(row.planted):
        yield "a memory planted twice under one id"
    if row.condition in _UNPLANTED and row.planted:
        yield f"{len(row.planted)} memories planted under {row.condition}"
    if row.condition == "off" and row.delivery != "none":
        yield f"memory delivered by {row.delivery!r} under off"


def _contradictions(manifest: BenchManifest, row: TrialEvidence) -> Iterator[str]:
    """Say what no trial can have left behind."""
    blobs = row.blobs
    if (row.turns or 0) < 0 or any((seconds or 0) < 0 for _, seconds in row.seconds):
        yield "fewer turns than none, or an end before its beginning"
    if row.fault is None:
        if row.check_exit_status is None or row.check_exit_status < 0 or len(blobs) < 3:
            yield "no fault, and yet no verdict, or no transcript, diff and check output"
        limit = manifest.config.max_tokens
        if limit is not None and (row.usage.total or 0) > limit:
            yield f"no fault, and {row.usage.total} tokens used where {limit} are allowed"
    elif row.fault.status in VERDICTS:
        yield f"its fault has the status {row.fault.status!r}, which is a verdict"
    elif row.fault.status == "skipped" and (blobs or row.planted or row.agent_exit_status is not None):
        yield "skipped, and yet it ran"
    if row.echoed_ids and not {planted.id for planted in row.planted}.issuperset(row.echoed_ids):
        yield "it echoed what was not planted"
