"""The one loop of every suite: plan, skip what is done, step, append, score, seal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from smriti.protocols import Engine, Suite
from smriti.receipts.writer import ReceiptWriter
from smriti.types import Summary, TrialCase, TrialEvidence, TrialRecord


def run(suite: Suite, engine: Engine, receipt: ReceiptWriter, on_record: Callable[[TrialRecord], None]) -> Summary:
    """Attempt every planned case that the receipt does not hold yet, then seal it.

    `on_record` is called when an attempt is on the disk. An interrupt leaves the receipt without a seal, to be resumed.
    """
    done = {record.case for record in receipt.records}
    cases = [case for case in suite.cases() if case.id not in done]

    def step(case: TrialCase) -> TrialEvidence:
        return suite.step(case, receipt.keep)

    with contextlib.closing(engine.map(step, cases)) as attempts:
        for evidence in attempts:
            on_record(receipt.append(evidence))
    return receipt.seal()
