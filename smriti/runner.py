"""The one loop of every suite: plan, skip what is done, step, append, score, seal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from smriti.protocols import Engine, EvidenceT, RecordT, ResultT, StepT, Suite
from smriti.receipts.writer import ReceiptWriter
from smriti.types import Summary


def run(
    suite: Suite[StepT, ResultT, EvidenceT],
    engine: Engine[StepT, ResultT],
    receipt: ReceiptWriter[Any, EvidenceT, RecordT],
    on_record: Callable[[RecordT], None],
) -> Summary:
    """Attempt every planned case that the receipt does not hold yet, then seal it.

    `on_record` is called when an attempt is on the disk. An interrupt leaves the receipt without a seal, to be resumed.
    """
    steps = suite.steps({record.case for record in receipt.records})
    with contextlib.closing(engine.map(suite.work(receipt.keep), steps)) as attempts:
        for result in attempts:
            for record in receipt.append(suite.evidence(result)):
                on_record(record)
    return receipt.seal()
