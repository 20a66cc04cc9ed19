"""`smriti verify`: recompute receipts and print what held."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from smriti.errors import UsageError
from smriti.receipts.verify import Verdict
from smriti.receipts.verify import verify as verify_receipt

_MARKS = {True: "ok", False: "FAIL", None: "not checked"}
_CLOSING = (
    "Verified means consistent: each figure follows from the evidence in the receipt. "
    "It does not say who made the receipt, or that its evidence is true."
)


def verify(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Receipt folders.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recompute receipts from their own evidence. Exit 1 unless every one of them is verified."""
    for directory in directories:
        if not directory.exists():
            raise UsageError(f"{directory} is not there, expected a receipt folder; nothing was verified")
    verdicts = [verify_receipt(directory) for directory in directories]
    if as_json:
        typer.echo(json.dumps({"receipts": [_as_json(verdict) for verdict in verdicts]}))
    else:
        for verdict in verdicts:
            _print(verdict)
        if any(verdict.state == "verified" for verdict in verdicts):
            typer.echo(_CLOSING)
    if any(verdict.state != "verified" for verdict in verdicts):
        raise typer.Exit(1)


def _print(verdict: Verdict) -> None:
    for check in verdict.checks:
        typer.echo(f"{_MARKS[check.ok]:>11}  {check.name}: {check.detail}")
    resumed = f"resumed {verdict.resumed} times" if verdict.resumed > 1 else "resumed once" if verdict.resumed else ""
    kind = ", ".join(filter(None, (verdict.evidence_class, resumed)))
    typer.echo(f"{verdict.state.upper()}{f' ({kind})' if kind else ''}  {verdict.directory}")


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "directory": str(verdict.directory),
        "state": verdict.state,
        "evidence_class": verdict.evidence_class,
        "resumed": verdict.resumed,
        "checks": [asdict(check) for check in verdict.checks],
    }
