"""Links and headings of a Markdown page: no full parser, but code blocks and code spans are kept out."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
FENCE = re.compile(r"\s*(```|~~~)")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Give the line number and target of each link and picture."""
    for number, line in _prose(text):
        for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
            yield number, match.group(1)


def headings(text: str) -> set[str]:
    """Give the identifiers of the headings; a repeated heading gets -2, -3 and so on, as our renderer does it."""
    seen: dict[str, int] = {}
    found = set()
    for _, line in _prose(text):
        if match := HEADING.fullmatch(line):
            name = identifier(match.group(2))
            seen[name] = seen.get(name, 0) + 1
            found.add(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return found


def identifier(heading: str) -> str:
    """Turn a heading into what stands behind the # of a link to it."""
    words = re.sub(r"[^\w\s-]", "", heading.lower())
    return re.sub(r"[\s-]+", "-", words).strip("-")


def _prose(text: str) -> Iterator[tuple[int, str]]:
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if mark and fence in (None, mark.group(1)):
            fence = None if fence else mark.group(1)
        elif fence is None:
            yield number, line
