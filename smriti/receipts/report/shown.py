"""Show what a run left behind, as much of it as a reader can take in, and say how much is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smriti.receipts.report.view import Entry, Listing

MOST_CHARACTERS = 60_000
"""Of one listing."""
MOST_IN_EVENT = 6_000
"""Of one text in an event of a transcript."""
_TAIL = MOST_CHARACTERS // 4
_SHORT = 60
_NAMING = ("type", "subtype", "event", "role", "turn", "tool", "name")
"""What says of an event what it is."""


def transcript(title: str, content: bytes | None) -> Listing:
    """Show a transcript event by event: JSON lines by their fields, any other line as it stands.

    Of a long one the beginning and the end are shown.
    """
    if content is None:
        return Listing(title, (), "none: the trial did not come so far")
    entries = [_event(line) for line in content.decode("utf-8", "replace").split("\n") if line.strip()]
    first, last = _ends(entries)
    missing = len(entries) - len(first) - len(last)
    if not missing:
        return Listing(title, tuple(entries))
    dropped = sum(len(entry.body) for entry in entries[len(first) : len(entries) - len(last)])
    gap = Entry(f"{missing} events left out", "")
    note = f"{missing} of {len(entries)} events, of {dropped:,} characters, are left out of the middle"
    return Listing(title, (*first, gap, *last), note)


def text(title: str, content: bytes | None, *, diff: bool = False) -> Listing:
    """Show text as it stands, its beginning and its end where it is long."""
    if content is None:
        return Listing(title, (), "none: the trial did not come so far")
    found = content.decode("utf-8", "replace")
    if len(found) <= MOST_CHARACTERS:
        return Listing(title, (Entry("", found),) if found else (), "" if found else "empty", diff)
    first, last = found[: MOST_CHARACTERS - _TAIL], found[-_TAIL:]
    note = f"{len(found) - MOST_CHARACTERS:,} of {len(found):,} characters are left out of the middle"
    return Listing(title, (Entry("", first), Entry(note, last)), note, diff)


def _ends(entries: Sequence[Entry]) -> tuple[Sequence[Entry], Sequence[Entry]]:
    if sum(map(_size, entries)) <= MOST_CHARACTERS:
        return entries, ()
    first = _within(entries, MOST_CHARACTERS - _TAIL)
    last = _within(entries[: len(first) - 1 if first else None : -1], _TAIL)
    return first, last[::-1]


def _within(entries: Sequence[Entry], most: int) -> Sequence[Entry]:
    total = 0
    for number, entry in enumerate(entries):
        total += _size(entry)
        if total > most:
            return entries[:number]
    return entries


def _size(entry: Entry) -> int:
    return len(entry.head) + len(entry.body) + 1


def _event(line: str) -> Entry:
    try:
        event = json.loads(line)
        return _told(event) if isinstance(event, dict) else Entry("", _bounded(line))
    except (ValueError, RecursionError):
        return Entry("", _bounded(line))


def _told(event: Mapping[str, Any]) -> Entry:
    named = {name: event[name] for name in _NAMING if _names(event.get(name))}
    head = " · ".join(f"turn {found}" if name == "turn" else str(found) for name, found in named.items())
    rest = {name: found for name, found in event.items() if name not in named}
    return Entry(head, _bounded("\n".join(_fields(rest)), 2 * MOST_IN_EVENT))


def _names(found: Any) -> bool:
    return isinstance(found, str | int) and not isinstance(found, bool) and 0 < len(str(found)) <= _SHORT


def _fields(fields: Mapping[str, Any]) -> Iterator[str]:
    """Write long text with its own line breaks, the rest as JSON."""
    for name, found in fields.items():
        if isinstance(found, str) and (len(found) > _SHORT or "\n" in found or name == "text"):
            yield _bounded(found) if name == "text" else f"{name}:\n{_bounded(found)}"
        elif isinstance(found, dict) and any(isinstance(each, str) and "\n" in each for each in found.values()):
            yield f"{name}:"
            yield from _fields(found)
        else:
            yield _bounded(f"{name}: {json.dumps(found, ensure_ascii=False, indent=2)}")


def _bounded(found: str, most: int = MOST_IN_EVENT) -> str:
    if len(found) <= most:
        return found
    half = most // 2
    return f"{found[:half]}\n[… {len(found) - 2 * half:,} characters left out …]\n{found[-half:]}"
