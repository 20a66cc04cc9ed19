"""Reading the weighbridge's files."""

import csv
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

COLUMNS = ["ticket", "mill", "grain", "weight_kg", "moisture"]


class UnusableFile(Exception):
    """A file is missing, or is not the kind of file that it should be."""


@dataclass(frozen=True)
class Row:
    """One delivery as it stands in the file; `line` counts from 1, the header included."""

    line: int
    ticket: str
    mill: str
    grain: str
    weight_kg: str
    moisture: str


def read_deliveries(path: Path) -> list[Row]:
    """Read all rows, without judging them."""
    rows = [Row(line, *(record[column] or "" for column in COLUMNS)) for line, record in _records(path, COLUMNS)]
    log.info("read %d rows from %s", len(rows), path.name)
    return rows


def read_mills(path: Path) -> dict[str, str]:
    """Read the mills' names by code."""
    return {record["code"]: record["name"] for _, record in _records(path, ["code", "name"])}


def _records(path: Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != columns:
                raise UnusableFile(f"{path.name} should have the columns {', '.join(columns)}")
            for record in reader:
                yield reader.line_num, record
    except OSError as error:
        raise UnusableFile(f"{path.name} cannot be read: {error.strerror}") from error
