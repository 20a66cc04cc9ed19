"""Read a JSON list row by row, however it is laid out, without holding the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from smriti.errors import UsageError

BLOCK_BYTES = 1 << 22
MAX_ROW_BYTES = 1 << 28

_INDENTED_START = b"[\n    {"
_INDENTED_END = b"\n    }"
"""How `indent=4` begins a list and ends a row. No string holds a raw line break, and deeper ends have more blanks."""

_WHITE = b" \t\r\n"
_BLANK = re.compile(rb"[ \t\r\n]*")
_STRUCTURE = re.compile(rb'(?P<open>[\[{])|(?P<close>[\]}])|"(?:[^"\\]++|\\.)*+(?P<quote>"?)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """One element of the list: its number from 0, where its bytes stand, and the object that they hold."""

    number: int
    offset: int
    length: int
    value: dict[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """Yield each object of the JSON list in `path`, holding about one row at a time.

    UsageError, naming the row and the byte, for anything that is not a non-empty JSON list of objects.
    """
    with open_file(path) as file:
        yield from _Scanner(path, file).rows()


def read_json(path: Path) -> Any:
    """Read a small JSON file as a whole; UsageError where it is none."""
    with open_file(path) as file:
        content = file.read()
    refuse_foreign(path, content[:1024])
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"data file {str(path)!r} is not JSON ({error}). Fetch or export the file again") from error


def open_file(path: Path) -> BinaryIO:
    """Open `path` for reading; UsageError where it is no file that can be read."""
    try:
        if path.is_dir():
            raise UsageError(f"data file {str(path)!r} is a directory; expected a JSON file: name the file inside it")
        if path.exists() and not path.is_file():
            raise UsageError(f"data file {str(path)!r} is no regular file; expected a JSON file")
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"data file {str(path)!r} cannot be read: {error.strerror}; expected a JSON file") from error


def refuse_foreign(path: Path, head: bytes) -> None:
    """Raise UsageError where the first bytes of a file say that it is no JSON at all."""
    start = head.lstrip(_WHITE)
    if not head:
        what = "is empty"
    elif head.startswith(b"\xef\xbb\xbf"):
        what = "begins with a byte order mark (BOM)"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in head[:4]:
        what = "is not UTF-8 text"
    elif start.startswith(b"<"):
        what = f"is not JSON but HTML or XML: it begins with {start[:15].decode(errors='replace')!r}"
    elif start.startswith(b"version https://git-lfs"):
        what = "is a Git LFS pointer, not the file that it points to"
    else:
        return
    raise UsageError(f"data file {str(path)!r} {what}; expected JSON in UTF-8. Fetch or export it again")


class _Scanner:
    """The bytes of a file from `base` on, of which those before `at` are done with."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._buffer = file.read(BLOCK_BYTES)
        self._base = 0
        self._at = 0
        self._indented = self._buffer.startswith(_INDENTED_START)

    def rows(self) -> Iterator[Row]:
        refuse_foreign(self._path, self._buffer[:1024])
        self._expect(b"[", "a list of rows")
        if self._next() == b"]":
            raise self._bad("the list is empty", "at least one row")
        number = 0
        while True:
            yield self._row(number)
            number += 1
            if self._next() == b"]":
                break
            self._expect(b",", f"',' or ']' after row {number - 1}")
        self._at += 1
        if self._next():
            raise self._bad(f"{self._found()} after the end of the list", "nothing")

    def _row(self, number: int) -> Row:
        if self._next() != b"{":
            raise self._bad(f"row {number} is {self._found()}", "a JSON object")
        end, value = self._by_indent(number) or self._by_structure(number)
        row = Row(number, self._base + self._at, end - self._at, value)
        self._at = end
        return row

    def _by_indent(self, number: int) -> tuple[int, dict[str, Any]] | None:
        """Find the row's end by the layout of the file; None, now and for all later rows, where that does not hold.

        No JSON object is the beginning of another, so bytes that parse as one are the whole row and nothing more.
        """
        searched = self._at
        while self._indented:
            found = self._buffer.find(_INDENTED_END, searched)
            if found >= 0:
                end = found + len(_INDENTED_END)
                try:
                    return end, orjson.loads(memoryview(self._buffer)[self._at : end])
                except orjson.JSONDecodeError:
                    self._indented = False
            else:
                resumed = max(self._at, len(self._buffer) - len(_INDENTED_END)) - self._at
                self._indented = self._more(number)
                searched = self._at + resumed
        return None

    def _by_structure(self, number: int) -> tuple[int, dict[str, Any]]:
        """Find the row's end by counting the brackets outside of its strings."""
        depth, scanned = 0, self._at
        while True:
            for token in _STRUCTURE.finditer(self._buffer, scanned):
                if token["open"]:
                    depth += 1
                elif token["close"]:
                    depth -= 1
                elif not token["quote"]:
                    break  # the string goes on after the buffer
                scanned = token.end()
                if depth == 0:
                    return scanned, self._parsed(number, scanned)
            resumed = scanned - self._at
            if not self._more(number):
                raise self._cut_off(number)
            scanned = self._at + resumed

    def _parsed(self, number: int, end: int) -> dict[str, Any]:
        try:
            value: dict[str, Any] = orjson.loads(memoryview(self._buffer)[self._at : end])
        except orjson.JSONDecodeError as error:
            raise self._bad(f"row {number} is not JSON ({error})", "a JSON object") from error
        return value

    def _next(self) -> bytes:
        """Step over blanks and return the byte that follows; empty at the end of the file."""
        while (blank := _BLANK.match(self._buffer, self._at)) and blank.end() == len(self._buffer):
            self._at = blank.end()
            if not self._more():
                return b""
        self._at = blank.end() if blank else self._at
        return self._buffer[self._at : self._at + 1]

    def _expect(self, byte: bytes, what: str) -> None:
        if self._next() != byte:
            raise self._bad(self._found(), what)
        self._at += 1

    def _more(self, number: int | None = None) -> bool:
        """Let go of what is done with and read on; False at the end of the file. `at` moves with its byte."""
        rest = self._buffer[self._at :]
        if number is not None and len(rest) > MAX_ROW_BYTES:
            raise self._bad(f"row {number} has no end within {MAX_ROW_BYTES:,} bytes", "smaller rows")
        # Reading as much again as is held keeps a long row from being copied once a block.
        block = self._file.read(max(BLOCK_BYTES, len(rest)))
        self._base += self._at
        self._at = 0
        self._buffer = rest + block
        return bool(block)

    def _found(self) -> str:
        start = self._buffer[self._at : self._at + 20]
        return repr(start.decode(errors="replace")) if start else "the end of the file"

    def _cut_off(self, number: int) -> UsageError:
        return self._bad(f"the file ends inside row {number}", "a whole file: it was cut short")

    def _bad(self, found: str, expected: str) -> UsageError:
        return UsageError(
            f"data file {str(self._path)!r} cannot be used: at byte {self._base + self._at}, {found}; "
            f"expected {expected}. Fetch or export the file again"
        )
