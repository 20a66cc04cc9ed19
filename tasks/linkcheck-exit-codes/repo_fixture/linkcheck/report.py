"""How an outcome is shown."""

from __future__ import annotations

import json
from dataclasses import asdict

from linkcheck.pages import Outcome


def as_text(outcome: Outcome) -> str:
    """Give a line for each broken link and one that adds them up."""
    lines = [f"{broken.page}:{broken.line}: {broken.reason}: {broken.target}" for broken in outcome.broken]
    lines.append(f"{_count(len(outcome.broken), 'broken link')} in {_count(outcome.pages, 'page')}")
    return "\n".join(lines)


def as_json(outcome: Outcome) -> str:
    """Give the outcome as an object with `pages` and `broken`."""
    return json.dumps(asdict(outcome), indent=2, sort_keys=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
