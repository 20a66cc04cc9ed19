"""Compare what a receipt says of a data set or of tasks with the data set and the tasks themselves, where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from smriti.receipts.check import SHOWN, Check, judge
from smriti.receipts.rows import read_lines
from smriti.receipts.verify import Verdict
from smriti.receipts.writer import EVIDENCE
from smriti.types import (
    BenchManifest,
    Corpus,
    DatasetReading,
    Question,
    QuestionEvidence,
    RetrievalManifest,
    TaskIdentity,
)

DATA_SET, TASKS = "data set", "tasks"
"""The checks that `verify` leaves open."""


def evidence_rows(directory: Path) -> Iterator[QuestionEvidence]:
    """Read the evidence of a sealed receipt of a retrieval suite that verifies."""
    for line in read_lines(directory / EVIDENCE, sealed=True):
        yield QuestionEvidence.model_validate_json(line)


def check_gold(manifest: RetrievalManifest, rows: Iterable[QuestionEvidence], reading: DatasetReading) -> Check:
    """Compare each evidence row's gold, groups, type, corpus and sources, and the plan, with the data set.

    `reading` is the whole set, as it is read with the manifest's options.
    """
    corpora = reading.corpora
    by_id = {corpus.id: corpus for corpus in corpora}
    questions = {(corpus.id, question.id): question for corpus in corpora for question in corpus.questions}
    wrong = [*_reading_problems(manifest, reading), *_plan_problems(manifest, by_id, set(questions))]
    sources: dict[str, frozenset[str]] = {}
    count = 0
    for row in rows:
        count += 1
        question = questions.get((row.corpus, row.question))
        if question is None:
            wrong.append(f"{row.case}: the data set has no such question of corpus {row.corpus!r}")
            continue
        wrong += [f"{row.case}: {why}" for why in _differences(row, question, len(by_id[row.corpus].documents))]
        if row.corpus not in sources:
            sources[row.corpus] = frozenset(document.source_id for document in by_id[row.corpus].documents)
        if not sources[row.corpus].issuperset(source_id for hit in row.hits for source_id in hit.source_ids):
            wrong.append(f"{row.case}: a hit names a source that its corpus does not have")
    named = ", ".join(manifest.datasets)
    return judge(DATA_SET, wrong, f"{count} rows have the gold ids, groups, types and corpora of {named}")


def check_tasks(manifest: BenchManifest, installed: Mapping[str, TaskIdentity], *, same_code: bool) -> Check:
    """Compare the tasks of the manifest with those that are installed here.

    A task that differs refutes the receipt only under `same_code`: where the very commit that the manifest names is
    what is installed, clean on both sides. Otherwise it may just as well have been changed since.
    """
    unlike = [_unlike(task, installed.get(task.id)) for task in manifest.tasks if installed.get(task.id) != task]
    of = manifest.selection.get("of")
    if same_code and of != len(installed):
        unlike.append(f"{of!r} tasks to choose from, {len(installed)} here")
    if not unlike:
        return Check(TASKS, True, f"{len(manifest.tasks)} of {len(manifest.tasks)} are those installed here, by digest")
    if same_code:
        return judge(TASKS, unlike, "")
    more = f"; and {len(unlike) - SHOWN} more" if len(unlike) > SHOWN else ""
    told = "; ".join(unlike[:SHOWN]) + more
    return Check(TASKS, None, f"{len(unlike)} of {len(manifest.tasks)} are not those that are installed here: {told}")


def unsettled(verdict: Verdict, why: str) -> Verdict:
    """Add to what `verify` left open why it could not be looked at here either."""
    checks = tuple(
        replace(check, detail=f"{check.detail}; {why}") if _open(check) else check for check in verdict.checks
    )
    return replace(verdict, checks=checks)


def settled(verdict: Verdict, found: Check) -> Verdict:
    """Put `found` in the place of the check that `verify` left open; the receipt is refused where it failed."""
    checks = tuple(found if _open(check) and check.name == found.name else check for check in verdict.checks)
    return replace(verdict, checks=checks, state="refused" if found.ok is False else verdict.state)


def left_open(verdict: Verdict) -> Check | None:
    """Return the check that nobody has settled, for want of the data set or the tasks; None where there is none."""
    return next(filter(_open, verdict.checks), None)


def _open(check: Check) -> bool:
    return check.ok is None and check.name in (DATA_SET, TASKS)


def _reading_problems(manifest: RetrievalManifest, reading: DatasetReading) -> Iterator[str]:
    """Say where the manifest tells of the set what reading it does not."""
    for name, stated, read in (
        ("counts", manifest.counts, dict(reading.counts)),
        ("notes", manifest.notes, reading.flags),
        ("labels", manifest.labels, dict(reading.labels)),
    ):
        if stated != read:
            yield f"{name} {stated!r} in the manifest, {read!r} of the data set"


def _plan_problems(
    manifest: RetrievalManifest, by_id: Mapping[str, Corpus], known: set[tuple[str, str]]
) -> Iterator[str]:
    """Say where the manifest names what the set does not have, or leaves out what it says that it takes."""
    planned: set[tuple[str, str]] = set()
    for plan in manifest.corpora:
        corpus = by_id.get(plan.id)
        planned.update((plan.id, question) for question in plan.questions)
        if corpus is None:
            yield f"the data set has no corpus {plan.id!r}"
        elif len(corpus.documents) != plan.documents:
            yield f"corpus {plan.id!r} has {len(corpus.documents)} documents, {plan.documents} in the manifest"
    of = manifest.selection.get("of")
    if of != len(known) and "categories" not in manifest.config.options:
        yield f"the data set has {len(known)} questions, {of!r} by the manifest"
    if manifest.config.stratify is None and manifest.config.limit is None and known - planned:
        yield f"{len(known - planned)} questions of the data set are left out, such as {min(known - planned)[1]!r}"


def _differences(row: QuestionEvidence, question: Question, documents: int) -> Iterator[str]:
    pairs: dict[str, tuple[object, object]] = {
        "gold": (row.gold, question.gold),
        "group_gold": (row.group_gold, dict(question.group_gold)),
        "groups": (row.groups, question.groups),
        "type": (row.type, question.type),
        "answerable": (row.answerable, question.answerable),
        "documents": (row.documents, documents),
    }
    for name, (found, expected) in pairs.items():
        if found != expected:
            yield f"{name} {found!r}, {expected!r} in the data set"


def _unlike(task: TaskIdentity, here: TaskIdentity | None) -> str:
    if here is None:
        return f"{task.id}: not here"
    fields = [name for name in TaskIdentity.model_fields if getattr(task, name) != getattr(here, name)]
    return f"{task.id}: " + ", ".join(f"{name} {getattr(task, name)}, {getattr(here, name)} here" for name in fields)
