"""`smriti-mem serve`: the embedded memory over REST or MCP, until it is told to stop.

    smriti-mem serve --rest HOST:PORT
    smriti-mem serve --mcp stdio
    smriti-mem serve --mcp HOST:PORT

| variable | meaning |
|---|---|
| SMRITI_MEM_HOME | directory of the store, which is made if it is missing; by default $XDG_DATA_HOME/smriti-mem |
| SMRITI_MEM_REALM | the realm of a call that names none; by default "", which is no project |
| SMRITI_MEM_TOKEN | what every HTTP request must carry as `Authorization: Bearer …`; needed to listen beyond loopback |

Port 0 takes a free one. When it serves, one line with its address stands on stdout, for stdio on stderr. It ends with
status 0 on SIGTERM, on SIGINT, and over stdio when stdin closes.

Each verb is the route `/name` and the tool `name` (streamable HTTP is at `/mcp`). REST takes a JSON object by POST; a
verb marked GET takes query parameters. A tool's structured content is the very object that REST answers, and its text
is the same as JSON. Fields that are not listed are refused.

| verb | REST | fields (* required) | answer |
|---|---|---|---|
| remember | POST | content*, realm, type (wisdom), source_id (smriti-mem) | id |
| search | POST | query*, realm, k from 1 to 1000 (10), layer (memories) | hits, with whole contents |
| compact | POST | as search | hits, with contents of more than 80 characters cut |
| expand | POST | id* | a hit without score, whole |
| recall | POST | query*, realm, form (full), budget (2000), layer | form, budget, tokens, matched, cut, hits, text |
| correct | POST | id*, content*, realm, source_id (smriti-mem) | id, superseded: ids |
| update | POST | id*, content* | id, the same |
| forget | POST | ids* | deleted: ids |
| capture | POST | content*, tool*, session_id*, realm, source_id (smriti-mem) | id |
| act | POST | title*, memory_ids*, realm | id |
| actions | GET | realm | actions: id, title, memory_ids |
| list | GET | realm, superseded (false) | memories: as hits, with created_ms and superseded_by |
| count | GET | realm (without it all) | memories, superseded, observations, actions |
| health | GET | none, and no token | status, name, version |

A hit is id, type (a memory's, or observation), realm, source_id, content, score and cut (whether content is shortened).
Types are wisdom, belief, episode and correction; layers and forms are in finding.py. A call in a realm finds what is in
it or in no project; list, count and actions tell of exactly the realm. correct wants a memory of exactly the realm.

What goes wrong is `{"error": …}` over REST, with 400 for a body or field that is wrong, 401 without the token, 404 for
a route or an id that there is not, 405 for a method, 415 for a content type, 421 for a Host that is not loopback, and
500 when the store cannot be used. Over MCP it is a result with isError and the same text.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TextIO

from smriti.errors import UsageError
from smriti.memory.embedded.store import MemoryFile, home_of

if TYPE_CHECKING:
    from smriti.memory.embedded.verbs import Service

_PACKAGES = ("mcp", "starlette", "uvicorn")
_LEAVE_WAIT_S = 1


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `HOST:PORT`; an IPv6 host may stand in brackets."""
        host, _, port = text.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise UsageError(f"{text!r} is no address; expected HOST:PORT, for example 127.0.0.1:0")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def serve(rest: str | None, mcp: str | None, environ: Mapping[str, str]) -> None:
    """Serve over the one of `rest` and `mcp` that is given, until told to stop.

    UsageError without the packages of `smriti[mcp]`, for an address that cannot be listened on, and for one beyond
    loopback without a token.
    """
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UsageError(f"serving needs {', '.join(missing)}, not installed here: pip install 'smriti[mcp]'")
    if mcp == "stdio":
        with closing(_service(environ)) as service:
            _serve_stdio(service)
        return
    token = environ.get("SMRITI_MEM_TOKEN", "")
    with _listener(Address.parse(rest or mcp or ""), token) as listener, closing(_service(environ)) as service:
        _serve_http(service, listener, token, rest=rest is not None)


def _listener(address: Address, token: str) -> socket.socket:
    """Take the address; without a token it must be loopback, since whoever reaches it reads and writes the store."""
    from smriti.memory.embedded.guard import loopback  # noqa: PLC0415  # it imports starlette

    if not token and not loopback(address.host):
        raise UsageError(f"{address}: others can reach it; set SMRITI_MEM_TOKEN, or listen on 127.0.0.1")
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # Named as TCP, since only then are small answers sent at once.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise UsageError(f"{address}: cannot be listened on ({error.strerror}); expected a free address") from error
    return listener


def _service(environ: Mapping[str, str]) -> Service:
    from smriti.memory.embedded.verbs import Service  # noqa: PLC0415  # it imports pydantic

    return Service(MemoryFile.open(home_of(environ)), environ.get("SMRITI_MEM_REALM", ""))


def _serve_http(service: Service, listener: socket.socket, token: str, *, rest: bool) -> None:
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    import uvicorn  # noqa: PLC0415

    from smriti.memory.embedded.guard import Guard  # noqa: PLC0415

    address = Address(*listener.getsockname()[:2])
    if rest:
        from smriti.memory.embedded import rest as rest_server  # noqa: PLC0415

        application, path, open_path = rest_server.application(service), "", rest_server.HEALTH_PATH
    else:
        from smriti.memory.embedded import mcp_server  # noqa: PLC0415

        application, path, open_path = mcp_server.application(service, address.host), mcp_server.PATH, ""

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            _say(f"{'REST' if rest else 'MCP'} at http://{address}{path}", sys.stdout)

    config = uvicorn.Config(
        Guard(application, address.host, token, open_path),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_LEAVE_WAIT_S,
    )
    Server(config).run(sockets=[listener])


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """End in peace; the HTTP server puts its own in this place while it serves, and calls this one when it is done."""
    del number, frame
    raise SystemExit(0)


def _serve_stdio(service: Service) -> None:
    def leave(number: int, frame: FrameType | None) -> NoReturn:
        """End at once: a thread waits for stdin, and nothing but its end would wake it."""
        del number, frame
        service.close(_LEAVE_WAIT_S)
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    import anyio  # noqa: PLC0415

    from smriti.memory.embedded.mcp_server import serve_stdio  # noqa: PLC0415

    anyio.run(serve_stdio, service, lambda: _say("MCP at stdio", sys.stderr))


def _say(where: str, stream: TextIO) -> None:
    print(f"smriti-mem: serving {where}", file=stream, flush=True)
