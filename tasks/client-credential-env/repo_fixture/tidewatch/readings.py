"""From a service's JSON to the lines that the duty desk reads."""

from typing import Any

from tidewatch.errors import BadAnswer


def level_lines(answer: Any) -> list[str]:
    """Format gauge readings, each with the trend since the one before."""
    lines = []
    previous = None
    for reading in _listed(answer, "readings"):
        level = float(reading["level_m"])
        lines.append(f"{reading['at']}  {level:6.2f} m  {_trend(previous, level)}".rstrip())
        previous = level
    return lines


def tide_lines(answer: Any) -> list[str]:
    """Format a day's predicted tides."""
    return [f"{tide['at']}  {tide['kind']:<4}  {float(tide['level_m']):6.2f} m" for tide in _listed(answer, "tides")]


def _trend(previous: float | None, level: float) -> str:
    if previous is None:
        return ""
    if abs(level - previous) < 0.005:
        return "steady"
    return "rising" if level > previous else "falling"


def _listed(answer: Any, key: str) -> list[Any]:
    if not isinstance(answer, dict) or not isinstance(answer.get(key), list):
        raise BadAnswer(f"the answer has no list of {key}")
    return answer[key]
