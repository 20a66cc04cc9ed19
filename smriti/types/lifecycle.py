"""Checks of what a memory system does with a memory over its life: case, evidence, record; and the manifest of a run.

A check is a script: steps that change a store, and looks at it. The manifest holds every script, so that a reader of a
receipt knows what each look had to show, and only what came back is a matter of evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from smriti.types.memory import Action, MemoryType, RecallForm
from smriti.types.receipts import Config, Evidence, Manifest, Record
from smriti.types.stored import Stored

LIFECYCLE_CHECKS = "coding-memory-lifecycle-v1"
"""The name of the checks that come with smriti."""

StepPart = Literal["control", "check"]
"""What has to work before anything can be concluded, or what is checked."""

ChangeVerb = Literal["remember", "write", "correct", "update", "forget", "capture", "act", "restart"]
"""`write` is remembered by several threads at once; `act` records the command that a memory names."""

LookVerb = Literal["search", "compact", "expand", "recall", "read", "actions"]
"""`read` asks the reader which command the hits of a search name for a task."""

StepVerb = Literal[ChangeVerb, LookVerb]

StepRealm = Literal["own", "other", "none"]
"""The case's project, another, or no project at all."""

LookDemand = Literal["whole", "sources", "known"]
"""Beside being found: under its whole text, naming its source and no other, or under no id that was not given out."""

LifecycleStatus = Literal["passed", "failed", "unsupported"]

LifecyclePhase = Literal["init", "control", "check", "teardown", "process"]
"""Where a case broke: opening the store, in a step of either part, closing it, or by the end of the whole process."""

ChangedFact = Literal["superseded", "both", "stale only", "neither"]
"""What is found of a fact and of what it was before."""


class LifecycleStep(Stored):
    """One step of a check as its script has it."""

    name: str = Field(min_length=1)
    part: StepPart
    verb: StepVerb
    realm: StepRealm = "own"
    memories: tuple[str, ...] = ()
    """What the verb is given, by the names of the check; for correct and update the old one and the new one."""
    query: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    demands: tuple[LookDemand, ...] = ()
    command: str | None = None
    """What the reader has to read; None has it abstain."""
    everywhere: bool = False
    """Look also by every other search that the system offers; a layer of its own need not hold what is wanted."""
    observed: bool = False
    """Look in the layer of observations, where there is one."""
    each: bool = False
    """Look for each of `wanted` by itself, with its own text as the query."""


class PlannedMemory(Stored):
    """A text of a check, as far as the manifest needs it."""

    source_id: str
    sha256: str
    """Of its text."""
    command: str | None
    """What it says to run."""


class LifecycleCheck(Stored):
    """A check as the manifest has it."""

    id: str = Field(min_length=1)
    says: str = Field(min_length=1)
    """What holds of a system that passes."""
    needs: tuple[str, ...]
    """Capabilities without which a system is not asked."""
    changes: tuple[str, str] | None
    """A fact before and after it changed, by the names of the check; None in a check of something else."""
    memories: dict[str, PlannedMemory]
    steps: tuple[LifecycleStep, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class LifecycleCase:
    """One check of one system, with its place in the order of the whole run."""

    system: str
    check: str
    order: int
    """From 0 over the whole run."""

    @property
    def id(self) -> str:
        return f"{self.system}/{self.check}"


class Asking(Stored):
    """One call of a verb, as the script makes it for one system."""

    step: str
    part: StepPart
    verb: StepVerb
    realm: StepRealm
    layer: str | None
    form: RecallForm | None
    memories: tuple[str, ...]
    query: str
    """Empty where the text of the one memory in `memories` is the query."""
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    demands: tuple[LookDemand, ...]
    command: str | None


class ObservedHit(Stored):
    """One text that came back, but for the text itself."""

    id: str
    """Empty for a text that is no single hit, as that of a recall."""
    source_ids: tuple[str, ...]
    sha256: str
    holds: tuple[str, ...]
    """Memories of the check whose telling words stand in the text."""


class Observed(Stored):
    """What one call brought."""

    asking: Asking
    ids: tuple[str, ...] = ()
    """Those that a change gave or was given, and that of the hit that was expanded."""
    hits: tuple[ObservedHit, ...] = ()
    """As they were returned."""
    commands: tuple[str, ...] = ()
    """The distinct commands that the hits name for the task, for the reader to choose from, or the one acted upon."""
    actions: tuple[Action, ...] = ()


class LifecycleFault(Stored):
    """Why a case could not be gone through: the phase that broke, and what was found there."""

    phase: LifecyclePhase
    message: str


class LifecycleEvidence(Evidence):
    """What the record of one case is computed from."""

    order: int = Field(ge=0)
    system: str
    check: str
    observed: tuple[Observed, ...]
    """In the order of the script, as far as it was gone through."""
    fault: LifecycleFault | None


class LifecycleRecord(Record):
    """A case, scored."""

    system: str
    check: str
    status: LifecycleStatus
    calls: int = Field(ge=0)
    """That were made of the store."""
    broken: str | None
    """The first step that did not show what it had to; None where all did, or a fault came first."""
    broken_part: StepPart | None
    """Its part: a broken control says that the check itself could not be made."""
    missed: int = Field(ge=0)
    """Memories that some look wanted and did not find."""
    strays: int = Field(ge=0)
    """Memories that some look found and should not have."""
    changed_fact: ChangedFact | None
    """What the last search found; None where nothing changed, or it was not reached."""
    missing: tuple[str, ...]
    """Capabilities that the check needs and the system does not declare."""
    fault: LifecycleFault | None


class LifecycleConfig(Config):
    """What one run is asked to do, as resolved."""

    memory: tuple[str, ...] = Field(min_length=1)
    timeout_s: float = Field(gt=0, allow_inf_nan=False)
    """For one case, from opening its store to the last step."""


class LifecycleManifest(Manifest):
    """What a run of the lifecycle suite is about to do."""

    suite: Literal["lifecycle"]
    config: LifecycleConfig
    capabilities: dict[str, tuple[str, ...]]
    """System → what it declares, sorted."""
    layers: dict[str, tuple[str, ...]]
    """System → the layers in which it can be searched."""
    checks: tuple[LifecycleCheck, ...]


class LifecycleText(Stored):
    """A text of a check, whole; it is remembered, and no receipt holds it."""

    content: str = Field(min_length=1)
    needle: str = Field(min_length=1)
    """Words that stand in no other text of the check, and by which this one is told in what comes back."""
    source_id: str = Field(min_length=1)
    type: MemoryType = "wisdom"
    command: str | None = None
