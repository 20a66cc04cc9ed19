"""`smriti compare`: the memory systems of two receipts, paired by case, and one verdict."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from smriti.cli.compare_summary import print_comparison
from smriti.cli.present import Present
from smriti.cli.run import EXIT_DOES_NOT_STAND
from smriti.cli.tables import summary_console
from smriti.errors import UsageError
from smriti.receipts.comparable import Side
from smriti.receipts.compare import Comparison
from smriti.receipts.compare import compare as compare_receipts
from smriti.receipts.sealed import Look, SealedReceipt, read_sealed
from smriti.types import RetrievalManifest

ALLOW = "A field that may differ all the same, recorded in the output; may be repeated."
_SIDE = "Receipt folder; DIR:SYSTEM picks one system of a retrieval receipt."
_JSON = "Print one JSON object."


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=_SIDE)],
    second: Annotated[str, typer.Argument(metavar="B", help=_SIDE)],
    *,
    baseline: Annotated[str, typer.Option(metavar="A|B", help="Which of them the other is compared with.")] = "A",
    allow: Annotated[list[str] | None, typer.Option(metavar="FIELD", help=ALLOW)] = None,
    condition: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the bench: the condition of the verdict (default: on).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help=_JSON)] = False,
) -> None:
    """Compare the memory systems of two receipts, paired by case. Refused where more than the memory system differs.

    Exit 0: compared, whatever the verdict. Exit 1: no verdict, since a receipt did not measure what it set out to.
    Exit 2: not comparable.
    """
    label: Literal["A", "B"] = "A" if baseline == "A" else "B"
    if baseline not in {"A", "B"}:
        raise UsageError(f"--baseline is {baseline!r}, expected A or B: the first or the second of the two receipts")
    made = comparisons(first, second, baseline=label, allow=allow or (), condition=condition)
    if as_json:
        typer.echo(json.dumps({"comparisons": [comparison.stated() for comparison in made]}))
    else:
        console = summary_console()
        for number, comparison in enumerate(made):
            if number:
                console.print()
            print_comparison(console, comparison)
    if any(not comparison.verdict.stands for comparison in made):
        raise typer.Exit(EXIT_DOES_NOT_STAND)


def comparisons(
    first: str,
    second: str,
    *,
    baseline: Literal["A", "B"] = "A",
    allow: Sequence[str] = (),
    condition: str | None = None,
) -> list[Comparison]:
    """Compare what two names of receipts stand for; of two with the same several systems, each with itself."""
    vouch = Present().vouch
    sides = _sides(_Named.read(first, vouch), _Named.read(second, vouch), condition)
    return [compare_receipts(a, b, baseline=baseline, allow=allow, condition=condition or "on") for a, b in sides]


@dataclass(frozen=True)
class _Named:
    """A receipt that the command line names, and the system of it where one is picked."""

    receipt: SealedReceipt
    system: str | None

    @classmethod
    def read(cls, text: str, look: Look) -> _Named:
        """Read DIR or DIR:SYSTEM, in which either part may have colons; UsageError where there is no such folder."""
        parts = text.split(":")
        for count in range(len(parts), 0, -1):
            directory = Path(":".join(parts[:count]))
            if parts[0] and directory.exists():
                return cls(read_sealed(directory, look), ":".join(parts[count:]) or None)
        raise UsageError(f"{text} is not there, expected a receipt folder, or one and a system of it as DIR:SYSTEM")

    @property
    def systems(self) -> tuple[str, ...]:
        manifest = self.receipt.manifest
        return manifest.config.memory if isinstance(manifest, RetrievalManifest) else ()


def _sides(a: _Named, b: _Named, condition: str | None) -> list[tuple[Side, Side]]:
    """Pair what is compared: one pair, or of two receipts with the same several systems each with itself."""
    for named in (a, b):
        _check_system(named)
        if condition is not None and named.systems:
            raise UsageError(
                f"--condition {condition} is of the bench, and {named.receipt.directory} is a receipt of "
                f"{named.receipt.manifest.suite}, which has no conditions"
            )
    if a.system is None and b.system is None and sorted(a.systems) == sorted(b.systems) and a.systems:
        return [(Side("A", a.receipt, system), Side("B", b.receipt, system)) for system in a.systems]
    return [(Side("A", a.receipt, _the_system(a)), Side("B", b.receipt, _the_system(b)))]


def _check_system(named: _Named) -> None:
    if named.system is None or named.system in named.systems:
        return
    where = named.receipt.directory
    if not named.systems:
        raise UsageError(
            f"{where}:{named.system} picks a system, and {where} is a receipt of {named.receipt.manifest.suite}, "
            f"which has one. Give {where}"
        )
    near = difflib.get_close_matches(named.system, named.systems, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"{where} has no system {named.system!r}, it has {', '.join(named.systems)}{hint}")


def _the_system(named: _Named) -> str | None:
    if named.system is not None or not named.systems:
        return named.system
    if len(named.systems) > 1:
        where = named.receipt.directory
        raise UsageError(
            f"{where} holds {len(named.systems)} systems ({', '.join(named.systems)}), and which of them is meant is "
            f"not clear. Pick one, such as {where}:{named.systems[0]}"
        )
    return named.systems[0]
