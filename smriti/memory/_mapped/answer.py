"""What a system answered to one call, and what is read from it."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from typing import Any

from smriti.memory._mapped import paths
from smriti.memory._mapped.mapping import Pattern, Place, Rule

_SHOWN = 300


@dataclass(frozen=True)
class Answer:
    """Structured content where there is some, the text, and why the call failed if it says so itself."""

    text: str
    structured: Any = None
    failed: str | None = None

    @property
    def shown(self) -> str:
        """The answer as an error quotes it."""
        text = " ".join(self.text.split()) or json.dumps(self.structured, ensure_ascii=False)
        return repr(text[:_SHOWN])

    def find(self, place: Place) -> Any:
        """Return what stands at `place`; None where there is nothing.

        A path leads into the structured content or, where that has nothing there, into the text if it is JSON. A
        pattern gives what its first group matches in the text.
        """
        if isinstance(place, Pattern):
            found = re.search(place.regex, self.text)
            return found and (found[1] if found.re.groups else found[0])
        for document in self._documents():
            value = paths.find(document, place)
            if value is not None:
                return value
        return None

    def items(self, place: Place) -> list[Any] | None:
        """Return the list at `place`, or the named groups of every match of a pattern; None where there is no list."""
        if isinstance(place, Pattern):
            return [found.groupdict() for found in re.finditer(place.regex, self.text)]
        value = self.find(place)
        return value if isinstance(value, list) else None

    def matches(self, rule: Rule) -> bool:
        """Tell whether the rule's pattern is in the text, or its path has its value."""
        if rule.regex is not None:
            return re.search(rule.regex, self.text) is not None
        return rule.path is not None and _equal(self.find(rule.path), rule.equals)

    def _documents(self) -> list[Any]:
        documents = [] if self.structured is None else [self.structured]
        with contextlib.suppress(ValueError, RecursionError):
            documents.append(json.loads(self.text))
        return documents


def _equal(found: Any, wanted: Any) -> bool:
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)
