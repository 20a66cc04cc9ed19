"""Any memory system with a REST interface: `http:NAME` or `http:FILE.toml`, a mapping of its routes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from smriti.errors import MemorySystemError
from smriti.memory._mapped import mapping
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.mapping import Call
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.started import Started
from smriti.memory._mapped.system import MappedSystem

ARGUMENT = (
    "a mapping that came with smriti, as http:NAME, or one of yours, as http:FILE.toml; see smriti/memory/README.md"
)

_MAX_ANSWER_BYTES = 64_000_000


def create(argument: str | None) -> MappedSystem:
    """Make the system that the mapping `argument` describes; UsageError when it cannot be used as it is."""
    mapped = mapping.read("http", argument)
    return MappedSystem(f"http:{mapped.mapping.name}", mapped, HttpClient)


def sources(argument: str | None) -> dict[str, str]:
    """Return label → sha256 of the mapping's file."""
    mapped = mapping.read("http", argument)
    return {mapped.file: mapped.sha256}


class HttpClient:
    """A server, and requests to it; nothing of the user's proxies is used."""

    def __init__(self, place: Place) -> None:
        import httpx  # noqa: PLC0415

        self._place = place
        self._started = Started(place, speaks_on_stdio=False)
        headers: dict[str, str] = filled(place.interface.headers, place.values)
        self._web = httpx.Client(
            base_url=self._started.url, headers=headers, timeout=place.interface.call_s, trust_env=False
        )

    def call(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        import httpx  # noqa: PLC0415

        arguments = filled(call.arguments, values)
        quoted = {name: None if value is None else quote(str(value), safe="") for name, value in values.items()}
        path: str = filled(call.path, quoted)
        in_query = call.method in {"GET", "DELETE"}
        asked = self._web.build_request(
            call.method, path, params=arguments if in_query else None, json=None if in_query else arguments
        )
        try:
            status, content = self._answered(asked)
        except TimeoutError as error:
            raise self._failure(verb, f"got no whole answer in {self._place.interface.call_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            if self._started.server is not None:
                self._started.server.settled()
            said = " ".join(str(error).split())
            raise self._failure(verb, f"failed: {type(error).__name__}: {said:.300}") from error
        failed = None if status < 400 else f"HTTP {status}"
        return Answer(content.decode(errors="replace"), failed=failed)

    def stop(self) -> None:
        self._web.close()
        self._started.stop()

    def _answered(self, asked: Any) -> tuple[int, bytes]:
        """Return status and body; TimeoutError when the whole takes too long, however small its parts."""
        import httpx  # noqa: PLC0415

        deadline = time.monotonic() + self._place.interface.call_s
        content = bytearray()
        try:
            answer = self._web.send(asked, stream=True)
            try:
                for part in answer.iter_bytes():
                    content += part
                    if len(content) > _MAX_ANSWER_BYTES:
                        raise ValueError(f"its answer has more than {_MAX_ANSWER_BYTES} bytes")
                    if time.monotonic() > deadline:
                        raise TimeoutError
            finally:
                answer.close()
        except httpx.TimeoutException as error:
            raise TimeoutError from error
        return answer.status_code, bytes(content)

    def _failure(self, verb: str, what: str) -> MemorySystemError:
        return MemorySystemError(f"{self._place.where}: {verb} {what}; {self._started.why()}")
