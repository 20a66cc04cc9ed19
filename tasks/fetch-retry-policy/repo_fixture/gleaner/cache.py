"""Pages that we have seen, by address."""

import hashlib
import json
from pathlib import Path


class Cache:
    """Keeps a page and its ETag in a folder; a cache without a folder keeps nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def load(self, url: str) -> tuple[str, str] | None:
        """ETag and body of a page, or None."""
        if self.folder is None or not self._path(url).exists():
            return None
        entry = json.loads(self._path(url).read_text(encoding="utf-8"))
        return entry["etag"], entry["body"]

    def store(self, url: str, etag: str, body: str) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._path(url).write_text(json.dumps({"url": url, "etag": etag, "body": body}), encoding="utf-8")

    def _path(self, url: str) -> Path:
        return self.folder / f"{hashlib.sha256(url.encode()).hexdigest()[:24]}.json"
