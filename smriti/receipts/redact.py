"""Take secrets out of text before it touches the disk."""

from __future__ import annotations

import re

_SECRETS = (
    re.compile(rb"sk-[A-Za-z0-9_-]{16,}"),
    re.compile(rb"gh[pousr]_[A-Za-z0-9]{20,}"),
    re.compile(rb"github_pat_[A-Za-z0-9_]{20,}"),
    re.compile(rb"AKIA[0-9A-Z]{16}"),
    re.compile(rb"AIza[A-Za-z0-9_-]{30,}"),
    re.compile(rb"xox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(rb"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+"),
    re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL),
    re.compile(rb"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{16,}"),
)
_MARK = b"[redacted]"


def redact(text: bytes) -> bytes:
    """Replace what looks like a provider key, token or private key by `[redacted]`."""
    for secret in _SECRETS:
        text = secret.sub(_MARK, text)
    return text
