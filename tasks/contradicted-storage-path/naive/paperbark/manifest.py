"""The auditors' list of documents, each with the digest of its stored file."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

from paperbark.archive import GENERATED, Archive

COLUMNS = ("id", "title", "sha256")


def write_manifest(archive: Archive) -> Path:
    """Write manifest.csv among the generated files and return its path, relative to the archive."""
    rows = [
        (document.id, document.title, hashlib.sha256(archive.content(document)).hexdigest())
        for document in archive.documents()
    ]
    relative = Path(GENERATED, "manifest.csv")
    target = archive.root / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return relative
