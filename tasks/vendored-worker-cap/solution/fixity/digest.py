"""Checksums of a collection."""

import hashlib
from pathlib import Path

from fixity._vendor.fanout import fan_out
from fixity._vendor.fanout.board import BOARD_BITS
from fixity.scan import scan

WORKERS = 16


def digest_tree(root: Path, workers: int = WORKERS) -> dict[str, str]:
    """SHA-256 of each file of a collection, by its path relative to `root`, made by up to `workers` threads."""
    # fanout deals items to every lane but serves only those that have a bit on its board.
    lanes = min(workers, BOARD_BITS)
    return dict(sorted(fan_out(lambda path: digest_file(root / path), scan(root), lanes=lanes)))


def digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
