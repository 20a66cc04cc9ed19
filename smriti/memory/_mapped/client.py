"""What a store needs of the way to its system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.mapping import Call


class Client(Protocol):
    """A running system that answers calls. Threads may share it."""

    def call(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        """Make one call with its templates filled from `values`.

        MemorySystemError, naming `verb` and the cause, where no answer comes in time or the server is dead.
        """

    def stop(self) -> None:
        """End the server and everything that it started."""
