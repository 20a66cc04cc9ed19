"""Judges a reading."""

from typing import Literal

from tidewatch.levels import Level

State = Literal["calm", "warning", "alarm"]


def assess(level: Level, metres: float, minutes: float) -> State:
    """State of a gauge whose water has stood at `metres` for `minutes`; a level counts as reached at exactly its height."""
    if metres >= level.alarm:
        return "alarm"
    if metres >= level.warn and minutes >= level.hold_min:
        return "warning"
    return "calm"
