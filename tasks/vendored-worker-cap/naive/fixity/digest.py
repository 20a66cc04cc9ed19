"""Checksums of a collection."""

import hashlib
from pathlib import Path

from fixity._vendor.fanout import fan_out
from fixity.scan import scan

WORKERS = 16


def digest_tree(root: Path, workers: int = WORKERS) -> dict[str, str]:
    """SHA-256 of each file of a collection, by its path relative to `root`, made by `workers` threads."""
    return dict(sorted(fan_out(lambda path: digest_file(root / path), scan(root), lanes=workers)))


def digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
