"""`smriti report`: write what a reader looks at, from receipts that verify."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from smriti.cli.present import Present
from smriti.corpus import load_corpus
from smriti.errors import SmritiError, UsageError
from smriti.receipts.report import Texts, check_place, default_place, require, write_report
from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.types import BenchManifest


def report(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Receipt folders; several are laid side by side.")
    ],
    *,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The folder to write; by default DIR.report, beside DIR.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a report as HTML and as Markdown, from receipts that verify. Its path is the last line that is printed."""
    require()
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not there, expected a receipt folder; no report was written")
    if len({directory.resolve() for directory in directories}) < len(directories):
        raise UsageError("a receipt is named twice; name each once")
    place = out or default_place(directories)
    check_place(place)
    vouch = Present().vouch
    receipts = [read_sealed(directory, vouch) for directory in directories]
    written = write_report(receipts, place, _texts(receipts))
    if as_json:
        typer.echo(json.dumps({"report": str(written.html), "markdown": str(written.markdown)}))
    else:
        for receipt in receipts:
            typer.echo(
                f"{receipt.manifest.suite} run {receipt.manifest.run_id}, class {receipt.summary.evidence_class}"
            )
        typer.echo(f"{written.pages} {'page' if written.pages == 1 else 'pages'}, and {written.markdown}")
        typer.echo(written.html)
    if open_:
        webbrowser.open(written.html.resolve().as_uri())


def _texts(receipts: Sequence[SealedReceipt]) -> Texts:
    """Take the texts of planted memories from the installed tasks; those of another digest are never asked for."""
    if not any(isinstance(receipt.manifest, BenchManifest) for receipt in receipts):
        return {}
    try:
        folders = load_corpus()
    except SmritiError:
        return {}  # without them the pages say that the receipt holds no texts
    return {
        (folder.task.id, folder.sha256): {memory.source_id: memory.content for memory in folder.task.planted_memories}
        for folder in folders
    }
