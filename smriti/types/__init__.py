"""Every noun of the project: frozen pydantic where it touches disk, frozen dataclasses elsewhere."""

from __future__ import annotations

from smriti.types.agents import AgentRun, Attachment, Completed, Hook, Tokens, Usage
from smriti.types.faults import AGENT_FAULTS, VERDICTS, Fault, Phase, Status
from smriti.types.memory import OWN_REALM, Hit, Memory, MemoryRole, MemoryType, SystemIdentity
from smriti.types.questions import Corpus, DatasetReading, Document, Question
from smriti.types.receipts import (
    BenchConfig,
    CodeIdentity,
    Coverage,
    EvidenceClass,
    FileSeal,
    Interval,
    Manifest,
    Score,
    Seam,
    Summary,
)
from smriti.types.stored import Stored
from smriti.types.tasks import Condition, Family, File, FileTree, Split, Task, TaskFolder, TaskIdentity
from smriti.types.trials import (
    PhaseSeconds,
    Planted,
    TrialCase,
    TrialEvidence,
    TrialRecord,
    trial_realm,
    trial_session_id,
)

__all__ = [
    "AGENT_FAULTS",
    "OWN_REALM",
    "VERDICTS",
    "AgentRun",
    "Attachment",
    "BenchConfig",
    "CodeIdentity",
    "Completed",
    "Condition",
    "Corpus",
    "Coverage",
    "DatasetReading",
    "Document",
    "EvidenceClass",
    "Family",
    "Fault",
    "File",
    "FileSeal",
    "FileTree",
    "Hit",
    "Hook",
    "Interval",
    "Manifest",
    "Memory",
    "MemoryRole",
    "MemoryType",
    "Phase",
    "PhaseSeconds",
    "Planted",
    "Question",
    "Score",
    "Seam",
    "Split",
    "Status",
    "Stored",
    "Summary",
    "SystemIdentity",
    "Task",
    "TaskFolder",
    "TaskIdentity",
    "Tokens",
    "TrialCase",
    "TrialEvidence",
    "TrialRecord",
    "Usage",
    "trial_realm",
    "trial_session_id",
]
