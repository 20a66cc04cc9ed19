"""The bank's calendar."""

from collections.abc import Set
from datetime import date, timedelta
from pathlib import Path

SATURDAY = 5
DAY = timedelta(days=1)


def read_holidays(path: Path) -> frozenset[date]:
    """Read one ISO date a line; what follows a date, empty lines and lines with # are for people."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(date.fromisoformat(line.split()[0]) for line in lines if line.strip() and not line.startswith("#"))


def is_business_day(day: date, holidays: Set[date]) -> bool:
    return day.weekday() < SATURDAY and day not in holidays


def next_business_day(day: date, holidays: Set[date]) -> date:
    """Give the first business day after `day`, never `day` itself."""
    day += DAY
    while not is_business_day(day, holidays):
        day += DAY
    return day
