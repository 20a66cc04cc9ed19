"""Levels in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.gauges import Gauge


def exposition(gauges: Iterable[Gauge]) -> str:
    """Write the levels of `gauges`; one without readings counts as not up and has no level."""
    gauges = list(gauges)
    lines = ["# HELP tidegate_gauge_up Whether the gauge has readings.", "# TYPE tidegate_gauge_up gauge"]
    lines += [f'tidegate_gauge_up{{gauge="{_escaped(gauge.name)}"}} {int(gauge.level_mm is not None)}' for gauge in gauges]
    lines += ["# HELP tidegate_level_mm Water over the gauge's zero.", "# TYPE tidegate_level_mm gauge"]
    for gauge in gauges:
        if gauge.level_mm is not None:
            lines.append(f'tidegate_level_mm{{gauge="{_escaped(gauge.name)}"}} {gauge.level_mm:g}')
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
