"""A session as it is stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Session:
    """One login of one user. Times are seconds since the epoch."""

    token_digest: str
    user: str
    opened_at: float
    last_seen: float
    origin: str = ""
