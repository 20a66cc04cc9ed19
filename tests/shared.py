"""Real data files, which are not part of the project: tests that need one skip where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """Return the path of a file of SMRITI_SHARED_DATA, or of ../shared/data beside the checkout."""
    path = Path(os.environ.get("SMRITI_SHARED_DATA") or BESIDE) / name
    if not path.is_file():
        pytest.skip(f"{path} is not there; SMRITI_SHARED_DATA names the folder that holds it")
    return path
