"""The reader: which command do texts name for a task? It knows nothing else, and reads the same in the same texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_COMMAND = re.compile(r"`([^`\n]+)`")


def commands_for(task: str, texts: Iterable[str]) -> list[str]:
    """Return the distinct commands in backticks of the sentences that name `task`, sorted; case does not matter."""
    named = {
        command.strip()
        for text in texts
        for sentence in _SENTENCE.split(text)
        if task.lower() in sentence.lower()
        for command in _COMMAND.findall(sentence)
    }
    return sorted(named)
