"""`smriti verify`: recompute receipts and print what held."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from smriti.receipts.verify import Verdict
from smriti.receipts.verify import verify as verify_receipt

_MARKS = {True: "ok", False: "FAIL", None: "not checked"}


def verify(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Receipt folders.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recompute receipts from their own evidence. Exit 1 unless every one of them is verified."""
    verdicts = [verify_receipt(directory) for directory in directories]
    if as_json:
        typer.echo(json.dumps({"receipts": [_as_json(verdict) for verdict in verdicts]}))
    else:
        for verdict in verdicts:
            _print(verdict)
    if any(verdict.state != "verified" for verdict in verdicts):
        raise typer.Exit(1)


def _print(verdict: Verdict) -> None:
    for check in verdict.checks:
        typer.echo(f"{_MARKS[check.ok]:>11}  {check.name}: {check.detail}")
    kind = f" ({verdict.evidence_class})" if verdict.evidence_class else ""
    typer.echo(f"{verdict.state.upper()}{kind}  {verdict.directory}")


def _as_json(verdict: Verdict) -> dict[str, object]:
    return {
        "directory": str(verdict.directory),
        "state": verdict.state,
        "evidence_class": verdict.evidence_class,
        "checks": [asdict(check) for check in verdict.checks],
    }
