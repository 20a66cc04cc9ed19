"""The export formats: each takes lots in their final order and a text file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import TextIO

from lotbook.lot import Lot

COLUMNS = ("code", "product", "kg", "packed")


def write_csv(lots: Iterable[Lot], out: TextIO) -> None:
    """Write a header and a row for each lot, separated by semicolons as the partner's portal wants them."""
    rows = csv.writer(out, delimiter=";", lineterminator="\n")
    rows.writerow(COLUMNS)
    for lot in lots:
        fields = lot.fields()
        rows.writerow(f"{fields[name]:.1f}" if name == "kg" else fields[name] for name in COLUMNS)


def write_jsonl(lots: Iterable[Lot], out: TextIO) -> None:
    """Write one JSON object a line, with the keys in the order of the columns."""
    for lot in lots:
        fields = lot.fields()
        out.write(json.dumps({name: fields[name] for name in COLUMNS}) + "\n")


FORMATS = {"csv": write_csv, "jsonl": write_jsonl}
