"""What a receipt says of its run, and of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from smriti.types.memory import SystemIdentity
from smriti.types.stored import Stored

EvidenceClass = Literal["measured", "rehearsal", "component", "development"]


class Interval(Stored):
    """An uncertainty interval, with how it was made."""

    low: float
    high: float
    level: float
    method: str


class Score(Stored):
    """One figure: `value` is None where nothing can be said; `excluded` counts what `n` leaves out."""

    metric: str
    system: str
    condition: str | None
    """Of a trial; None where the suite has no conditions."""
    group: str
    value: float | None
    n: int = Field(ge=0)
    excluded: int = Field(ge=0)
    interval: Interval | None = None


class Coverage(Stored):
    """planned = completed (a verdict) + failed (a fault) + skipped."""

    planned: int
    completed: int
    failed: int
    skipped: int


class FileSeal(Stored):
    """What a file of a receipt held when the receipt was sealed."""

    sha256: str
    rows: int | None
    """Lines of an ndjson file; None for any other."""


class Summary(Stored):
    """summary.json, the seal of a receipt."""

    schema_: Literal["smriti.summary/1"] = Field(default="smriti.summary/1", alias="schema")
    coverage: Coverage
    scores: tuple[Score, ...]
    flags: tuple[str, ...]
    evidence_class: EvidenceClass
    files: dict[str, FileSeal]
    finished: str

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Seam(Stored):
    """Where an interrupted run was taken up again; one line of seams.ndjson."""

    resumed: str
    after_rows: int = Field(ge=0)
    """Score lines that stood then."""


class CodeIdentity(Stored):
    """Which smriti ran: `commit` and `dirty` are None outside a checkout and a wheel built from one."""

    version: str
    commit: str | None
    dirty: bool | None
    sha256: str
    """Of the package's Python files as installed."""


class Config(Stored):
    """What a run is asked to do, as resolved; each suite has fields of its own."""


class Manifest(Stored):
    """manifest.json, written before any work: what is about to be run, fingerprinted. Each suite adds its own part."""

    schema_: Literal["smriti.manifest/1"] = Field(default="smriti.manifest/1", alias="schema")
    suite: str
    evidence_class: EvidenceClass
    run_id: str
    config: Config
    code: CodeIdentity
    packages: dict[str, str]
    systems: tuple[SystemIdentity, ...]
    artifacts: dict[str, str]
    """File name → sha256 of what was installed for the systems and agents under test."""
    engine: str
    datasets: dict[str, str]
    """Name → sha256 of what the suite takes from a data set."""
    selection: dict[str, Any]
    """What was chosen to be run: which flags, and how many of how many."""
    seed: int
    sandbox: str
    jobs: int
    host: dict[str, Any]
    planned: int
    started: str

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Evidence(Stored):
    """One line of evidence.ndjson: what one attempt's record is computed from."""

    case: str
    run_id: str
    manifest_sha256: str
    """Of the receipt's manifest.json: a row belongs to that run as it was planned, and to no other plan."""

    @property
    def blobs(self) -> Mapping[str, str]:
        """Name in the receipt → sha256 of the content, of each file beside the rows that this line names."""
        return {}


class Record(Stored):
    """One line of scores.ndjson: an attempt, scored. Every field follows from the evidence line that it names."""

    case: str
    run_id: str
    order: int = Field(ge=0)
    """From 0 over the whole plan."""
    evidence_sha256: str
