"""Gauges, and the level that each of them shows."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

WINDOW = 5
"""Readings that a level is the median of."""


class GaugeError(Exception):
    """The gauge file cannot be used as it is."""


@dataclass(frozen=True)
class Gauge:
    """One gauge; all lengths in millimetres."""

    name: str
    zero_mm: int
    readings: tuple[int, ...]

    @property
    def level_mm(self) -> float | None:
        """Water over the gauge's zero, or None while there are no readings."""
        if not self.readings:
            return None
        return statistics.median(self.readings[-WINDOW:]) - self.zero_mm


def load(path: str | Path) -> list[Gauge]:
    """Read a gauge file; GaugeError tells what is wrong with it."""
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        gauges = [Gauge(str(row["name"]), int(row["zero_mm"]), tuple(int(mm) for mm in row["readings"])) for row in rows]
    except OSError as error:
        raise GaugeError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise GaugeError(f"{path}: not a list of gauges ({error!r})") from error
    names = [gauge.name for gauge in gauges]
    if len(set(names)) < len(names):
        raise GaugeError(f"{path}: two gauges have the same name")
    return gauges
