"""What a text gives away: whole-word mentions, the lines that a change adds, the literals in them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from smriti.types import FileTree

_STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"' + r"|'((?:[^'\\]|\\.)*)'" + r"|`((?:[^`\\]|\\.)*)`")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?!\w)")


def mentions(term: str, text: str, *, ignore_case: bool = True) -> bool:
    """Tell whether `term` is in `text` as a whole word: not flanked by [A-Za-z0-9_]; a line break counts as a blank."""
    return _whole_word(term, ignore_case).search(text) is not None


def tree_text(tree: FileTree) -> str:
    """Return the names and contents of all files as one text."""
    return "\n".join(f"{path}\n{file.content.decode(errors='replace')}" for path, file in tree.items())


def added_text(before: FileTree, overlay: FileTree) -> str:
    """Return the names of files that `overlay` adds to `before`, and the lines that it adds."""
    lines: list[str] = []
    for path, file in overlay.items():
        old = before.get(path)
        left = Counter(old.content.decode(errors="replace").splitlines() if old else [path])
        lines += [] if old else [path]
        for line in file.content.decode(errors="replace").splitlines():
            left[line] -= 1
            if left[line] < 0:
                lines.append(line)
    return "\n".join(lines)


def strings(text: str) -> set[str]:
    """Return the quoted strings of three or more characters."""
    quoted = (next(filter(None, groups), "") for line in text.splitlines() for groups in _STRINGS.findall(line))
    return {string for string in quoted if len(string.strip()) >= 3}


def numbers(text: str) -> set[str]:
    """Return the numbers of two or more digits, as they are written, dotted ones whole."""
    return {number for number in _NUMBERS.findall(text) if len(number.replace(".", "")) >= 2}


def line_of(term: str, text: str) -> int:
    """Return the number of the line, from 1, in which the first mention of `term` starts."""
    found = _whole_word(term, True).search(text)
    return 1 + (text.count("\n", 0, found.start()) if found else 0)


@cache
def _whole_word(term: str, ignore_case: bool) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in re.split(r"\s+", term))
    return re.compile(rf"(?<![A-Za-z0-9_]){words}(?![A-Za-z0-9_])", re.IGNORECASE if ignore_case else 0)
