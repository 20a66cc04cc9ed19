"""The verbs over REST: a route each, JSON in and out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from smriti.errors import MemorySystemError, SmritiError, UsageError
from smriti.memory.embedded.store import UnknownIdError
from smriti.memory.embedded.verbs import VERBS, Service

HEALTH_PATH: Final = "/health"

_STATUSES = ((UsageError, 400), (UnknownIdError, 404), (MemorySystemError, 500))


def application(service: Service) -> Starlette:
    """Make what serves each verb at `/<its name>`."""
    routes = [
        Route(f"/{name}", _endpoint(service, name), methods=["GET" if verb.reads else "POST"])
        for name, verb in VERBS.items()
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused, SmritiError: _failed})


def _endpoint(service: Service, name: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        fields = dict(request.query_params) if VERBS[name].reads else _fields(await request.body(), request)
        return JSONResponse(await anyio.to_thread.run_sync(service.call, name, fields))

    return endpoint


def _fields(body: bytes, request: Request) -> Mapping[str, object]:
    """Read the body; a form's content type is refused, since any page that a browser shows can send one."""
    sent_as = request.headers.get("content-type", "")
    if sent_as.partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, f"the Content-Type is {sent_as!r}, expected application/json")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is {body[:80]!r}, expected a JSON object ({error})") from error
    if not isinstance(fields, dict):
        raise UsageError(f"the body holds a JSON {type(fields).__name__}, expected an object")
    return fields


def _refused(request: Request, error: Exception) -> Response:
    """Answer for a route or method that there is not."""
    assert isinstance(error, HTTPException)
    said = error.detail
    if error.status_code == 404:
        said = f"there is no route {request.url.path!r}; the routes are {', '.join(f'/{name}' for name in VERBS)}"
    elif error.status_code == 405:
        said = f"{request.method} {request.url.path}: {error.detail}"
    return JSONResponse({"error": said}, error.status_code, error.headers)


def _failed(request: Request, error: Exception) -> Response:
    del request
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    return JSONResponse({"error": str(error)}, status)
