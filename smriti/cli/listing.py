"""`smriti list receipts`: what runs there are, and whether they hold."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from smriti.cli.tables import natural_width, new_table, summary_console
from smriti.errors import UsageError
from smriti.receipts.listing import Listed, age, list_receipts

app = typer.Typer(help="What is there.", no_args_is_help=True)

RECEIPTS = Path("receipts")


@app.callback()
def _list() -> None:
    """Make a group of one command stay a group."""


@app.command("receipts")
def receipts(
    root: Annotated[Path | None, typer.Argument(metavar="[ROOT]", help="Where to look (default: receipts).")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the receipts below a folder, the newest first, and verify each; a broken one is listed as refused."""
    if root is not None and not root.is_dir():
        raise UsageError(f"{root} is not there, expected a folder with receipts in it")
    listed = list_receipts(root or RECEIPTS)
    if as_json:
        typer.echo(json.dumps({"receipts": [_as_json(receipt) for receipt in listed]}))
    elif listed:
        _print(listed)
    else:
        typer.echo(f"no receipt below {root or RECEIPTS}")


def now() -> datetime:
    """Return the time from which ages are counted; they are shown, and are part of nothing."""
    return datetime.now(UTC)


def _print(listed: list[Listed]) -> None:
    table = new_table("suite")
    for heading in ("system", "agent"):
        table.add_column(heading, no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for heading in ("class", "state", "age", "receipt"):
        table.add_column(heading, no_wrap=True)
    asked = now()
    for receipt in listed:
        table.add_row(
            receipt.suite or "–",
            ", ".join(receipt.systems) or "–",
            receipt.agent or "–",
            _attempts(receipt),
            receipt.evidence_class or "–",
            receipt.state,
            age(receipt.started, asked),
            str(receipt.directory),
        )
    console = summary_console()
    table.width = natural_width(console, table)
    console.print(table, crop=False)


def _attempts(receipt: Listed) -> str:
    """Write how many attempts there are, and of how many where some are missing."""
    if receipt.planned is None:
        return "–"
    return str(receipt.rows) if receipt.rows == receipt.planned else f"{receipt.rows} of {receipt.planned}"


def _as_json(receipt: Listed) -> dict[str, object]:
    started = receipt.started.isoformat() if receipt.started else None
    return {**asdict(receipt), "directory": str(receipt.directory), "started": started}
