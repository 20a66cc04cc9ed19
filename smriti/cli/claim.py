"""`smriti claim` and `smriti claim check`: what receipts support, and whether a text says what they say."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from smriti.cli.compare import comparisons
from smriti.cli.present import Present
from smriti.cli.receipts import CLOSING, lines
from smriti.cli.retrieval_summary import print_retrieval_summary
from smriti.cli.summary import print_summary
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.claim import Claim, compared, make_claim, markdown
from smriti.receipts.gates import Gate
from smriti.receipts.prose import Prose, check_prose
from smriti.receipts.sealed import SealedReceipt
from smriti.receipts.writer import write_new
from smriti.types import BenchManifest

RECEIPTS = Path("receipts")
LONGEST_TITLE = 120
_CLAIMS = re.compile(
    r"(?i)%|\bper\s?cent\b|\d\s*(?:times|x\b)|\d\.\d|\b(?:twice|thrice|half|halv\w*|tripl\w*|\w+fold|better|worse|best|worst|more|less|most|least|higher|lower|faster|slower|"
    r"superior\w*|improv\w*|outperform\w*|beat\w*|win\w*|boost\w*|increas\w*|reduc\w*|doubl\w*|effective\w*|proven?)\b"
)
"""What a title may not say: all other words of a claim are fixed, and have their gates."""
_MAKE = "make"


class _MakesUnlessToldOtherwise(TyperGroup):
    """Takes `smriti claim DIR` as `smriti claim make DIR`; a folder called as a command is written `./check`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [_MAKE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_MakesUnlessToldOtherwise,
    help="What receipts support (`smriti claim DIR…`), and whether a text says what they say (`smriti claim check`).",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command(_MAKE)
def make(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Receipt folders.")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write claim.md and claim.json into this folder.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Your heading; all other words are fixed.")] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Add what `smriti compare A B` says of two of the receipts."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a claim from receipts, every figure tied to one of them; the default command.

    Exit 0: it was written. Exit 1: refused, with every gate that is not met. Exit 2: unusable input.
    """
    _check_named(directories, out, title)
    pairs = [] if compare is None else list(map(compared, comparisons(*compare)))
    made = make_claim(directories, title, pairs, Present().settle)
    if isinstance(made, list):
        _refuse(made, as_json=as_json)
        raise typer.Exit(1)
    written = [] if out is None else _write(made, out)
    if as_json:
        claim = made.model_dump(mode="json", by_alias=True)
        typer.echo(json.dumps({"claim": claim, "unmet": [], "files": [str(path) for path in written]}))
    elif written:
        typer.echo("\n".join(map(str, written)))
    else:
        typer.echo(markdown(made), nl=False)


@app.command("check")
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Markdown files.")],
    *,
    receipts: Annotated[
        list[Path] | None,
        typer.Option("--receipts", metavar="ROOT", help="Where receipts are; may be repeated (default: receipts)."),
    ] = None,
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="A receipt that is not there is said, and is no failure.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare the figures of Markdown files that name a receipt with it, digit by digit.

    A figure names one as a link, [0.593](receipt:RUN-ID#delta_sr/on/all); a table of figures or a fence with what a
    command printed stands after <!-- receipt: RUN-ID -->. RUN-ID may be a folder or a sha256, and @SHA256 behind it
    says which receipt it must be. What `smriti claim --out` wrote is compared with its receipts word for
    word. Exit 1 if a figure differs, or if a file names no receipt.
    """
    texts = [(path, _text(path)) for path in files]
    roots = receipts or [RECEIPTS]
    for root in receipts or ():
        if not root.is_dir():
            raise UsageError(f"--receipts {root} is not there, expected a folder with receipts in it")
    vouch = Present().vouch
    checked = [(path, check_prose(path, text, roots, _printed, look=vouch)) for path, text in texts]
    bad = [_failures(prose, missing_ok=missing_ok) for _, prose in checked]
    if as_json:
        typer.echo(json.dumps({"files": [_as_json(path, prose) for path, prose in checked]}))
    else:
        for path, prose in checked:
            _print(path, prose)
    if any(bad):
        raise typer.Exit(1)


def _check_named(directories: Sequence[Path], out: Path | None, title: str | None) -> None:
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(f"{directory} is not there, expected a receipt folder; nothing was claimed")
        if out is not None and out.resolve().is_relative_to(directory.resolve()):
            raise UsageError(
                f"--out {out} lies in receipt {directory}, where nothing may be added; give another folder"
            )
    resolved = [directory.resolve() for directory in directories]
    for directory in directories:
        if resolved.count(directory.resolve()) > 1:
            raise UsageError(f"{directory} is named twice; each receipt is claimed from once")
    if title is not None and (not title.strip() or len(title) > LONGEST_TITLE or not title.isprintable()):
        raise UsageError(
            f"--title is {title!r:.200}, expected one line of at most {LONGEST_TITLE} printable characters"
        )
    if title is not None and (claims := _CLAIMS.search(unicodedata.normalize("NFKC", title))):
        raise UsageError(
            f"--title {title!r} claims something by itself ({claims[0]!r}), which no receipt is asked about; expected "
            "what was measured, without figures or comparisons"
        )


def _refuse(unmet: list[Gate], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"claim": None, "unmet": [asdict(gate) for gate in unmet], "files": []}))
        return
    for gate in unmet:
        typer.echo(f"{gate.receipt}: {gate.name}: found {gate.found}; expected {gate.expected}")
    count = f"{len(unmet)} gates are" if len(unmet) > 1 else "1 gate is"
    typer.echo(f"NO CLAIM: {count} not met")


def _write(claim: Claim, out: Path) -> list[Path]:
    """Write both files; what is there already is left alone, unless it is the same."""
    contents = {
        out / "claim.md": markdown(claim).encode(),
        out / "claim.json": claim.model_dump_json(by_alias=True, indent=2).encode() + b"\n",
    }
    try:
        for path, content in contents.items():
            if path.exists() and path.read_bytes() != content:
                raise UsageError(f"{path} is there and is another; a claim is not written over it. Give another --out")
        out.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            write_new(path, content)
    except OSError as error:
        raise ReceiptError(f"{out}: cannot write the claim: {error.strerror or error}") from error
    return list(contents)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}; expected a Markdown file") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}; expected a Markdown file") from error


def _printed(receipt: SealedReceipt, name: Path) -> tuple[list[str], list[str]]:
    """Return what the commands print of a receipt that stands in the folder `name`: its summary, and its verdict."""
    with _no_terminal(), contextlib.redirect_stdout(io.StringIO()) as printed:
        if isinstance(receipt.manifest, BenchManifest):
            print_summary(receipt.manifest, receipt.summary, name)
        else:
            print_retrieval_summary(receipt.manifest, receipt.summary, name)
    verdict = [line.replace(str(receipt.directory), str(name)) for line in lines(receipt.verdict)]
    return printed.getvalue().splitlines(), [*verdict, CLOSING]


@contextlib.contextmanager
def _no_terminal() -> Iterator[None]:
    """Have tables laid out as in a file, whatever the environment says of colours and columns."""
    kept = {name: value for name in _TERMINAL if (value := os.environ.pop(name, None)) is not None}
    try:
        yield
    finally:
        os.environ.update(kept)


_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS")


def _failures(prose: Prose, *, missing_ok: bool) -> bool:
    if any(not (missing_ok and problem.missing) for problem in prose.problems):
        return True
    return not prose.problems and not prose.receipts


def _print(path: Path, prose: Prose) -> None:
    for problem in prose.problems:
        typer.echo(f"{path}:{problem.line}: {problem.message}")
    if not prose.receipts and not prose.problems:
        typer.echo(f"{path}: names no receipt: nothing was checked. `smriti claim check --help` says how to name one")
        return
    classes = sorted({receipt.manifest.evidence_class for receipt in prose.receipts.values()})
    of = len({receipt.sha256 for receipt in prose.receipts.values()})
    kinds = f" ({', '.join(classes)})" if classes else ""
    missing = sum(problem.missing for problem in prose.problems)
    absent = f", not there: {missing}" if missing else ""
    typer.echo(
        f"{path}: {prose.figures} figures and {prose.output_lines} lines of output compared; receipts: {of}{kinds}, "
        f"problems: {len(prose.problems) - missing}{absent}"
    )


def _as_json(path: Path, prose: Prose) -> dict[str, object]:
    return {
        "path": str(path),
        "figures": prose.figures,
        "output_lines": prose.output_lines,
        "receipts": [
            {"name": name, "sha256": receipt.sha256, "evidence_class": receipt.manifest.evidence_class}
            for name, receipt in prose.receipts.items()
        ],
        "problems": [asdict(problem) for problem in prose.problems],
    }
