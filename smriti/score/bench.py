"""The bench: trials to records, and records to figures."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from smriti.metrics import outcome, tokens
from smriti.metrics.pairing import Estimate, Trial
from smriti.types import (
    VERDICTS,
    BenchManifest,
    Coverage,
    Score,
    Status,
    TrialCase,
    TrialEvidence,
    TrialRecord,
)

INJECTION_FLOOR = 0.95
"""Below this injection_confirmation_rate nothing is said about the memory: it did not reach the agent."""

REHEARSAL = "rehearsal: the agent is scripted; these figures measure the harness and not a memory system"
"""The flag of every rehearsal, and of what is made of one."""

FEW_TASKS = 10

Delta = Callable[[Sequence[Trial], Sequence[Trial], str], Estimate]


@dataclass(frozen=True, slots=True)
class BenchScoring:
    """How one run of the bench is scored: the functions below, bound to its manifest."""

    manifest: BenchManifest
    evidence_type = TrialEvidence
    record_type = TrialRecord

    def plan(self) -> list[TrialCase]:
        return planned_cases(self.manifest)

    def record(self, evidence: TrialEvidence, evidence_sha256: str) -> TrialRecord:
        return score_trial(evidence, evidence_sha256)

    def coverage(self, records: Sequence[TrialRecord]) -> Coverage:
        return coverage(records, self.manifest.planned)

    def scores(self, records: Sequence[TrialRecord]) -> tuple[Score, ...]:
        return bench_scores(self.manifest, records)

    def flags(self, records: Sequence[TrialRecord], scores: Sequence[Score]) -> tuple[str, ...]:
        return bench_flags(self.manifest, records, scores)


def planned_cases(manifest: BenchManifest) -> list[TrialCase]:
    """Lay out the whole matrix: by task, then by trial, the conditions of each in an order drawn from the seed."""
    cells: list[tuple[str, str, int]] = []
    for task in manifest.tasks:
        for trial in range(1, manifest.config.trials + 1):
            conditions = list(manifest.config.conditions)
            random.Random(f"{manifest.seed}/{task.id}/{trial}").shuffle(conditions)  # noqa: S311  # an order, no secret
            cells += [(task.id, condition, trial) for condition in conditions]
    return [TrialCase(task, condition, trial, order) for order, (task, condition, trial) in enumerate(cells)]


def score_trial(evidence: TrialEvidence, evidence_sha256: str) -> TrialRecord:
    """Score one trial from its evidence line, whose digest the record carries."""
    status = _status(evidence)
    planted_ids = tuple(planted.id for planted in evidence.planted)
    injected = evidence.injected_ids
    return TrialRecord(
        case=evidence.case,
        run_id=evidence.run_id,
        task_id=evidence.task_id,
        task_sha256=evidence.task_sha256,
        family=evidence.family,
        split=evidence.split,
        condition=evidence.condition,
        trial=evidence.trial,
        order=evidence.order,
        status=status,
        passed=status == "passed" if status in VERDICTS else None,
        usage=evidence.usage,
        planted_ids=planted_ids,
        injected_ids=injected,
        injected_confirmed=None if injected is None else _confirmed(evidence, injected),
        contaminated=_contaminated(evidence),
        echoed=bool(evidence.echoed_ids),
        seconds=evidence.seconds,
        transcript_sha256=evidence.transcript_sha256,
        diff_sha256=evidence.diff_sha256,
        fault=evidence.fault,
        evidence_sha256=evidence_sha256,
    )


def coverage(records: Sequence[TrialRecord], planned: int) -> Coverage:
    """Count verdicts, faults and skipped trials against the plan."""
    completed = sum(record.status in VERDICTS for record in records)
    skipped = sum(record.status == "skipped" for record in records)
    return Coverage(planned=planned, completed=completed, failed=len(records) - completed - skipped, skipped=skipped)


def bench_scores(manifest: BenchManifest, records: Sequence[TrialRecord]) -> tuple[Score, ...]:
    """Compute every figure for all tasks, for each family and for each task; the order of records is irrelevant."""
    ordered = sorted(map(_Figured.of, records), key=lambda record: record.order)
    scores: list[Score] = []
    groups: dict[str, list[_Figured]] = {"all": ordered}
    for record in sorted(ordered, key=lambda record: record.family):
        groups.setdefault(record.family, []).append(record)
    for record in sorted(ordered, key=lambda record: record.task_id):
        groups.setdefault(record.task_id, []).append(record)
    for group, members in groups.items():
        scores += _group_scores(manifest, group, members)
    return tuple(scores)


@dataclass(frozen=True, slots=True)
class _Figured:
    """A record as the metrics read it, tokens added up once: dozens of figures go over each record."""

    task_id: str
    family: str
    condition: str
    trial: int
    order: int
    status: Status
    passed: bool | None
    tokens: int | None
    injected_confirmed: bool | None
    contaminated: bool | None
    echoed: bool

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        return cls(
            task_id=record.task_id,
            family=record.family,
            condition=record.condition,
            trial=record.trial,
            order=record.order,
            status=record.status,
            passed=record.passed,
            tokens=record.tokens,
            injected_confirmed=record.injected_confirmed,
            contaminated=record.contaminated,
            echoed=record.echoed,
        )


def bench_flags(manifest: BenchManifest, records: Sequence[TrialRecord], scores: Sequence[Score]) -> tuple[str, ...]:
    """Say, most important first, what a reader must know before reading any figure; each flag is `name: sentence`."""
    figures = {(score.metric, score.condition): score for score in scores if score.group == "all"}
    flags: list[str] = []
    if manifest.evidence_class == "rehearsal":
        flags.append(REHEARSAL)
    if manifest.evidence_class == "development":
        flags.append("development: a selection, a limit or uncommitted code; these figures support no claim")
    flags += _distrust(figures)
    for (metric, condition), score in figures.items():
        if metric == "contamination_rate" and score.value:
            flags.append(
                f"contamination: {score.value:.1%} of {score.n} {condition} trials saw memory not planted for them"
            )
    gap = figures.get(("ablate_all_gap", "ablate:all"))
    if gap is not None and gap.value:
        name, why = ("ablation", "not by chance") if _excludes_zero(gap) else ("gap", "which may be chance")
        flags.append(f"{name}: ablate_all_gap is {gap.value:+.3f}, {why}: off and ablate:all should be the same arm")
    leaked = sum(1 for r in records if r.condition == "ablate:all" and r.injected_ids)
    if leaked:
        flags.append(f"ablation: with every lane ablated memory still reached the agent in {leaked} trials")
    lanes = [c for c in manifest.config.conditions if c.startswith("ablate:") and c != "ablate:all"]
    if lanes and "ablate:all" not in manifest.config.conditions:
        flags.append("ablation unchecked: run ablate:all too, which shows that a lane that is switched off is off")
    flags += _count_flags(manifest, records)
    return tuple(flags)


def _distrust(figures: Mapping[tuple[str, str | None], Score]) -> list[str]:
    """Compare the on-trials in which memory is confirmed to have arrived with all that were attempted."""
    rate, attempted = figures.get(("injection_confirmation_rate", "on")), figures.get(("sr", "on"))
    if rate is None or attempted is None or attempted.n == 0:
        return []
    confirmed = round((rate.value or 0.0) * rate.n)
    if confirmed >= INJECTION_FLOOR * attempted.n:
        return []
    untold = attempted.n - rate.n
    reached = f"memory is confirmed to have reached the agent in {confirmed} of {attempted.n} on-trials"
    expected = f"{untold} cannot be told; at least {INJECTION_FLOOR:.0%} expected"
    return [f"distrust: {reached} ({expected}); on − off does not measure the memory system"]


def _excludes_zero(score: Score) -> bool:
    return score.interval is None or not score.interval.low <= 0 <= score.interval.high


def _confirmed(evidence: TrialEvidence, injected: Sequence[str]) -> bool:
    """Believe the ledger only where something was attached that could have carried a planted memory."""
    return evidence.delivery != "none" and not {planted.id for planted in evidence.planted}.isdisjoint(injected)


def _contaminated(evidence: TrialEvidence) -> bool | None:
    """Tell whether memory came that was not planted for this trial; under off any delivery is such, ledger or not."""
    if evidence.condition == "off" and evidence.delivery != "none":
        return True
    if evidence.injected_ids is None:
        return None
    return not {planted.id for planted in evidence.planted}.issuperset(evidence.injected_ids)


def _status(evidence: TrialEvidence) -> Status:
    if evidence.fault is not None:
        return evidence.fault.status
    # A trial without a fault has been graded; None here would be a check that never ran, which is no pass.
    return "passed" if evidence.check_exit_status == 0 else "failed"


def _group_scores(manifest: BenchManifest, group: str, records: Sequence[_Figured]) -> list[Score]:
    arms = _by_condition(manifest, records)
    scores: list[Score] = []

    def add(metric: str, condition: str, estimate: Estimate) -> None:
        scores.append(
            Score(
                metric=metric,
                system=manifest.config.memory,
                condition=condition,
                group=group,
                value=estimate.value,
                n=estimate.n,
                excluded=estimate.excluded,
                interval=estimate.interval,
            )
        )

    def add_delta(metric: str, treated: str, control: str, delta: Delta) -> None:
        if treated in arms and control in arms:
            add(metric, treated, delta(arms[treated], arms[control], f"{manifest.seed}/{metric}/{group}"))

    for condition, members in arms.items():
        add("sr", condition, outcome.sr(members))
        add("sr_completed", condition, outcome.sr_completed(members))
        add("tokens", condition, tokens.mean_tokens(members))
        add("usage_unknown_rate", condition, tokens.usage_unknown_rate(members))
        add("injection_confirmation_rate", condition, outcome.injection_confirmation_rate(members))
        add("contamination_rate", condition, outcome.contamination_rate(members))
    add_delta("delta_sr", "on", "off", outcome.delta_sr)
    add_delta("delta_tokens", "on", "off", tokens.delta_tokens)
    add_delta("token_ratio", "on", "off", tokens.token_ratio)
    if "on" in arms and "off" in arms:
        use = outcome.mui(arms["on"], arms["off"], f"{manifest.seed}/mui/{group}")
        harm = outcome.mhi(arms["on"], arms["off"], f"{manifest.seed}/mhi/{group}")
        for metric, estimate in (
            ("mui", use.index),
            ("sr_lift", use.sr),
            ("cost_saving", use.cost),
            ("mhi", harm.index),
            ("sr_harm", harm.sr),
            ("cost_harm", harm.cost),
        ):
            add(metric, "on", estimate)
    if "on" in arms:
        add("echo_rate", "on", outcome.echo_rate(arms["on"]))
    for condition, members in arms.items():
        if condition.startswith("ablate:") and condition != "ablate:all" and "on" in arms:
            lane = condition.removeprefix("ablate:")
            estimate = outcome.delta_sr(arms["on"], members, f"{manifest.seed}/ablation_delta_sr/{lane}/{group}")
            add(f"ablation_delta_sr[{lane}]", condition, estimate)
    add_delta("ablate_all_gap", "ablate:all", "off", outcome.delta_sr)
    add_delta("lift_over_file", "on", "file", outcome.delta_sr)
    add_delta("lift_over_placebo", "on", "placebo", outcome.delta_sr)
    return scores


def _by_condition(manifest: BenchManifest, records: Sequence[_Figured]) -> dict[str, list[_Figured]]:
    arms: dict[str, list[_Figured]] = {condition: [] for condition in manifest.config.conditions}
    for record in records:
        if record.condition in arms:
            arms[record.condition].append(record)
    return arms


def _count_flags(manifest: BenchManifest, records: Sequence[TrialRecord]) -> list[str]:
    flags: list[str] = []
    faults: dict[str, int] = {}
    for record in records:
        if record.fault is not None and record.status != "skipped":
            faults[record.status] = faults.get(record.status, 0) + 1
    if faults:
        named = ", ".join(f"{status} {count}" for status, count in sorted(faults.items()))
        flags.append(
            f"faults: {sum(faults.values())} of {len(records)} trials have no verdict and count as failures ({named})"
        )
    skipped = sorted({record.task_id for record in records if record.status == "skipped"})
    if skipped:
        flags.append(
            f"skipped: {len(skipped)} tasks were not attempted, a command is missing here ({', '.join(skipped)})"
        )
    unknown = sum(1 for r in records if r.status != "skipped" and r.usage.total is None)
    if unknown:
        flags.append(f"tokens: unknown in {unknown} trials; they earn no cost credit and are left out of token figures")
    selected, of = manifest.selection.get("selected"), manifest.selection.get("of")
    if selected != of:
        flags.append(f"selection: {selected} of the corpus's {of} tasks; these figures are not the corpus's")
    if len(manifest.tasks) < FEW_TASKS:
        flags.append(f"few tasks: {len(manifest.tasks)}; an interval over tasks means little below {FEW_TASKS}")
    if manifest.config.trials == 1:
        flags.append("one trial: a single trial of each task is a coin flip; take 3 or more")
    return flags
