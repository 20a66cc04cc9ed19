"""The journal of a registry: one line for each change; docs/journal.md describes it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path


def now() -> datetime:
    return datetime.now(timezone.utc)


class Journal:
    """Adds lines to the file `path`."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = now) -> None:
        self._path = path
        self._clock = clock

    def add(self, action: str, bundle: str, channel: str, **details: str) -> None:
        """Note that `action` changed `channel`; details follow as NAME=VALUE."""
        fields = [f"{self._clock():%Y-%m-%dT%H:%M:%SZ}", action, bundle, channel]
        fields += [f"{name}={value}" for name, value in details.items()]
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(" ".join(fields) + "\n")
