"""The page of one trial: how it ended, what was planted and injected, and what the agent and the check left behind."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from smriti.receipts.report import shown
from smriti.receipts.report.banner import banner
from smriti.receipts.report.view import Banner, Block, Cell, Facts, Page, Prose, Section, Span, Table
from smriti.receipts.report.words import DASH, left, right, verdict
from smriti.receipts.rows import read_lines
from smriti.receipts.sealed import SealedReceipt
from smriti.receipts.writer import EVIDENCE, read_file
from smriti.types import PhaseSeconds, TrialEvidence, TrialRecord

Texts = Mapping[tuple[str, str], Mapping[str, str]]
"""Task id and sha256 → source id → text of the memory: what a receipt does not hold, and an installed task does."""


def trial_path(record: TrialRecord) -> str:
    """Name the page of a trial: the order makes it unique, and no name from a run can leave the folder."""
    name = re.sub(r"[^a-z0-9]+", "-", record.case.lower()).strip("-")
    return f"trials/{record.order + 1:04d}-{name[:80]}.html"


def trial_pages(receipt: SealedReceipt, texts: Texts) -> Iterator[Page]:
    """Make the page of each trial, one at a time: all of them need not be held at once."""
    shared = banner(receipt)
    partners: dict[tuple[str, int], list[TrialRecord]] = {}
    for record in receipt.records:
        partners.setdefault((record.task_id, record.trial), []).append(record)
    lines = read_lines(receipt.directory / EVIDENCE, sealed=True)
    for record, line in zip(receipt.records, lines, strict=True):
        row = TrialEvidence.model_validate_json(line)
        others = [other for other in partners[record.task_id, record.trial] if other is not record]
        known = texts.get((row.task_id, row.task_sha256), {})
        yield _page(shared, record, row, others, known=known, directory=receipt.directory)


def _page(
    shared: Banner,
    record: TrialRecord,
    row: TrialEvidence,
    others: list[TrialRecord],
    *,
    known: Mapping[str, str],
    directory: Path,
) -> Page:
    word, tone = verdict(record.status)
    listings = (
        shown.transcript("Transcript", _kept(directory, "transcripts", row.transcript_sha256)),
        shown.text("Diff", _kept(directory, "diffs", row.diff_sha256), diff=True),
        shown.text("Check output", _kept(directory, "checks", row.check_output_sha256)),
    )
    facts: list[Block] = [Facts((("ended as", left(Span(word, tone=tone))), *_facts(record, row)))]
    if row.left_out:
        rows = tuple((left(name),) for name in row.left_out)
        facts.append(Table("What the agent changed and grading did not take", ("change",), rows))
    sections = [
        Section("trial", "How it ended", tuple(facts)),
        Section("memories", "Memories", (_planted(row, known), *_injected(row))),
        *(Section(listing.title.lower().replace(" ", "-"), listing.title, (listing,)) for listing in listings),
    ]
    links = [Span("back to the report", "../index.html")]
    links += [Span(f"{other.condition}: {verdict(other.status)[0]}", f"../{trial_path(other)}") for other in others]
    return Page(
        path=trial_path(record),
        title=f"{record.task_id}, {record.condition}, trial {record.trial}",
        subtitle=f"smriti bench, run {record.run_id}; {record.family}",
        banners=(shared,),
        sections=tuple(sections),
        links=tuple(links),
    )


def _facts(record: TrialRecord, row: TrialEvidence) -> Iterator[tuple[str, Cell]]:
    if row.fault is not None:
        yield "fault", left(f"{row.fault.status} in {row.fault.phase}: {row.fault.message}")
    told = {True: "yes", False: "no", None: "cannot be told"}
    yield "memory confirmed", left(told[record.injected_confirmed])
    yield "contaminated", left(told[record.contaminated])
    usage = row.usage
    kinds = ("input", "output", "cache_read", "cache_write")
    each = ", ".join(f"{kind.replace('_', ' ')} {_or_dash(getattr(usage, f'{kind}_tokens'))}" for kind in kinds)
    yield "tokens", left(f"{_or_dash(usage.total)} ({each}; counted by {usage.source or 'nobody'})")
    yield "turns", left(_or_dash(row.turns))
    yield "exit status", left(f"agent {_or_dash(row.agent_exit_status)}, check {_or_dash(row.check_exit_status)}")
    spent = {name: getattr(row.seconds, name) for name in PhaseSeconds.model_fields}
    yield "seconds", left(", ".join(f"{name} {DASH if s is None else format(s, '.3f')}" for name, s in spent.items()))
    yield "delivery", left(row.delivery)
    yield "place in the run", left(str(row.order + 1))
    yield "realm", left(row.realm)
    yield "session", left(row.session_id)


def _planted(row: TrialEvidence, known: Mapping[str, str]) -> Block:
    if not row.planted:
        return Prose("No memory was planted.")
    reached = None if row.injected_ids is None else set(row.injected_ids)
    rows = []
    for planted in row.planted:
        arrived = "cannot be told" if reached is None else "yes" if planted.id in reached else "no"
        echoed = "yes" if planted.id in row.echoed_ids else "no"
        text = [left(known.get(planted.source_id, DASH))] if known else []
        rows.append((left(planted.source_id), left(planted.role), *text, left(arrived), left(echoed), left(planted.id)))
    reading = ("reached the agent", "echoed", "id")
    if not known:
        return Table("Planted (the receipt holds no texts)", ("source", "role", *reading), tuple(rows))
    caption = "Planted (the texts are those of the installed task of the same digest)"
    return Table(caption, ("source", "role", "text", *reading), tuple(rows))


def _injected(row: TrialEvidence) -> Iterator[Block]:
    if row.injected_ids is None:
        yield Prose("What was injected cannot be told: the memory system keeps no ledger of it.")
    elif not row.injected_ids:
        yield Prose("By the memory system's ledger nothing was injected.")
    else:
        ours = {planted.id: planted for planted in row.planted}
        rows = []
        for number, id_ in enumerate(row.injected_ids, 1):
            planted = ours.get(id_)
            what = (planted.source_id, planted.role) if planted else (DASH, "not planted for this trial")
            rows.append((right(str(number)), *map(left, what), left(id_)))
        yield Table("Injected, by the memory system's ledger", ("#", "source", "role", "id"), tuple(rows))


def _kept(directory: Path, kind: str, sha256: str | None) -> bytes | None:
    return None if sha256 is None else gzip.decompress(read_file(directory / kind / f"{sha256}.gz"))


def _or_dash(number: int | None) -> str:
    return DASH if number is None else str(number)
