"""Where files are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "config"
OPS = ROOT / "ops"

WORDING = CONFIG / "wording.toml"


def levels(*, drill: bool) -> Path:
    """The levels in force: the exercise leader's during a drill, else those of the site that is watched."""
    return CONFIG / "levels.toml" if drill else OPS / "sites" / site() / "levels.toml"


def site() -> str:
    return os.environ.get("TIDEWATCH_SITE") or (OPS / "active-site").read_text(encoding="utf-8").strip()
