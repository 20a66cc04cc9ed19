"""`smriti noise`: how far repeats of one configuration lie apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from smriti.cli.compare import ALLOW
from smriti.cli.compare_summary import figure, print_told_flags
from smriti.cli.present import Present
from smriti.cli.tables import new_table, print_table, summary_console
from smriti.errors import UsageError
from smriti.receipts.noise import Noise
from smriti.receipts.noise import noise as noise_of
from smriti.receipts.sealed import read_sealed


def noise(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Receipts of one configuration.")],
    *,
    allow: Annotated[list[str] | None, typer.Option(metavar="FIELD", help=ALLOW)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show how far repeats of one configuration lie apart, which is what chance alone does.

    Exit 0: shown. Exit 2: not repeats of one configuration.
    """
    for directory in directories:
        if not directory.exists():
            raise UsageError(f"{directory} is not there, expected a receipt folder")
    vouch = Present().vouch
    found = noise_of([read_sealed(directory, vouch) for directory in directories], allow or ())
    if as_json:
        typer.echo(json.dumps(found.stated()))
    else:
        _print_noise(summary_console(), found)


def _print_noise(console: Console, found: Noise) -> None:
    print_told_flags(console, found.flags)
    suite = found.receipts[0].manifest.suite
    console.print(f"\n{suite}: {len(found.receipts)} runs of one configuration", soft_wrap=True)
    for receipt in found.receipts:
        console.print(f"   {receipt.directory}  (sha256 {receipt.sha256[:12]})", soft_wrap=True)
    table = new_table("outcome", "of", "cases", "changed", "share")
    for changed in found.changed:
        named = changed.condition or changed.system
        table.add_row(changed.outcome, named, str(changed.of), str(changed.changed), figure(changed.share, ".3f"))
    print_table(console, "cases that did not end alike in all runs", table)
    bands = new_table("metric", "of", "runs", "min", "mean", "max", "sd")
    for band in found.bands:
        style = ".3f" if band.high is None or abs(band.high) < 1000 else ".0f"
        values = [figure(value, style) for value in (band.low, band.mean, band.high, band.sd)]
        bands.add_row(band.metric, band.condition or band.system, str(band.runs), *values)
    print_table(console, "bands (sd of a sample)", bands)
