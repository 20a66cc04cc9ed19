"""Read, write, select and compare trees of regular files."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from smriti.types import File, FileTree

IGNORED_NAMES = frozenset({"__pycache__", ".git", ".DS_Store"})
"""Left by interpreters, git and file browsers; never part of a tree. pip compiles even package data into `__pycache__`."""

MAX_DIFF_BYTES = 1_000_000


def read_tree(directory: Path, max_file_bytes: int | None = None) -> tuple[dict[str, File], list[str]]:
    """Read every regular file below `directory`; the second value names what is not one, or is over the bound."""
    files: dict[str, File] = {}
    irregular: list[str] = []
    _read_into(directory, "", files, irregular, max_file_bytes)
    return dict(sorted(files.items())), sorted(irregular)


def lay(tree: FileTree, directory: Path) -> None:
    """Write `tree` below `directory`, over what is there; modes are normalised to 755 and 644."""
    made: set[Path] = set()
    for path, file in tree.items():
        target = directory / path
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            os.write(descriptor, file.content) if len(file.content) < 4096 else _write_all(descriptor, file.content)
            os.fchmod(descriptor, 0o755 if file.executable else 0o644)
        finally:
            os.close(descriptor)


def digest(tree: FileTree) -> str:
    """Return the sha256 of names, modes and bytes, in name order."""
    total = hashlib.sha256()
    for path, file in sorted(tree.items()):
        mode = "x" if file.executable else "-"
        total.update(f"{path}\0{mode}\0{hashlib.sha256(file.content).hexdigest()}\n".encode())
    return total.hexdigest()


def changed_paths(before: FileTree, after: FileTree) -> list[str]:
    """Return the paths that were added, removed or altered, sorted."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def matches(path: str, globs: Iterable[str]) -> bool:
    """Tell whether `path` matches one of `globs`: `*` stays within a name, `**` spans folders."""
    return any(_compiled(glob).fullmatch(path) for glob in globs)


def unified_diff(before: FileTree, after: FileTree) -> bytes:
    """Return what changed as a unified diff, cut at MAX_DIFF_BYTES with a line that says so; empty if nothing did."""
    parts: list[bytes] = []
    size = 0
    for path in changed_paths(before, after):
        part = _file_diff(path, before.get(path), after.get(path))
        size += len(part)
        if size > MAX_DIFF_BYTES:
            parts.append(b"# the rest of the diff is over the bound and was cut\n")
            break
        parts.append(part)
    return b"".join(parts)


def _read_into(
    directory: Path, prefix: str, files: dict[str, File], irregular: list[str], max_file_bytes: int | None
) -> None:
    with os.scandir(directory) as entries:
        for entry in entries:
            path = prefix + entry.name
            if entry.name in IGNORED_NAMES:
                continue
            if entry.is_symlink():
                irregular.append(f"{path}: a symbolic link")
            elif entry.is_dir():
                _read_into(Path(entry.path), path + "/", files, irregular, max_file_bytes)
            elif not entry.is_file():
                irregular.append(f"{path}: not a regular file")
            else:
                stat = entry.stat()
                if max_file_bytes is not None and stat.st_size > max_file_bytes:
                    irregular.append(f"{path}: {stat.st_size} bytes, over the bound of {max_file_bytes}")
                    continue
                files[path] = File(Path(entry.path).read_bytes(), bool(stat.st_mode & 0o111))


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_patterns: dict[str, re.Pattern[str]] = {}


def _compiled(glob: str) -> re.Pattern[str]:
    if glob not in _patterns:
        pieces = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
        meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        _patterns[glob] = re.compile("".join(meaning.get(piece, re.escape(piece)) for piece in pieces), re.DOTALL)
    return _patterns[glob]


def _file_diff(path: str, before: File | None, after: File | None) -> bytes:
    old, new = (before.content if before else b""), (after.content if after else b"")
    try:
        old_lines, new_lines = old.decode().splitlines(True), new.decode().splitlines(True)
    except UnicodeDecodeError:
        return f"Binary file {path} changed\n".encode()
    lines = difflib.unified_diff(
        old_lines, new_lines, f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null"
    )
    text = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return text.encode() or f"Mode of {path} changed\n".encode()
