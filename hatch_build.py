"""Build hook: a wheel built from a checkout carries the commit that it was built from."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Puts `smriti/_commit.json` into the wheel; leaves it out where git cannot say."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file into the build directory and have it included; an editable build reads git itself."""
        if version == "editable":
            return
        commit = self._git("rev-parse", "HEAD")
        if commit is None:
            return
        status = self._git("status", "--porcelain", "--", "smriti", "tasks", "eval", "pyproject.toml", "hatch_build.py")
        target = Path(self.directory) / "_commit.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps({"commit": commit, "dirty": bool(status)}) + "\n")
        build_data["force_include"][str(target)] = "smriti/_commit.json"

    def _git(self, *arguments: str) -> str | None:
        if not (Path(self.root) / ".git").exists():
            return None
        try:
            done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()
