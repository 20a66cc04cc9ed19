"""Sessions for the staff portal."""

from gatehouse.model import Session
from gatehouse.sessions import Sessions
from gatehouse.store import FileStore, MemoryStore

__all__ = ["FileStore", "MemoryStore", "Session", "Sessions"]
