"""Read, write, select and compare trees of regular files."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from smriti.types import File, FileTree

IGNORED_NAMES = frozenset({"__pycache__", ".git", ".DS_Store"})
"""Left by interpreters, git and file browsers; never part of a tree. pip compiles even data into `__pycache__`."""

MAX_DIFF_BYTES = 1_000_000


def read_tree(directory: Path, max_file_bytes: int | None = None) -> tuple[dict[str, File], list[str]]:
    """Read every regular file below `directory`; the second value names all else, each with its reason.

    That is what is no regular file, is over the bound, cannot be read, or has a name that is not UTF-8. OSError where
    `directory` itself cannot be read.
    """
    files: dict[str, File] = {}
    irregular: list[str] = []
    folders = [""]
    while folders:
        prefix = folders.pop()
        try:
            entries = _entries(directory / prefix)
        except OSError as error:
            if not prefix:
                raise
            irregular.append(f"{prefix[:-1]}: {_unreadable(error)}")
            continue
        for entry in entries:
            path = prefix + entry.name
            if reason := _irregularity(entry):
                irregular.append(f"{path.encode(errors='replace').decode()}: {reason}")
            elif entry.is_dir():
                folders.append(path + "/")
            elif isinstance(read := _read_file(entry, max_file_bytes), File):
                files[path] = read
            else:
                irregular.append(f"{path}: {read}")
    return dict(sorted(files.items())), sorted(irregular)


def read_file(path: Path) -> File | None:
    """Read one regular file; None where there is none, a link stands there, or it cannot be read."""
    try:
        mode = path.lstat().st_mode
        return File(path.read_bytes(), bool(mode & 0o111)) if stat.S_ISREG(mode) else None
    except OSError:
        return None


def unlock(directory: Path, root: Path | None = None) -> None:
    """Give the owner back the rights to `directory` and to all below it, and to the folders from `root` down to it.

    No link is followed, and what the system does not let be changed stays as it is.
    """
    inside = [] if root is None else [root / part for part in reversed(directory.relative_to(root).parents)]
    for folder in [*inside, directory]:
        _grant(str(folder), 0o700)
    folders = [] if os.path.islink(directory) else [str(directory)]  # noqa: PTH114  # Path's raises where rights lack
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _grant(entry.path, 0o700)
                    folders.append(entry.path)
                else:
                    _grant(entry.path, 0o400)


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


def overlay(lower: FileTree, upper: FileTree) -> dict[str, File]:
    """Return `upper` over `lower`: what of `lower` is a file where `upper` has a folder, or below its file, is gone."""
    folders = {parent for path in upper for parent in _parents(path)}
    kept = {
        path: file
        for path, file in lower.items()
        if path not in folders and not any(parent in upper for parent in _parents(path))
    }
    return {**kept, **upper}


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
    """Return what changed, in git's form of the unified diff; empty if nothing did.

    A file that is not text is only named. What is over MAX_DIFF_BYTES is cut, with a line that says so.
    """
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


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name not in IGNORED_NAMES]


def _irregularity(entry: os.DirEntry[str]) -> str | None:
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    if entry.is_symlink():
        return "a symbolic link"
    return None if entry.is_dir() or entry.is_file() else "not a regular file"


def _read_file(entry: os.DirEntry[str], max_file_bytes: int | None) -> File | str:
    """Read a regular file, or say why it was not read."""
    try:
        stat = entry.stat()
        if max_file_bytes is not None and stat.st_size > max_file_bytes:
            return f"{stat.st_size} bytes, over the bound of {max_file_bytes}"
        return File(Path(entry.path).read_bytes(), bool(stat.st_mode & 0o111))
    except OSError as error:
        return _unreadable(error)


def _unreadable(error: OSError) -> str:
    return f"cannot be read ({error.strerror})"


def _grant(path: str, rights: int) -> None:
    with contextlib.suppress(OSError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISLNK(mode) and mode & rights != rights:
            os.chmod(path, stat.S_IMODE(mode) | rights)  # noqa: PTH101  # a path as scandir gives it


def _parents(path: str) -> Iterator[str]:
    """Yield the folders that `path` is in."""
    while path := path.rpartition("/")[0]:
        yield path


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
    old_name, new_name = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = f"diff --git {old_name} {new_name}\n"
    if before is None or after is None:
        head += f"new file mode {_mode(after)}\n" if after else f"deleted file mode {_mode(before)}\n"
    elif before.executable != after.executable:
        head += f"old mode {_mode(before)}\nnew mode {_mode(after)}\n"
    old, new = (before.content if before else b""), (after.content if after else b"")
    from_name, to_name = (old_name if before else "/dev/null"), (new_name if after else "/dev/null")
    try:
        lines = difflib.unified_diff(_lines(old), _lines(new), from_name, to_name)
    except UnicodeDecodeError:
        return f"{head}Binary files {from_name} and {to_name} differ\n".encode()
    text = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return (head + text).encode()


def _lines(content: bytes) -> list[str]:
    """Split at line feeds alone: a form feed or a carriage return is part of its line."""
    return re.findall(r"[^\n]*\n|[^\n]+", content.decode())


def _mode(file: File | None) -> str:
    return "100755" if file and file.executable else "100644"


def _quoted(name: str) -> str:
    """Write a name as git does where it is not plain; quoted, too, where a space would leave its end open."""
    if not re.search(r'[\x00-\x20"\\\x7f]', name):
        return name
    escaped = re.sub(r'["\\]', r"\\\g<0>", name)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda sign: f"\\{ord(sign[0]):03o}", escaped) + '"'
