"""Say which code, packages and machine ran."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import smriti
from smriti.types import CodeIdentity, Manifest

PACKAGE = Path(smriti.__file__).parent

_MAY_DIFFER = {"run_id", "started", "jobs", "host"}
"""Manifest fields that name the occasion, not the experiment."""


def code_identity() -> CodeIdentity:
    """Identify the package that is running: its files, and the commit where a checkout or the wheel knows it."""
    commit, dirty = _commit()
    return CodeIdentity(version=smriti.__version__, commit=commit, dirty=dirty, sha256=_package_digest())


def installed_packages() -> dict[str, str]:
    """Return name → version of everything installed beside this package, sorted."""
    found: dict[str, str] = {}
    for distribution in distributions():
        stated = distribution.metadata  # read anew each time that it is asked for
        if name := stated["Name"]:
            found.setdefault(name, stated["Version"])  # the first on the path is the one that is imported
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def host() -> dict[str, Any]:
    """Return what figures of time depend on; no host name, user or path."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
    }


def differences(before: Manifest, now: Manifest) -> list[str]:
    """Name every field in which two manifests describe different experiments, with both values."""
    old, new = before.model_dump(mode="json", by_alias=True), now.model_dump(mode="json", by_alias=True)
    return [line for key in old if key not in _MAY_DIFFER for line in _differing(key, old[key], new[key])]


class _Nothing:
    """Stands for a key that is not there, which is something else than None."""

    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()


def _differing(where: str, old: object, new: object) -> list[str]:
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted(old.keys() | new.keys())
        pairs = [(key, old.get(key, _NOTHING), new.get(key, _NOTHING)) for key in keys]
        return [line for key, a, b in pairs for line in _differing(f"{where}.{key}", a, b)]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            line for i, (a, b) in enumerate(zip(old, new, strict=True)) for line in _differing(f"{where}[{i}]", a, b)
        ]
    return [f"{where}: {old!r} in the receipt, {new!r} now"]


def _package_digest() -> str:
    total = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE).as_posix()
        if not relative.startswith(("tasks/", "eval/")):
            total.update(f"{relative}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _commit() -> tuple[str | None, bool | None]:
    recorded = PACKAGE / "_commit.json"
    if recorded.exists():
        stated = json.loads(recorded.read_text())
        return stated["commit"], stated["dirty"]
    checkout = PACKAGE.parent
    if not (checkout / ".git").exists() or not (checkout / "pyproject.toml").exists():
        return None, None
    commit = _git(checkout, "rev-parse", "HEAD")
    status = _git(checkout, "status", "--porcelain")
    return commit, None if status is None else bool(status)


def _git(checkout: Path, *arguments: str) -> str | None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
