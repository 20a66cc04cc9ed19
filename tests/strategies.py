"""What Hypothesis draws, and records built by hand: one place for all tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from smriti.types import (
    AGENT_FAULTS,
    VERDICTS,
    BenchConfig,
    CodeIdentity,
    Fault,
    Manifest,
    PhaseSeconds,
    Status,
    SystemIdentity,
    TaskIdentity,
    TrialRecord,
    Usage,
)

STATUSES: tuple[Status, ...] = (
    *sorted(VERDICTS),
    "skipped",
    *sorted(AGENT_FAULTS),
    "plant_failed",
    "check_timeout",
    "forget_failed",
    "infra_error",
)


def usage(total: int | None) -> Usage:
    if total is None:
        return Usage()
    return Usage(input_tokens=total, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, source="agent")


def record(
    task: str = "alpha",
    condition: str = "on",
    trial: int = 1,
    *,
    status: Status = "passed",
    tokens: int | None = 100,
    confirmed: bool | None = True,
    contaminated: bool | None = False,
    **fields: Any,
) -> TrialRecord:
    """A trial record in which everything that is not given is unremarkable."""
    stated: dict[str, Any] = {
        "case": f"{task}/{condition}/t{trial}",
        "run_id": "run",
        "task_id": task,
        "task_sha256": "0" * 64,
        "family": "convention",
        "split": "visible",
        "condition": condition,
        "trial": trial,
        "order": 0,
        "status": status,
        "passed": status == "passed" if status in VERDICTS else None,
        "usage": usage(tokens),
        "planted_ids": ("m",),
        "injected_ids": ("m",) if confirmed else (),
        "injected_confirmed": confirmed,
        "contaminated": contaminated,
        "echoed": False,
        "seconds": PhaseSeconds(),
        "transcript_sha256": None,
        "diff_sha256": None,
        "fault": None if status in VERDICTS else Fault(status=status, phase="agent", message="planted"),
        "evidence_sha256": "0" * 64,
    }
    return TrialRecord(**{**stated, **fields})


def manifest(tasks: list[str], conditions: list[str], trials: int, *, seed: int = 0, **fields: Any) -> Manifest:
    """A manifest for a matrix of `tasks` × `conditions` × `trials`."""
    stated: dict[str, Any] = {
        "suite": "bench",
        "evidence_class": "rehearsal",
        "run_id": "run",
        "config": BenchConfig(
            memory="embedded", agent="rehearsal", conditions=tuple(conditions), trials=trials, timeout_s=60, seed=seed
        ),
        "code": CodeIdentity(version="0", commit=None, dirty=None, sha256="0" * 64),
        "packages": {},
        "systems": (SystemIdentity(name="embedded", version="1"),),
        "agents": (SystemIdentity(name="rehearsal", version="1"),),
        "artifacts": {},
        "engine": "local",
        "datasets": {},
        "tasks": tuple(
            TaskIdentity(id=task, version=1, family="convention", split="visible", sha256="0" * 64) for task in tasks
        ),
        "selection": {},
        "seed": seed,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": len(tasks) * len(conditions) * trials,
        "started": "2026-01-01T00:00:00+00:00",
    }
    return Manifest(**{**stated, **fields})


@st.composite
def trial_records(draw: st.DrawFn, conditions: tuple[str, ...] = ("off", "on")) -> list[TrialRecord]:
    """Records of some cells of a small matrix, each cell at most once, in any order."""
    cells = [(task, condition, trial) for task in "abcd" for condition in conditions for trial in (1, 2, 3)]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True))
    return [
        record(
            task,
            condition,
            trial,
            status=draw(st.sampled_from(STATUSES)),
            tokens=draw(st.none() | st.integers(0, 1000)),
            confirmed=draw(st.none() | st.booleans()),
            contaminated=draw(st.none() | st.booleans()),
            order=order,
        )
        for order, (task, condition, trial) in enumerate(chosen)
    ]
