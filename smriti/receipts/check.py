"""One line of a verdict, and how findings become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

SHOWN = 5
"""Findings of one kind that are named one by one."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the verdict; `ok` is None where the receipt alone cannot tell."""

    name: str
    ok: bool | None
    detail: str


def judge(name: str, wrong: Sequence[str], right: str) -> Check:
    """Make the check `name`: refused with the first of `wrong`, or held, as `right` says."""
    if not wrong:
        return Check(name, True, right)
    more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    return Check(name, False, "; ".join(wrong[:SHOWN]) + more)


def is_time(text: str) -> bool:
    """Tell whether `text` is an ISO 8601 time that says its zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def repeated(names: Sequence[str]) -> list[str]:
    """Return what stands in `names` more than once, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
