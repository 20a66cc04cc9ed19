"""Open the notes through a mapping, well-behaved or not."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import smriti.memory.http as http_memory
import smriti.memory.mcp as mcp_memory
from smriti.memory._mapped.store import MappedStore
from smriti.memory._mapped.system import MappedSystem
from smriti.types import Memory

SERVERS = Path(__file__).parent
REALM = "project:smriti-notes-on-t1"


class Way(NamedTuple):
    """A way to the notes."""

    name: str
    create: Callable[[str | None], MappedSystem]
    edits: tuple[tuple[str, str], ...] = ()

    def system(self, folder: Path, misbehave: str = "", *edits: tuple[str, str]) -> MappedSystem:
        """Make the system from the mapping, with texts in it replaced."""
        text = (SERVERS / "notes.toml").read_text(encoding="utf-8")
        for old, new in (
            *self.edits,
            *edits,
            ("SERVERS", str(SERVERS)),
            ("CHECKOUT", str(SERVERS.parents[2])),
            ("MISBEHAVE =", "\0"),
            ("MISBEHAVE", misbehave),
        ):
            assert old in text or old == "MISBEHAVE", old
            text = text.replace(old, new)
        folder.mkdir(exist_ok=True)
        file = folder / "notes.toml"
        file.write_text(text.replace("\0", "MISBEHAVE ="), encoding="utf-8")
        return self.create(str(file))

    @contextlib.contextmanager
    def opened(self, folder: Path, misbehave: str = "", *edits: tuple[str, str]) -> Iterator[MappedStore]:
        """Open the store in `folder`, and close it."""
        store = self.system(folder, misbehave, *edits).open(folder)
        try:
            yield store
        finally:
            store.close()


STDIO = Way("mcp by stdio", mcp_memory.create)
TEXT = Way(
    "mcp by stdio, text alone", mcp_memory.create, (("NOTES_MISBEHAVE =", 'NOTES_TEXT_ONLY = "1", NOTES_MISBEHAVE ='),)
)
STREAMABLE = Way(
    "mcp by streamable HTTP",
    mcp_memory.create,
    (('mcp_server.py"]', 'mcp_server.py", "{port}"]\nurl = "http://127.0.0.1:{port}/mcp"'),),
)
REST = Way("http", http_memory.create)
WAYS = (STDIO, STREAMABLE, REST)


def memory(content: str, source_id: str = "m1") -> Memory:
    return Memory(content=content, type="wisdom", role="distractor", source_id=source_id)


def server_pids(folder: Path) -> list[int]:
    """Return every process that was started over this folder."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                str(folder).encode() in (entry / "environ").read_bytes()
                and b"SMRITI_SERVER=" in (entry / "environ").read_bytes()
            ):
                pids.append(int(entry.name))
    return pids
