"""How a call of the command line ended, as tests see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output; anything beside it is an error."""
        return json.loads(self.out)

    def assert_refused(self, *words: str) -> None:
        """It was refused in one paragraph that holds `words`, with nothing on standard output."""
        assert self.status == 2, self
        assert self.out == ""
        assert self.err.startswith("smriti: ")
        assert self.err.count("\n") == 1, "one paragraph"
        assert self.err.endswith("\n")
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err


Smriti = Callable[..., Ended]
"""Runs `smriti` with the given arguments; the fixture of that name."""
