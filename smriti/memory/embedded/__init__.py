"""The embedded memory system: SQLite with FTS5, six lanes, agent hooks.

Nothing heavy is imported here, since every hook call starts with this module.
"""

from __future__ import annotations

TYPE_CHECKING = False
"""True to type checkers alone; importing typing's costs 3 ms, which every prompt would pay."""
if TYPE_CHECKING:
    from smriti.protocols import MemorySystem


def create(argument: str | None) -> MemorySystem:
    """Return the embedded memory system; UsageError for an argument, since it takes none."""
    from smriti.memory.embedded.system import EmbeddedMemory  # noqa: PLC0415  # it imports pydantic

    if argument is not None:
        from smriti.errors import UsageError  # noqa: PLC0415

        raise UsageError(f"memory system 'embedded' takes no argument; found {argument!r}. Name it as embedded.")
    return EmbeddedMemory()
