"""Argument templates: `{content}` alone stands for the value itself, inside a text for its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"(?<!\$)\{([a-z_]+)\}")


def placeholders(template: Any) -> Iterator[str]:
    """Yield every name in braces, anywhere in a template."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from placeholders(part)
    elif isinstance(template, (list, tuple)):
        for part in template:
            yield from placeholders(part)


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return `template` with its values, in one pass: braces in a value stay as they are.

    What is a placeholder alone whose value is None is left out of its table or list.
    """
    if isinstance(template, str):
        if whole := _PLACEHOLDER.fullmatch(template):
            return values[whole[1]]
        return _PLACEHOLDER.sub(lambda found: _text(values[found[1]]), template)
    if isinstance(template, Mapping):
        parts = {key: filled(part, values) for key, part in template.items()}
        return {key: part for key, part in parts.items() if part is not None}
    if isinstance(template, (list, tuple)):
        return [part for part in (filled(part, values) for part in template) if part is not None]
    return template


def _text(value: Any) -> str:
    return "" if value is None else str(value)
