"""Asking a service: the request, the cache in front of it, and the answer."""

import json
import os
from collections.abc import Callable
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tidewatch import __version__
from tidewatch.cache import Cache
from tidewatch.errors import BadAnswer, CredentialError, Unreachable
from tidewatch.services import find_service

TIMEOUT_S = 8.0


class Client:
    """Talks to one service. `opener` is urlopen, or a stand-in with the same signature."""

    def __init__(self, service: str, cache: Cache | None = None, opener: Callable[..., Any] = urlopen) -> None:
        self.service = find_service(service)
        self._cache = cache
        self._opener = opener

    def build_request(self, path: str, **params: str) -> Request:
        """Build the GET request for `path` below the service's base URL; parameters are sorted, so that equal questions have equal URLs."""
        url = self.service.base_url + path
        if params:
            url += "?" + urlencode(sorted(params.items()))
        headers = {"Accept": "application/json", "User-Agent": f"tidewatch/{__version__}"}
        if self.service.restricted:
            headers["Authorization"] = f"Bearer {self._credential()}"
        return Request(url, headers=headers)

    def _credential(self) -> str:
        variable = self.service.credential_variable
        credential = os.environ.get(variable)
        if not credential:
            raise CredentialError(f"{self.service.name} is restricted: put a credential for it into {variable}")
        return credential

    def get_json(self, path: str, **params: str) -> Any:
        """Fetch and decode an answer, from the cache if it is fresh there."""
        request = self.build_request(path, **params)
        if self._cache is not None:
            cached = self._cache.get(request.full_url)
            if cached is not None:
                return json.loads(cached)
        body = self._fetch(request)
        try:
            answer = json.loads(body)
        except ValueError:
            raise BadAnswer(f"{self.service.name} answered with something other than JSON") from None
        if self._cache is not None:
            self._cache.put(request.full_url, body)
        return answer

    def _fetch(self, request: Request) -> str:
        try:
            with self._opener(request, timeout=TIMEOUT_S) as response:
                return response.read().decode("utf-8")
        except (URLError, TimeoutError) as error:
            raise Unreachable(f"{self.service.name} could not be reached: {error}") from error
