"""A `git fast-import` stream as git itself reads it: the tree at its tip, and every object, path and message in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from smriti import process
from smriti.sandbox.none import command_path
from smriti.types import Completed, File

_TIMEOUT_S = 60.0
_MAX_OBJECT_BYTES = 64_000_000


@dataclass(frozen=True)
class History:
    """What a stream holds; `fault` says why it could not be read, and then the rest is empty."""

    fault: str | None = None
    tip: Mapping[str, File | str] = field(default_factory=dict)
    """Path → file, or the git mode of an entry that is no regular file."""
    texts: tuple[tuple[str, bytes], ...] = ()
    """Each blob, commit and tag, reachable or not, each path in a commit and each ref: what it is, and its bytes."""


def read_history(stream: bytes, scratch: Path) -> History:
    """Import `stream` into an empty repository in `scratch`, which is expected to be a fresh folder."""
    repository = scratch / "history.git"
    repository.mkdir(parents=True)
    steps = (
        (("init", "--quiet", "--bare", "--template="), b""),
        (("fast-import", "--quiet"), stream),
        (("for-each-ref", "--format=%(objectname) %(refname)"), b""),
        (("cat-file", "--batch-all-objects", "--batch", "--unordered"), b""),
    )
    done: list[Completed] = []
    for arguments, stdin in steps:
        done.append(_git(arguments, repository, stdin))
        if done[-1].exit_status != 0 or done[-1].truncated:
            said = done[-1].stderr.decode(errors="replace").strip().splitlines()
            return History(fault=f"git {arguments[0]} refused it: {(said or ['no reason given'])[0]}")
    refs: dict[str, str] = {}
    for line in done[2].stdout.decode(errors="replace").splitlines():
        commit, ref = line.split(" ", 1)
        refs[ref] = commit
    branches = [name for name in refs if name.startswith("refs/heads/")]
    if branches != ["refs/heads/main"]:
        return History(fault=f"has the branches {sorted(branches)!r}; expected main alone")
    objects = _Objects(dict(_batch(done[3].stdout)))
    return History(
        tip=dict(objects.files(refs[branches[0]])),
        texts=(*objects.texts(), *((f"ref {name}", name.encode()) for name in refs)),
    )


@dataclass(frozen=True)
class _Objects:
    """Every object of a repository: id → kind and bytes."""

    by_id: Mapping[str, tuple[str, bytes]]

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield what each object says: blobs, messages with their authors, and whole paths."""
        roots = {_tree_of(content) for kind, content in self.by_id.values() if kind == "commit"}
        paths = {path for root in roots for path, _, _ in self._walk(root, b"")}
        for sha, (kind, content) in self.by_id.items():
            if kind != "tree":
                yield f"{kind} {sha[:10]}", content
        for path in sorted(paths):
            yield f"path {path.decode(errors='replace')}", path

    def files(self, commit: str) -> Iterator[tuple[str, File | str]]:
        """Yield what a checkout of `commit` lays down."""
        for path, mode, sha in self._walk(_tree_of(self.by_id[commit][1]), b""):
            regular = mode in (b"100644", b"100755")
            what = File(self.by_id[sha][1], mode == b"100755") if regular else mode.decode()
            yield path.decode(errors="surrogateescape"), what

    def _walk(self, tree: str, prefix: bytes) -> Iterator[tuple[bytes, bytes, str]]:
        for name, mode, sha in _entries(self.by_id[tree][1]):
            if mode == b"40000":
                yield from self._walk(sha, prefix + name + b"/")
            else:
                yield prefix + name, mode, sha


def _batch(batch: bytes) -> Iterator[tuple[str, tuple[str, bytes]]]:
    at = 0
    while at < len(batch):
        header_end = batch.index(b"\n", at)
        sha, kind, size = batch[at:header_end].decode().split(" ")
        at = header_end + 1
        yield sha, (kind, batch[at : at + int(size)])
        at += int(size) + 1


def _tree_of(commit: bytes) -> str:
    return commit.split(b"\n", 1)[0].removeprefix(b"tree ").decode()


def _entries(tree: bytes) -> Iterator[tuple[bytes, bytes, str]]:
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, name = tree[at:end].split(b" ", 1)
        yield name, mode, tree[end + 1 : end + 21].hex()
        at = end + 21


def _git(arguments: tuple[str, ...], repository: Path, stdin: bytes) -> Completed:
    env = {
        "PATH": command_path(["git"]),
        "HOME": str(repository),
        "GIT_DIR": str(repository),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_DEFAULT_HASH": "sha1",
        "LC_ALL": "C",
    }
    return process.run(
        ["git", *arguments],
        cwd=repository,
        env=env,
        timeout_s=_TIMEOUT_S,
        stdin=stdin,
        max_output_bytes=_MAX_OBJECT_BYTES,
    )
