"""Take secrets out of text before it touches the disk."""

from __future__ import annotations

import os
import re


def _key(prefix: bytes, rest: bytes) -> re.Pattern[bytes]:
    r"""Match a key at the start of a word: `task-…` holds none that begins with `sk-`.

    But text lies here in JSON and URLs and from terminals, too, where the letter before a key may end an escape (`\n`,
    `\u003d`, `%3D`) or a colour (`ESC[32m`). The prefix stands first because that is what makes the search fast.
    """
    before = (rb"[A-Za-z0-9]", rb"\\[bfnrt]", rb"\\u[0-9A-Fa-f]{4}", rb"%[0-9A-Fa-f]{2}", rb"[0-9;\[]m")
    no_word, *escapes = (sign + prefix for sign in before)
    start = b"|".join([b"(?<!" + no_word + b")", *(b"(?<=" + escape + b")" for escape in escapes)])
    return re.compile(prefix + b"(?:" + start + b")" + rest)


_PEM = rb"[A-Z ]*PRIVATE KEY(?: BLOCK)?-----"

_SECRETS = (
    _key(b"sk-", rb"[A-Za-z0-9_-]{16,}"),
    _key(b"xai-", rb"[A-Za-z0-9]{30,}"),
    _key(b"gsk_", rb"[A-Za-z0-9]{30,}"),
    _key(b"hf_", rb"[A-Za-z0-9]{30,}"),
    _key(b"glpat-", rb"[A-Za-z0-9_-]{20,}"),
    re.compile(rb"gh[pousr]_[A-Za-z0-9]{20,}"),
    re.compile(rb"github_pat_[A-Za-z0-9_]{20,}"),
    re.compile(rb"A(?:KI|SI)A[0-9A-Z]{16}"),
    re.compile(rb"AIza[A-Za-z0-9_-]{30,}"),
    re.compile(rb"xox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(rb"eyJ[A-Za-z0-9_-]{10,2000}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]+"),
    re.compile(rb"-----BEGIN " + _PEM + rb"(?:(?!-----BEGIN ).)*?-----END " + _PEM, re.DOTALL),
    re.compile(rb"-----BEGIN " + _PEM + rb"(?:[A-Za-z0-9+/=:,\s-]|\\[nr]){40,}"),  # its end was cut off
    re.compile(rb"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{16,}"),
)
_MARK = b"[redacted]"
_SECRET_NAME = re.compile(r"(?i)(?:key|token|secret|password|passwd|credentials?)$")
_SHORTEST_SECRET = 8


def redact(text: bytes) -> bytes:
    """Replace what looks like a provider key, token or private key by `[redacted]`."""
    for secret in _SECRETS:
        text = secret.sub(_MARK, text)
    return text


def redact_secrets(text: str) -> str:
    """Redact `text`, and what this process holds in an environment variable that is named like a secret."""
    held = {value for name, value in os.environ.items() if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name)}
    for value in sorted(held, key=len, reverse=True):  # one may be part of another
        text = text.replace(value, _MARK.decode())
    return redact(text.encode("utf-8", "replace")).decode("utf-8", "replace")
