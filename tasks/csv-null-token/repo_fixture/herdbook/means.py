"""Means of a farm, over what is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from herdbook.recording import Recording


@dataclass(frozen=True)
class Means:
    farm: str
    cows: int
    milk_kg: float | None
    fat_pct: float | None
    """Weighted by the milk, since it all ends up in one tank."""


def by_farm(recordings: Iterable[Recording]) -> list[Means]:
    """Give the means of each farm, in the order in which the farms come."""
    farms: dict[str, list[Recording]] = {}
    for recording in recordings:
        farms.setdefault(recording.farm, []).append(recording)
    return [_means(farm, of_farm) for farm, of_farm in farms.items()]


def _means(farm: str, recordings: list[Recording]) -> Means:
    weighed = [recording.milk_kg for recording in recordings if recording.milk_kg is not None]
    tested = [
        (recording.milk_kg, recording.fat_pct)
        for recording in recordings
        if recording.milk_kg and recording.fat_pct is not None
    ]
    return Means(
        farm,
        len({recording.ear_tag for recording in recordings}),
        sum(weighed) / len(weighed) if weighed else None,
        sum(milk * fat for milk, fat in tested) / sum(milk for milk, _ in tested) if tested else None,
    )
