"""The ledger: which memories reached which session, a JSON line an event, appended by hooks and read by the store."""

# ruff: noqa: PTH118, PTH123
# PTH: pathlib costs 10 ms, which every prompt would pay.

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence

from smriti.errors import MemorySystemError

FILE_NAME = "ledger.jsonl"


def append_injected(home: str, session_id: str, lanes: Mapping[str, Sequence[str]]) -> None:
    """Note that memories were injected: `lanes` maps each id, in the order injected, to the lanes that returned it."""
    _append(home, {"event": "injected", "ids": list(lanes), "lanes": lanes, "ts": _now_ms(), "session_id": session_id})


def append_refused(home: str, session_id: str, reason: str) -> None:
    """Note that nothing was injected because the hook could not do as it was configured to."""
    _append(home, {"event": "refused", "reason": reason, "ts": _now_ms(), "session_id": session_id})


def injected_ids(home: str, session_id: str) -> list[str]:
    """Return the ids that were injected into a session, in the order first seen; empty where it has no event.

    The last line may still be being written, and is left out if it cannot be read; any other such line is a
    MemorySystemError.
    """
    path = os.path.join(home, FILE_NAME)
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MemorySystemError(f"{path}: the ledger cannot be read: {error}") from error
    ids: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        try:
            ids.update(dict.fromkeys(_ids_for(session_id, line)))
        except ValueError as error:
            if number < len(lines):
                raise MemorySystemError(
                    f"{path}, line {number}: found {line[:80]!r}, expected a JSON object with event, session_id and "
                    f"ids ({error}); what was injected cannot be told from this ledger"
                ) from error
    return list(ids)


def _ids_for(session_id: str, line: bytes) -> list[str]:
    event = json.loads(line)
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ValueError("not an event")  # noqa: TRY004  # a broken line, whatever is wrong with it
    if event["event"] != "injected":
        return []
    ids = event.get("ids")
    if (
        not isinstance(ids, list)
        or not all(isinstance(memory_id, str) for memory_id in ids)
        or not isinstance(event.get("session_id"), str)
    ):
        raise ValueError("an injected event without ids or session_id")
    return ids if event["session_id"] == session_id else []


def _append(home: str, event: Mapping[str, object]) -> None:
    """Append in one write, so that lines of hooks that run at once never mix."""
    file = os.open(os.path.join(home, FILE_NAME), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, json.dumps(event).encode() + b"\n")
    finally:
        os.close(file)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
