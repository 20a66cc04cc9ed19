"""Find an agent's JSON result and read usage, turns, session id and words from it."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smriti.agents._ended import last_line
from smriti.agents.command.jsonpath import JsonPath
from smriti.agents.command.template import MAX_COUNT, ResultPlace, UsagePaths
from smriti.types import Usage

MAX_RESULT_BYTES = 10_000_000


@dataclass(frozen=True)
class Report:
    """What an agent reported; None, and a usage without figures, is unknown."""

    usage: Usage = field(default_factory=Usage)
    turns: int | None = None
    session_id: str | None = None
    said: str | None = None


def read_file(path: Path) -> bytes:
    """Read a file that the agent made: never through a link, never from a pipe, never more than the bound.

    ValueError where there is no such file.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise ValueError(f"there is no result file: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_RESULT_BYTES:
        raise ValueError(f"its result file is not a regular file of at most {MAX_RESULT_BYTES} bytes")
    return path.read_bytes()


def read(place: ResultPlace, usage: UsagePaths, content: bytes) -> Report:
    """Read the result; what is missing or null is unknown, ValueError names what is no JSON or of the wrong kind."""
    result = _parse(place, content)
    tokens = {kind: _count(f"usage.{kind}", path, result) for kind, path in usage}
    reported = any(isinstance(path, str) and tokens[kind] is not None for kind, path in usage)
    return Report(
        # Literals alone are no report: they say which kinds an agent does not have.
        usage=Usage(**tokens, source="agent") if reported else Usage(),
        turns=_count("result.turns", place.turns, result),
        session_id=_text("result.session_id", place.session_id, result),
        said=_text("result.said", place.said, result),
    )


def _parse(place: ResultPlace, text: bytes) -> Any:
    where = "its standard output" if place.source == "stdout" else "its result file"
    if place.format == "ndjson-last":
        where, text = f"the last line of {where}", next(filter(bytes.strip, reversed(text.split(b"\n"))), b"")
    if not text.strip():
        raise ValueError(f"{where} is empty, expected a JSON result")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} is no JSON: {error}; found {last_line(text)!r}") from error


def _count(where: str, path: str | int | None, result: Any) -> int | None:
    if not isinstance(path, str):
        return path
    value = JsonPath.parse(path).find(result)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT):
        return value
    raise ValueError(f"{where} ({path}) is {value!r:.100} in its result, expected a whole number from 0 to {MAX_COUNT}")


def _text(where: str, path: str | None, result: Any) -> str | None:
    value = None if path is None else JsonPath.parse(path).find(result)
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # JSON can say half a character, and UTF-8 cannot
    raise ValueError(f"{where} ({path}) is {value!r:.100} in its result, expected a string")
