"""The association's paper archive."""

from paperbark.archive import Archive
from paperbark.documents import ArchiveError, Document

__all__ = ["Archive", "ArchiveError", "Document"]
