"""Answers on disk, one file per URL."""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

FRESH_S = 15 * 60


def default_directory() -> Path:
    """Give `$TIDEWATCH_CACHE_DIR`, or a directory below the user's home."""
    configured = os.environ.get("TIDEWATCH_CACHE_DIR")
    return Path(configured) if configured else Path.home() / ".cache" / "tidewatch"


class Cache:
    """Keeps bodies for `FRESH_S` seconds; older ones are treated as absent."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._clock = clock

    def get(self, url: str) -> str | None:
        path = self._path(url)
        try:
            age_s = self._clock() - path.stat().st_mtime
            return path.read_text(encoding="utf-8") if age_s < FRESH_S else None
        except FileNotFoundError:
            return None

    def put(self, url: str, body: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._path(url)
        path.write_text(body, encoding="utf-8")
        now = self._clock()
        os.utime(path, (now, now))

    def _path(self, url: str) -> Path:
        return self._directory / (hashlib.sha256(url.encode()).hexdigest() + ".json")
