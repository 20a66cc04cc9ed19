"""`smriti data list | fetch | import | verify | synth`: the data sets of the retrieval suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from smriti.cli.amount import Amount
from smriti.datasets import synthetic
from smriti.datasets.acquire import fetch, import_file
from smriti.datasets.lock import Pin, Verification, cached, differing, identify, pin_of, pins, verify

app = typer.Typer(help="The data sets of the retrieval suites.", no_args_is_help=True)
synth_app = typer.Typer(help="Make a synthetic data set.", no_args_is_help=True)
app.add_typer(synth_app, name="synth")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("list")
def list_sets(*, as_json: Json = False) -> None:
    """List the pinned data sets: what they are, where they are, and whether the cache has a file of each."""
    rows = [(pin, cached(pin), cached(pin).is_file()) for pin in pins().values()]
    if as_json:
        listed = [{**pin.model_dump(mode="json"), "path": str(path), "present": there} for pin, path, there in rows]
        typer.echo(json.dumps({"sets": listed}))
        return
    for pin, path, there in rows:
        size = "unknown" if pin.bytes is None else f"{pin.bytes:,}"
        presence = "present" if there else "absent"
        typer.echo(f"{pin.name:18} {size:>13} bytes  sha256 {pin.sha256[:12]}  {pin.licence:12}  {presence}")
        typer.echo(f"    from   {pin.url}")
        typer.echo(f"    file   {path}")
        typer.echo(f"    terms  {pin.terms}")
        if pin.note:
            typer.echo(f"    note   {pin.note}")


@app.command("fetch")
def fetch_sets(names: Annotated[list[str], typer.Argument(metavar="NAME…")], *, as_json: Json = False) -> None:
    """Download data sets into the cache, unless they are there; what was interrupted is taken up again."""
    wanted = [pin_of(name) for name in dict.fromkeys(names)]
    rows = []
    for pin in wanted:
        with Amount(pin.name, "bytes") as amount:
            path = fetch(pin.name, amount)
        rows.append(_row(pin, path))
        if not as_json:
            typer.echo(_line(pin, path))
    if as_json:
        typer.echo(json.dumps({"sets": rows}))


@app.command("import")
def import_set(path: Annotated[Path, typer.Argument(metavar="PATH")], *, as_json: Json = False) -> None:
    """Copy a data set that was brought from elsewhere into the cache; its bytes say which it is."""
    with Amount(path.name, "bytes") as amount:
        target = import_file(path, amount)
    pin = next(pin for pin in pins().values() if cached(pin) == target)
    typer.echo(json.dumps(_row(pin, target)) if as_json else _line(pin, target))


@app.command("verify")
def verify_sets(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME…]", help="Data sets; all by default.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Compare the files of the cache with their pins, byte for byte.

    Exit 1 if one differs, or if one that is named is absent.
    """
    wanted = [pin_of(name) for name in dict.fromkeys(names or pins())]
    verifications = []
    for pin in wanted:
        with Amount(pin.name, "bytes") as amount:
            verifications.append(verify(pin.name, amount))
        if not as_json:
            typer.echo(_told(verifications[-1]))
    if as_json:
        typer.echo(json.dumps({"sets": [_verified(verification) for verification in verifications]}))
    unwanted = {"altered", "absent"} if names else {"altered"}
    if any(verification.state in unwanted for verification in verifications):
        raise typer.Exit(1)


@synth_app.callback()
def _synth() -> None:
    """Make a group of one command stay a group."""


@synth_app.command("longmemeval")
def synth_longmemeval(
    *,
    rows: Annotated[int, typer.Option("--rows", min=1, help="Rows; a row is about half a megabyte.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="The same seed and rows make the same bytes.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="The new file; one of this folder by default.")] = None,
    as_json: Json = False,
) -> None:
    """Write a file of the shape of LongMemEval and of invented words; scores on it say nothing of the real one."""
    path = out or Path(f"longmemeval-synthetic-{rows}-{seed}.json")
    with Amount(path.name, "rows") as amount:
        synthetic.write(path, rows, seed, amount)
    made = identify(path)
    if as_json:
        row = {"synthetic": True, "path": str(path), "rows": rows, "seed": seed}
        typer.echo(json.dumps({**row, "bytes": made.bytes, "sha256": made.sha256}))
        return
    typer.echo(
        f"{path}: synthetic, not LongMemEval: {rows:,} rows from seed {seed}, {made.bytes:,} bytes, "
        f"sha256 {made.sha256}"
    )


def _row(pin: Pin, path: Path) -> dict[str, object]:
    return {"name": pin.name, "path": str(path), "bytes": path.stat().st_size, "sha256": pin.sha256}


def _line(pin: Pin, path: Path) -> str:
    return f"{pin.name}: {path}, {path.stat().st_size:,} bytes, sha256 {pin.sha256}"


def _told(verification: Verification) -> str:
    pin, path, found = verification.pin, verification.path, verification.found
    if found is None:
        return f"{pin.name}: absent: {path} is not there; `smriti data fetch {pin.name}` brings it"
    if verification.state == "altered":
        return f"{pin.name}: altered: {path}: {differing(pin, found)}"
    return f"{pin.name}: {verification.state}: {path}, {found.bytes:,} bytes, sha256 {found.sha256}"


def _verified(verification: Verification) -> dict[str, object]:
    pin, found = verification.pin, verification.found
    return {
        "name": pin.name,
        "state": verification.state,
        "path": str(verification.path),
        "expected": {"bytes": pin.bytes, "sha256": pin.sha256},
        "found": {"bytes": found.bytes, "sha256": found.sha256} if found else None,
    }
