"""Reading the catalogue file."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from partbook.errors import CatalogueError

COLUMNS = ("number", "name", "bin", "stock", "minimum", "pack")


@dataclass(frozen=True)
class Part:
    """One line of the catalogue."""

    number: str
    name: str
    bin: str
    stock: int
    minimum: int
    pack: int

    @property
    def short(self) -> bool:
        """Whether it is time to order."""
        return self.stock < self.minimum

    @property
    def packs_to_order(self) -> int:
        """Packs that bring the stock back to the minimum or above."""
        missing = max(0, self.minimum - self.stock)
        return -(-missing // self.pack)


def load(path: str | Path) -> list[Part]:
    """Read a catalogue, in the order of its lines; CatalogueError tells the first thing that is wrong."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise CatalogueError(f"{path}: expected the columns {', '.join(COLUMNS)}")
            parts = [_part(row, f"{path}, line {reader.line_num}") for row in reader]
    except OSError as error:
        raise CatalogueError(f"{path}: {error.strerror}") from error
    seen: set[str] = set()
    for part in parts:
        if part.number in seen:
            raise CatalogueError(f"{path}: {part.number} is listed twice")
        seen.add(part.number)
    return parts


def _part(row: dict[str, str], where: str) -> Part:
    try:
        counts = {name: int(row[name]) for name in ("stock", "minimum", "pack")}
    except (TypeError, ValueError) as error:
        raise CatalogueError(f"{where}: stock, minimum and pack are whole numbers") from error
    if counts["pack"] < 1:
        raise CatalogueError(f"{where}: a pack holds at least one piece")
    return Part(row["number"], row["name"], row["bin"], **counts)
