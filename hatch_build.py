"""Build hook: a wheel built from a checkout carries the commit that it was built from."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Puts `smriti/_commit.json` into wheel and source distribution; a wheel made from the latter finds it there."""

    _written: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file outside the tree and have it included; an editable build reads git itself."""
        commit = None if version == "editable" else self._git("rev-parse", "HEAD")
        if commit is None:
            return
        packed = ("smriti", "tasks", "eval", "datasets.lock", "pyproject.toml", "hatch_build.py")
        status = self._git("status", "--porcelain", "--", *packed)
        self._written = Path(tempfile.mkdtemp(prefix="smriti-build-")) / "_commit.json"
        self._written.write_text(json.dumps({"commit": commit, "dirty": bool(status)}) + "\n")
        build_data["force_include"][str(self._written)] = "smriti/_commit.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the file again."""
        del version, build_data, artifact_path
        if self._written is not None:
            shutil.rmtree(self._written.parent)

    def _git(self, *arguments: str) -> str | None:
        if not (Path(self.root) / ".git").exists():
            return None
        try:
            done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()
