"""Gets a page: status codes, cache."""

import time
from collections.abc import Callable, Mapping

from gleaner import transport
from gleaner.cache import Cache
from gleaner.errors import BadStatus, TransportError

RETRY_WAITS_S = (0.5, 1.0, 2.0)
"""Waits before the second and each later attempt, seconds."""

Send = Callable[[str, Mapping[str, str]], transport.Response]


class Client:
    def __init__(
        self,
        send: Send = transport.get,
        cache: Cache | None = None,
        sleep: Callable[[float], object] = time.sleep,
        pause_s: float = 0,
    ) -> None:
        self.send = send
        self.cache = cache or Cache()
        self.sleep = sleep
        self.pause_s = pause_s

    def get(self, url: str) -> str:
        """Text of a page. Raises TransportError without an answer, and BadStatus on one that is no page."""
        known = self.cache.load(url)
        headers = {"Accept": "application/json"}
        if known is not None:
            headers["If-None-Match"] = known[0]
        response = self._send_patiently(url, headers)
        if response.status == 304 and known is not None:
            return known[1]
        if response.status != 200:
            raise BadStatus(response.status, url)
        body = response.body.decode("utf-8")
        if etag := response.headers.get("ETag"):
            self.cache.store(url, etag, body)
        return body

    def _send_patiently(self, url: str, headers: Mapping[str, str]) -> transport.Response:
        """Ask again, after a wait, while there is no answer or one of 500 or above; the last answer or error stands."""
        for wait_s in RETRY_WAITS_S:
            try:
                response = self.send(url, headers)
                if response.status < 500:
                    return response
            except TransportError:
                pass
            self.sleep(wait_s)
        return self.send(url, headers)

    def pause(self) -> None:
        """Wait between two pages of a catalogue, where its museum asked for it."""
        if self.pause_s:
            self.sleep(self.pause_s)
