"""Tokens, and the keys that stand for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from slipway.errors import SlipwayError

VARIABLE = "SLIPWAY_TOKEN"
KEY_DIGITS = 12


def token_from(environment: Mapping[str, str]) -> str:
    """Take the user's token out of the environment."""
    token = environment.get(VARIABLE, "").strip()
    if not token:
        raise SlipwayError(f"{VARIABLE} is not set")
    return token


def key_of(token: str) -> str:
    """Give the key of a token, which tells it apart and does not give it away."""
    return hashlib.sha256(token.encode()).hexdigest()[:KEY_DIGITS]
