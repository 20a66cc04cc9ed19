"""State what a bench run is about to do, before it does anything."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from smriti.errors import UsageError
from smriti.protocols import Agent, MemorySystem
from smriti.receipts.fingerprint import code_identity, host, installed_packages
from smriti.suites.identity import identity_of
from smriti.types import BenchConfig, BenchManifest, CodeIdentity, Condition, EvidenceClass, TaskFolder, TaskIdentity


def resolve_conditions(given: str | None, memory: MemorySystem) -> tuple[str, ...]:
    """Read a comma list of conditions; None is off, on and, for a system with lanes, ablate:all.

    UsageError for an unknown condition, one named twice, or a lane that the system does not have.
    """
    if given is None:
        return ("off", "on", "ablate:all") if memory.lanes else ("off", "on")
    conditions = [_condition(text.strip(), memory) for text in given.split(",")]
    for condition in conditions:
        if conditions.count(condition) > 1:
            raise UsageError(f"--conditions names {condition} twice; each is run --trials times anyway")
    return tuple(str(condition) for condition in conditions)


def bench_manifest(
    config: BenchConfig,
    tasks: Sequence[TaskFolder],
    *,
    memory: MemorySystem,
    file_memory: MemorySystem,
    agent: Agent,
    selection: dict[str, object],
    engine: str,
    sandbox: str,
    jobs: int,
    delivery: str,
) -> BenchManifest:
    """Describe the run as it would start now; UsageError when no task is selected.

    `delivery` is what `probe_delivery` found.
    """
    if not tasks:
        raise UsageError("no task is selected; `smriti tasks list` shows what there is")
    now = datetime.now(UTC)
    code = code_identity()
    systems = [memory, file_memory] if "file" in config.conditions and file_memory.name != memory.name else [memory]
    return BenchManifest(
        suite="bench",
        evidence_class=_evidence_class(agent, code, selection),
        run_id=f"{now:%Y%m%dt%H%M%S}-{secrets.token_hex(3)}",
        config=config,
        code=code,
        packages=installed_packages(),
        systems=tuple(map(identity_of, systems)),
        agents=(identity_of(agent),),
        scripted=agent.scripted,
        delivery=delivery,
        artifacts={},
        engine=engine,
        datasets={},
        tasks=tuple(
            TaskIdentity(
                id=folder.task.id,
                version=folder.task.version,
                family=folder.task.family,
                split=folder.task.split,
                sha256=folder.sha256,
            )
            for folder in tasks
        ),
        selection=selection,
        seed=config.seed,
        sandbox=sandbox,
        jobs=jobs,
        host=host(),
        planned=len(tasks) * len(config.conditions) * config.trials,
        started=now.isoformat(timespec="seconds"),
    )


def _condition(text: str, memory: MemorySystem) -> Condition:
    """Read one condition that `memory` can run; UsageError with the nearest one that it can."""
    try:
        condition = Condition.parse(text)
    except UsageError as error:
        raise UsageError(f"--conditions: {error}{_did_you_mean(text, memory)}") from None
    if condition.kind == "ablate" and not memory.lanes:
        raise UsageError(f"--conditions names {condition}, but memory system {memory.name!r} has no lanes to ablate")
    if condition.kind == "ablate" and condition.lane not in {"all", *memory.lanes}:
        raise UsageError(
            f"--conditions names {condition}, which memory system {memory.name!r} cannot run: "
            f"its lanes are {', '.join(memory.lanes)}{_did_you_mean(text, memory)}"
        )
    return condition


def _did_you_mean(text: str, memory: MemorySystem) -> str:
    lanes = [f"ablate:{lane}" for lane in ("all", *memory.lanes)] if memory.lanes else []
    close = difflib.get_close_matches(text, ["off", "on", "handed", "placebo", "file", *lanes], n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _evidence_class(agent: Agent, code: CodeIdentity, selection: dict[str, object]) -> EvidenceClass:
    if agent.scripted:
        return "rehearsal"
    whole_corpus = selection["selected"] == selection["of"]
    return "measured" if whole_corpus and code.commit and not code.dirty else "development"
