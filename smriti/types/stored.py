"""What touches disk."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Stored(BaseModel):
    """Anything that touches disk: immutable, and no unknown key is let through."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())
