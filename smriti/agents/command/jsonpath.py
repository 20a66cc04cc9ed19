"""Paths into JSON: `usage.input_tokens`, `items[0].usage`, `[-1].text`, `models["a.b"].tokens`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

_STEP = re.compile(r'(?P<dot>\.)?(?P<key>[A-Za-z_$][\w$-]*)|\[(?P<index>-?\d+)\]|\["(?P<quoted>[^"]+)"\]')


@dataclass(frozen=True, slots=True)
class JsonPath:
    """Steps from the outside in: a key of an object, or an index of an array (negative from its end)."""

    steps: tuple[str | int, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a path; ValueError on anything else."""
        steps: list[str | int] = []
        at = 0
        while at < len(text):
            step = _STEP.match(text, at)
            if step is None or (step["key"] is not None and (step["dot"] is not None) != bool(steps)):
                break
            steps.append(int(step["index"]) if step["index"] else step["key"] or step["quoted"])
            at = step.end()
        if at < len(text) or not steps:
            raise ValueError('expected a path such as usage.input_tokens, items[-1].usage or models["a.b"].tokens')
        return cls(tuple(steps))

    def find(self, document: Any) -> Any:
        """Return what stands at the path in `document`; None when it, or anything on the way, is missing."""
        for step in self.steps:
            try:
                document = document[step]
            except (KeyError, IndexError, TypeError):
                return None
        return document
