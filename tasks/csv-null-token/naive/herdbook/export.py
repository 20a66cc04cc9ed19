"""Handing recordings on to other systems."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TextIO

from herdbook.recording import COLUMNS, Recording


def write_json(recordings: Iterable[Recording], out: TextIO) -> None:
    """Write the recordings as one array, with every column, known or not."""
    entries = [asdict(recording) | {"day": recording.day.isoformat()} for recording in recordings]
    json.dump(entries, out, indent=1, ensure_ascii=False)
    out.write("\n")


def write_csv(recordings: Iterable[Recording], out: TextIO) -> None:
    """Write a header and a row for each recording; a cell is empty where the value is not known."""
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    for recording in recordings:
        rows.writerow(_cell(getattr(recording, column)) for column in COLUMNS)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


FORMATS = {"csv": write_csv, "json": write_json}
