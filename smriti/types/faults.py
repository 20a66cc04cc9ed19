"""How an attempt ends, and why one has no verdict."""

from __future__ import annotations

from typing import Literal

from smriti.types.stored import Stored

Phase = Literal["prepare", "plant", "attach", "agent", "confirm", "grade", "forget", "teardown"]

Status = Literal[
    "passed",
    "failed",
    "skipped",
    "plant_failed",
    "agent_timeout",
    "agent_error",
    "token_limit",
    "check_timeout",
    "check_error",
    "forget_failed",
    "memory_error",
    "infra_error",
]
"""How a trial ended: `passed` and `failed` are the check's verdicts, `skipped` was not tried, the rest are faults."""

VERDICTS: frozenset[Status] = frozenset({"passed", "failed"})

AGENT_FAULTS: frozenset[Status] = frozenset({"agent_timeout", "agent_error", "token_limit"})
"""Faults that are the agent's own doing: the attempt failed as surely as one that the check refused."""


class Fault(Stored):
    """Why a case has no verdict: the status it ends in, the phase that failed, and what was found there."""

    status: Status
    phase: Phase
    message: str
