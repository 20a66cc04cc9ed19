"""Making and hashing session tokens."""

from __future__ import annotations

import hashlib
import secrets

TOKEN_BYTES = 24


def new_token() -> str:
    """Make a token that is safe in a URL and a cookie."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def digest(token: str) -> str:
    """Hash a token; what is stored and compared is always this."""
    return hashlib.sha256(token.encode()).hexdigest()
