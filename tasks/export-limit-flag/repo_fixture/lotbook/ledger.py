"""Reading a ledger and appending to it."""

from __future__ import annotations

import json
from pathlib import Path

from lotbook.errors import LedgerError
from lotbook.lot import Lot


def read(path: Path) -> list[Lot]:
    """Read all lots in the order of the ledger; raise LedgerError with the line number of the first bad one."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise LedgerError(f"{path}: {error.strerror}") from None
    lots = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            lots.append(Lot.parse(json.loads(line)))
        except (json.JSONDecodeError, LedgerError) as error:
            raise LedgerError(f"{path}:{number}: {error}") from None
    return lots


def append(path: Path, lot: Lot) -> None:
    """Add a lot at the end; raise LedgerError if its code is taken."""
    if path.exists() and any(known.code == lot.code for known in read(path)):
        raise LedgerError(f"{lot.code} is in the ledger already")
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(lot.fields()) + "\n")
