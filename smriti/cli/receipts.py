"""`smriti verify`: recompute receipts and print what held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from smriti.cli.present import Present
from smriti.cli.streams import printable
from smriti.errors import UsageError
from smriti.receipts.verify import Verdict
from smriti.receipts.verify import verify as verify_receipt

_MARKS = {True: "ok", False: "FAIL", None: "not checked"}
_DATA = "The file that a retrieval receipt was made from, instead of the pinned one of the cache."
CLOSING = (
    "Verified means consistent: each figure follows from the evidence in the receipt. "
    "It does not say who made the receipt, or that its evidence is true."
)


def verify(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Receipt folders.")],
    *,
    data: Annotated[Path | None, typer.Option("--data", metavar="FILE", help=_DATA)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recompute receipts from their own evidence. Exit 1 unless every one of them is verified.

    Where the data set or the tasks that a receipt names are on this machine, it is compared with them too.
    """
    for directory in directories:
        if not directory.exists():
            raise UsageError(f"{directory} is not there, expected a receipt folder; nothing was verified")
    if data is not None and not data.exists():
        raise UsageError(f"--data {data} is not there, expected the file that a receipt was made from")
    present = Present(data)
    verdicts = [present.look(verify_receipt(directory)) for directory in directories]
    if data is not None and not present.used and all(verdict.state == "verified" for verdict in verdicts):
        raise UsageError(f"--data {data} is what none of these receipts was made from: {present.why}")
    if as_json:
        typer.echo(json.dumps({"receipts": [_as_json(verdict) for verdict in verdicts]}))
    else:
        for verdict in verdicts:
            for line in lines(verdict):
                typer.echo(line)
        if any(verdict.state == "verified" for verdict in verdicts):
            typer.echo(CLOSING)
    if any(verdict.state != "verified" for verdict in verdicts):
        raise typer.Exit(1)


def lines(verdict: Verdict) -> Iterator[str]:
    """Yield what is printed of one receipt: a line a check, and the verdict."""
    for check in verdict.checks:
        yield printable(f"{_MARKS[check.ok]:>11}  {check.name}: {check.detail}")
    resumed = f"resumed {verdict.resumed} times" if verdict.resumed > 1 else "resumed once" if verdict.resumed else ""
    kind = ", ".join(filter(None, (verdict.evidence_class, resumed)))
    yield printable(f"{verdict.state.upper()}{f' ({kind})' if kind else ''}  {verdict.directory}")


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "directory": str(verdict.directory),
        "state": verdict.state,
        "evidence_class": verdict.evidence_class,
        "resumed": verdict.resumed,
        "checks": [asdict(check) for check in verdict.checks],
    }
