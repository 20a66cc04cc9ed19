"""Reads the levels of the gauges."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


class LevelsError(Exception):
    """A levels file that must not be used."""


@dataclass(frozen=True)
class Level:
    """Warning and alarm level of one gauge, metres above chart datum."""

    label: str
    warn: float
    alarm: float
    hold_min: int = 0


def load(path: Path) -> dict[str, Level]:
    """Levels by gauge, in the file's order. Raises LevelsError on a level that makes no sense."""
    levels = {}
    for gauge, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
        try:
            level = Level(**fields)
        except TypeError as error:
            raise LevelsError(f"{path}: {gauge}: {error}") from None
        if not level.warn < level.alarm:
            raise LevelsError(f"{path}: {gauge}: alarm level {level.alarm} is not above warning level {level.warn}")
        levels[gauge] = level
    return levels
