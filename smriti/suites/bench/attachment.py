"""What a memory system may attach to an agent: well formed, no sabotage, and nothing where nothing is to arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from smriti.errors import MemorySystemError
from smriti.protocols import Cage
from smriti.sandbox.filetree import IGNORED_NAMES, matches
from smriti.suites.text import is_text
from smriti.types import Attachment, Condition, Hook, TaskFolder

CONTEXT_FILES = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"})
"""Files that agents read before they work: a memory system may append to them wherever they are."""

_RESERVED_NAMES = frozenset({"PATH", "HOME", "TMPDIR", "LANG", "TZ", "BASH_ENV", "ENV"})
_RESERVED_PREFIXES = ("XDG_", "LC_", "PYTHON", "LD_", "DYLD_", "NODE_", "GIT_")
"""The cage's own, and what interpreters, loaders and git obey."""


def shape_problem(attachment: object) -> str | None:
    """Say what of an attachment is not as its type says; None where all is well."""
    if not isinstance(attachment, Attachment):
        return f"it gave {attachment!r:.200}, expected an Attachment"
    checks = (
        ("env", _is_mapping(attachment.env) and all(map(_is_variable, attachment.env.items()))),
        ("files", _is_mapping(attachment.files) and all(map(is_text, attachment.files.values()))),
        ("prefix", is_text(attachment.prefix)),
        ("mcp_servers", _is_mapping(attachment.mcp_servers) and all(map(_is_command, attachment.mcp_servers.values()))),
        ("hooks", isinstance(attachment.hooks, tuple) and all(map(_is_hook, attachment.hooks))),
        ("session_id", attachment.session_id is None or is_text(attachment.session_id)),
    )
    wrong = [f"{name} is {getattr(attachment, name)!r:.200}" for name, right in checks if not right]
    return f"it gave an Attachment that does not hold what it promises: {', '.join(wrong)}" if wrong else None


def refuse_sabotage(attachment: Attachment, task: TaskFolder, cage: Cage) -> None:
    """Raise MemorySystemError for what would change the cage, its interpreters or the work that is graded."""
    reserved = sorted(name for name in attachment.env if _is_reserved(name))
    if reserved:
        raise MemorySystemError(f"the memory system may not set {', '.join(reserved)}: the cage's own environment")
    for name in attachment.files:
        if problem := _file_problem(name, task, cage.workdir):
            raise MemorySystemError(f"the memory system may not write {name!r}: {problem}")


def refuse_delivery(attachment: Attachment, condition: Condition) -> None:
    """Raise MemorySystemError for what a memory system delivers where the condition says that nothing arrives.

    Under off, handed and placebo that is everything but variables; under ablate:all hooks and servers may be there,
    and have nothing to say.
    """
    if condition.kind in {"on", "file"} or (condition.kind == "ablate" and condition.lane != "all"):
        return
    kinds = ("prefix", "files") if condition.kind == "ablate" else ("prefix", "files", "mcp_servers", "hooks")
    delivered = [kind for kind in kinds if getattr(attachment, kind)]
    if delivered:
        raise MemorySystemError(f"{', '.join(delivered)} delivered under {condition}, where nothing may be")


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(is_text, value))


def _is_variable(item: tuple[str, object]) -> bool:
    name, value = item
    return bool(name) and "=" not in name and _is_argument(name) and _is_argument(value)


def _is_argument(value: object) -> bool:
    return isinstance(value, str) and is_text(value) and "\0" not in value


def _is_command(command: object) -> bool:
    return isinstance(command, tuple) and bool(command) and all(map(_is_argument, command))


def _is_hook(hook: object) -> bool:
    return isinstance(hook, Hook) and _is_command(hook.command) and isinstance(hook.timeout_s, int | float)


def _is_reserved(name: str) -> bool:
    return name in _RESERVED_NAMES or name.startswith(_RESERVED_PREFIXES)


def _file_problem(name: str, task: TaskFolder, workdir: Path) -> str | None:
    path = PurePosixPath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts or str(path) != name or name == ".":
        return "expected a plain relative path inside the repository"
    if IGNORED_NAMES & set(path.parts):
        return "that is no part of the repository's files"
    if path.name not in CONTEXT_FILES and matches(name, task.task.deliverables):
        return "it is among the task's deliverables"
    if any(folder.is_symlink() or (folder.exists() and not folder.is_dir()) for folder in _folders(workdir, path)):
        return "what it would lie in is no folder"
    target = workdir / path
    return "it is no regular file" if target.is_symlink() or (target.exists() and not target.is_file()) else None


def _folders(workdir: Path, path: PurePosixPath) -> Iterator[Path]:
    """Yield the folders that `path` is in, the outermost first."""
    for depth in range(1, len(path.parts)):
        yield workdir.joinpath(*path.parts[:depth])
