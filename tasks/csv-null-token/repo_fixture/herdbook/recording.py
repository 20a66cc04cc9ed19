"""A recording: one cow on one day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date


class BadRecording(Exception):
    """A recording that cannot be read; the message says what is wrong with it."""


@dataclass(frozen=True)
class Recording:
    """The fields are the columns of docs/recordings.md, in that order; None is what is not known."""

    farm: str
    ear_tag: str
    day: date
    milk_kg: float | None = None
    fat_pct: float | None = None
    protein_pct: float | None = None
    cells: int | None = None
    dry: bool | None = None
    remark: str | None = None

    @classmethod
    def parse(cls, entry: dict[str, object]) -> Recording:
        """Build a recording from an entry of a recorder's file."""
        unknown = sorted(entry.keys() - set(COLUMNS))
        if unknown:
            raise BadRecording(f"unknown column {unknown[0]!r}")
        for column in ("farm", "ear_tag", "day"):
            if not entry.get(column):
                raise BadRecording(f"{column} is not known")
        try:
            return cls(**entry | {"day": date.fromisoformat(str(entry["day"]))})
        except ValueError:
            raise BadRecording(f"{entry['day']!r} is no date") from None

    def doubts(self) -> Iterator[str]:
        """Say what is unlikely about the recording."""
        if self.milk_kg is not None and not 0 <= self.milk_kg <= 75:
            yield f"{self.milk_kg:g} kg of milk"
        if self.dry and self.milk_kg:
            yield "dry, but was milked"
        for name, percent in (("fat", self.fat_pct), ("protein", self.protein_pct)):
            if percent is not None and not 1.5 <= percent <= 9:
                yield f"{percent:g} % {name}"


COLUMNS = tuple(field.name for field in fields(Recording))
