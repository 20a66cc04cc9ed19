"""Who may talk to the server over HTTP: who holds the token, and on a loopback address no page of another host."""

from __future__ import annotations

import secrets
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Lets requests through to `inner` that carry `token`, if there is one, and to `open_path` without it."""

    def __init__(self, inner: ASGIApp, host: str, token: str, open_path: str = "") -> None:
        self._inner = inner
        self._local = loopback(host)
        self._token = token.encode()
        self._open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope)):
            await refusal(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        named = headers.get("host", "")
        if self._local and not loopback(_without_port(named)):
            return JSONResponse({"error": f"the Host header is {named!r}, expected a loopback address"}, 421)
        sent = headers.get("authorization", "").encode()
        if self._token and scope["path"] != self._open_path and not _same(sent, b"Bearer " + self._token):
            return JSONResponse(
                {"error": "expected the header Authorization: Bearer <SMRITI_MEM_TOKEN of the server>"},
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        return None


def loopback(host: str) -> bool:
    """Tell whether a host, without its port, is this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def _without_port(named: str) -> str:
    return named if named.endswith("]") or ":" not in named else named.rpartition(":")[0]


def _same(sent: bytes, expected: bytes) -> bool:
    return secrets.compare_digest(sent, expected)
