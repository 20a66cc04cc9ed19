"""One request over the network, nothing else."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException

from gleaner.errors import TransportError

TIMEOUT_S = 25


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def get(url: str, headers: Mapping[str, str]) -> Response:
    """Ask once. Any status is an answer; TransportError says that there was none."""
    request = urllib.request.Request(url, headers=dict(headers))
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return Response(answer.status, answer.read(), dict(answer.headers))
    except urllib.error.HTTPError as answer:
        return Response(answer.code, b"", dict(answer.headers))
    except (OSError, HTTPException) as error:
        raise TransportError(f"{url}: {error}") from error
