"""Where data is that came with smriti."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """Return a file or folder of this name inside the package, or else beside it as in a checkout, there or not."""
    packaged = PACKAGE.joinpath(*parts)
    return packaged if packaged.exists() else PACKAGE.parent.joinpath(*parts)
