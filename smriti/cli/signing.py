"""`smriti receipt sign | check`: who stands behind a receipt, beside whether it is consistent."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from smriti.cli.present import Present
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.check import Check
from smriti.receipts.signing import NAMESPACE, check_origin
from smriti.receipts.signing import sign as sign_receipt
from smriti.receipts.verify import verify

app = typer.Typer(help="Who stands behind a receipt.", no_args_is_help=True)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A receipt folder.")]
_KEY = "Your private SSH key, or its public half where your agent holds the key."
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("sign")
def sign(
    directory: Directory,
    *,
    key: Annotated[Path, typer.Option("--key", metavar="FILE", help=_KEY)],
    identity: Annotated[
        str | None, typer.Option("--identity", metavar="NAME", help="Print what readers need to know you by this name.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Sign a receipt with an SSH key of yours; the signature is written beside the folder, as DIR.sig.

    Exit 0: signed. Exit 2: the receipt does not verify, or the key cannot be used.
    """
    _there(directory)
    if identity is not None and not re.fullmatch(r"[^\s\",*?!#]+", identity):
        raise UsageError(
            f'--identity is {identity!r}, expected one word such as me@example.org, without , * ? ! # or "'
        )
    made = sign_receipt(directory, key, Present().vouch)
    line = None if identity is None else f'{identity} namespaces="{NAMESPACE}" {made.public_key}'
    if as_json:
        typer.echo(json.dumps({"signature": str(made.path), "public_key": made.public_key, "allowed_signers": line}))
        return
    typer.echo(f"signature {made.path}")
    if line is not None:
        typer.echo(f"readers who trust you put this line into their own file of allowed signers:\n{line}")


@app.command("check")
def check(
    directory: Directory,
    *,
    allowed_signers: Annotated[
        Path,
        typer.Option("--allowed-signers", metavar="FILE", help="Your own list of whom you trust; see ssh-keygen(1)."),
    ],
    identity: Annotated[
        str | None, typer.Option("--identity", metavar="NAME", help="Whom you expect (default: anybody in FILE).")
    ] = None,
    revoked: Annotated[
        Path | None, typer.Option("--revoked", metavar="FILE", help="Keys that count for nothing any more.")
    ] = None,
    signature: Annotated[
        Path | None, typer.Option("--signature", metavar="FILE", help="The signature (default: DIR.sig).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether a receipt is consistent (verified) and who stands behind it (signed); exit 1 unless both hold."""
    _there(directory)
    origin = check_origin(directory, allowed_signers, identity=identity, revoked=revoked, signature=signature)
    verified = _verified(directory)
    if as_json:
        who = {"identity": origin.identity, "key": origin.key}
        typer.echo(
            json.dumps({"receipt": str(directory), "verified": asdict(verified), "signed": asdict(origin.check) | who})
        )
    else:
        for found in (verified, origin.check):
            typer.echo(f"{found.name if found.ok else f'NOT {found.name.upper()}':12}  {found.detail}")
    if not (verified.ok and origin.check.ok):
        raise typer.Exit(1)


def _verified(directory: Path) -> Check:
    try:
        verdict = Present().vouch(verify(directory))
    except ReceiptError as error:
        return Check("verified", False, str(error))
    if verdict.state == "verified":
        return Check(
            "verified", True, f"each figure follows from the evidence in the receipt ({verdict.evidence_class})"
        )
    failed = [f"{found.name}: {found.detail}" for found in verdict.checks if found.ok is False]
    return Check("verified", False, "; ".join(failed) or "the run was interrupted: it has no seal")


def _there(directory: Path) -> None:
    if not directory.is_dir():
        raise UsageError(f"{directory} is not there, expected a receipt folder")
