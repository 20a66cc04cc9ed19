"""The page of a trial: what was planted and injected, what the agent and the check left, and where the others are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from smriti.receipts.report.trials import trial_pages, trial_path
from smriti.receipts.report.view import Facts, Listing, Page, Table
from smriti.receipts.sealed import SealedReceipt
from smriti.receipts.writer import EVIDENCE
from smriti.types import TrialEvidence
from tests.receipts import build
from tests.receipts.report import walk


def _rows(receipt: SealedReceipt) -> dict[str, TrialEvidence]:
    lines = (receipt.directory / EVIDENCE).read_bytes().splitlines()
    return {row.case: row for row in map(TrialEvidence.model_validate_json, lines)}


@pytest.fixture(scope="module")
def pages(bench: SealedReceipt) -> dict[str, Page]:
    return {r.case: p for r, p in zip(bench.records, trial_pages(bench, {}), strict=True)}


def _listings(page: Page) -> dict[str, Listing]:
    return {block.title: block for block in walk.blocks(page) if isinstance(block, Listing)}


def test_each_trial_has_a_page_with_its_own_transcript_diff_and_check_output(
    bench: SealedReceipt, pages: dict[str, Page]
) -> None:
    rows = _rows(bench)
    assert set(pages) == set(rows)
    for case, page in pages.items():
        row = rows[case]
        found = _listings(page)
        kept = {"transcripts": row.transcript_sha256, "diffs": row.diff_sha256, "checks": row.check_output_sha256}
        for (kind, digest), title in zip(kept.items(), ("Transcript", "Diff", "Check output"), strict=True):
            if digest is None:
                assert found[title].left_out == "none: the trial did not come so far"
            else:
                content = gzip.decompress((bench.directory / kind / f"{digest}.gz").read_bytes()).decode()
                assert [entry.body for entry in found[title].entries] == [content]


def test_planted_memories_are_named_with_source_and_role_and_whether_they_arrived(
    bench: SealedReceipt, pages: dict[str, Page]
) -> None:
    for case, row in _rows(bench).items():
        tables = [table for table in walk.tables(pages[case]) if table.caption.startswith("Planted")]
        stated = [[cell.spans[0].text for cell in line] for table in tables for line in table.rows]
        reached = row.injected_ids or ()
        arrived = {True: "yes", False: "no"}
        assert stated == [
            [
                planted.source_id,
                planted.role,
                "cannot be told" if row.injected_ids is None else arrived[planted.id in reached],
                arrived[planted.id in row.echoed_ids],
                planted.id,
            ]
            for planted in row.planted
        ]


def test_an_injected_memory_that_was_not_planted_is_called_so(pages: dict[str, Page]) -> None:
    (table,) = [t for t in walk.tables(pages[build.CONTAMINATED]) if t.caption.startswith("Injected")]
    assert [[cell.spans[0].text for cell in row] for row in table.rows] == [
        ["1", "–", "not planted for this trial", "somebody else's"]
    ]


def test_texts_of_memories_are_those_that_were_passed_for_the_task_of_that_digest(bench: SealedReceipt) -> None:
    rows = _rows(bench)
    row = rows["alpha/on/t1"]
    source = row.planted[0].source_id
    for sha256, seen in ((row.task_sha256, True), ("9" * 64, False)):
        texts = {("alpha", sha256): {source: "the <b>text</b> of it"}}
        for record, page in zip(bench.records, trial_pages(bench, texts), strict=True):
            found = any("the <b>text</b> of it" in span.text for span in walk.spans(page))
            assert found == (seen and record.task_id == "alpha" and bool(rows[record.case].planted))


def test_a_trial_links_back_and_to_the_same_trial_under_the_other_conditions(
    bench: SealedReceipt, pages: dict[str, Page]
) -> None:
    paths = {record.case: trial_path(record) for record in bench.records}
    for record in bench.records:
        first, *others = pages[record.case].links
        assert first.href == "../index.html"
        expected = [
            f"../{paths[other.case]}"
            for other in bench.records
            if (other.task_id, other.trial) == (record.task_id, record.trial) and other is not record
        ]
        assert [link.href for link in others] == expected


def test_a_fault_is_told_with_its_phase_and_message(bench: SealedReceipt, pages: dict[str, Page]) -> None:
    faulty = [record for record in bench.records if record.fault]
    assert faulty
    for record in faulty:
        assert record.fault
        facts = {name: cell for b in walk.blocks(pages[record.case]) if isinstance(b, Facts) for name, cell in b.facts}
        assert facts["fault"].spans[0].text == f"{record.fault.status} in {record.fault.phase}: {record.fault.message}"


def test_what_grading_did_not_take_is_listed(bench: SealedReceipt) -> None:
    for row, page in zip(_rows(bench).values(), trial_pages(bench, {}), strict=True):
        tables = [t for t in walk.tables(page) if t.caption.startswith("What the agent changed")]
        assert [c.spans[0].text for t in tables for line in t.rows for c in line] == list(row.left_out)


def test_no_name_from_a_run_can_leave_the_folder_of_trials(bench: SealedReceipt) -> None:
    record = bench.records[0]
    for case in ("../../etc/passwd/on/t1", "/root/x", "a\x00b", "..", "A" * 500, 'x"><script>'):
        path = trial_path(record.model_copy(update={"case": case}))
        assert Path(path).parent.as_posix() == "trials"
        assert set(path) <= set("abcdefghijklmnopqrstuvwxyz0123456789-./")
        assert ".." not in path
        assert len(path) < 120


def test_pages_of_different_trials_never_have_one_name(bench: SealedReceipt) -> None:
    first, second = bench.records[:2]
    one, other = (r.model_copy(update={"case": case}) for r, case in ((first, "a:b"), (second, "a-b")))
    assert trial_path(one) != trial_path(other)


def test_a_trial_that_planted_nothing_and_injected_nothing_says_so(pages: dict[str, Page]) -> None:
    page = pages["alpha/off/t1"]
    assert not [t for t in walk.tables(page) if t.caption.startswith(("Planted", "Injected"))]
    assert isinstance(page.sections[1].blocks, tuple)
    assert not [b for b in page.sections[1].blocks if isinstance(b, Table)]
