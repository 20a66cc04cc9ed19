"""An archive directory: adding, finding and opening documents."""

from __future__ import annotations

import shutil
from pathlib import Path

from paperbark.documents import ArchiveError, Document

RECORDS = "documents"
FILES = "files"


class Archive:
    """The archive in the directory `root`, which need not exist yet."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def add(self, source: str | Path, *, title: str, year: int) -> Document:
        """Store a copy of `source` under a new id."""
        source = Path(source)
        if not source.is_file():
            raise ArchiveError(f"{source} is not a file")
        if not 1000 <= year <= 9999:
            raise ArchiveError(f"{year} is not a year of four digits")
        identifier = self._next_id(year)
        document = Document(identifier, title, year, f"{FILES}/{identifier}{source.suffix.lower()}")
        for name in (RECORDS, FILES):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, self.root / document.file)
        self._record(identifier).write_text(document.to_json(), encoding="utf-8")
        return document

    def documents(self) -> list[Document]:
        """Return all documents, sorted by id."""
        found = []
        for path in (self.root / RECORDS).glob("*.json"):
            try:
                found.append(Document.from_json(path.read_text(encoding="utf-8")))
            except (ValueError, TypeError) as error:
                raise ArchiveError(f"{path}: not a record") from error
        return sorted(found)

    def content(self, document: Document) -> bytes:
        """Read the stored file of a document."""
        try:
            return (self.root / document.file).read_bytes()
        except OSError as error:
            raise ArchiveError(f"{document.id}: {document.file} cannot be read") from error

    def _next_id(self, year: int) -> str:
        taken = [int(path.stem.rpartition("-")[2]) for path in (self.root / RECORDS).glob(f"{year}-*.json")]
        return f"{year}-{max(taken, default=0) + 1:03}"

    def _record(self, identifier: str) -> Path:
        return self.root / RECORDS / f"{identifier}.json"
