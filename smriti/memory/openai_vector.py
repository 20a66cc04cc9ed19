"""Memories ranked by the embeddings of a service that speaks OpenAI's interface: only when it is named."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._embedding import EmbeddingStore, unit
from smriti.types import SystemIdentity

if TYPE_CHECKING:
    import httpx

    from smriti.memory._embedding import Vectors

ARGUMENT_FORM = "MODEL, MODEL@BASE_URL or @BASE_URL"
MODEL = "text-embedding-3-small"
BASE_URL = "https://api.openai.com/v1"
MAX_CHARACTERS = 8_000
BATCH = 64
"""Inputs of one request."""

_TIMEOUT_S = 60.0
_ATTEMPTS = 5
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0


def create(argument: str | None) -> OpenAIVectorMemory:
    """Make the system from `MODEL`, `MODEL@BASE_URL` or `@BASE_URL`; what is left out is the default.

    The environment is read here and nowhere else: OPENAI_API_KEY, and OPENAI_BASE_URL where the argument has no URL.
    UsageError without a key, and for a key or URL that cannot be one.
    """
    model, url = _parsed(argument or "")
    from_environment = os.environ.get("OPENAI_BASE_URL", "").strip()
    base_url = _base_url(url or from_environment or BASE_URL, "its argument" if url else "OPENAI_BASE_URL")
    return OpenAIVectorMemory(Service(model=model or MODEL, base_url=base_url, key=_key()))


def _parsed(argument: str) -> tuple[str, str]:
    for scheme in ("@http://", "@https://"):
        model, at, rest = argument.partition(scheme)  # the name of a model may hold an @ of its own
        if at:
            return model, scheme[1:] + rest
    if argument.startswith("@") or "://" in argument:
        raise UsageError(f"memory system 'openai-vector' takes {ARGUMENT_FORM}, found {argument!r}")
    return argument, ""


def _base_url(text: str, where: str) -> str:
    import httpx  # noqa: PLC0415

    problem = "is no http:// or https:// address"
    with contextlib.suppress(httpx.InvalidURL):
        url = httpx.URL(text)
        if url.userinfo or url.query or url.fragment:
            problem = "holds more than scheme, host, port and path; the key belongs into OPENAI_API_KEY"
        elif url.scheme in {"http", "https"} and url.host:
            return str(url).rstrip("/")
    # Not repeated: it may hold a secret.
    raise UsageError(f"memory system 'openai-vector': the base URL of {where} {problem}")


def _key() -> str:
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        raise UsageError(
            "memory system 'openai-vector' sends every memory to a service and needs its key: set OPENAI_API_KEY "
            "(to any word for a server of your own that asks for none)"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError("memory system 'openai-vector': OPENAI_API_KEY holds characters that no key has")
    return key


@dataclass(frozen=True)
class Service:
    """Where embeddings come from."""

    model: str
    base_url: str
    key: str = field(repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    @property
    def host(self) -> str | None:
        """Host and port; None for the default address."""
        import httpx  # noqa: PLC0415

        return None if self.base_url == BASE_URL else httpx.URL(self.base_url).netloc.decode()


class OpenAIVectorMemory:
    """Cosine over a service's embeddings; every memory of the realm is ranked."""

    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def __init__(self, service: Service) -> None:
        self._service = service
        named = "" if service.model == MODEL else service.model
        at = "" if service.host is None else f"@{service.host}"
        self.name = f"openai-vector:{named}{at}" if named or at else "openai-vector"

    def identity(self) -> SystemIdentity:
        detail = {
            "model": self._service.model,
            "host": self._service.host,
            "max_characters": MAX_CHARACTERS,
            "dimension": None,  # known once it is used, and an identity stands before that
            "ties": "input order",
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> EmbeddingStore:
        """Open an empty store; MemorySystemError for a replica, which vectors in memory do not have."""
        del workspace
        if replica is not None:
            raise MemorySystemError("openai-vector: there is no stored form to replicate")
        return EmbeddingStore("openai-vector", ServiceEmbedder(self._service))


class ServiceEmbedder:
    """Asks the service for the first 8,000 characters of each text, at most 64 texts at a time.

    Too many requests, a fault of the server and a broken connection are tried again, four times, after longer and
    longer pauses. Anything else that is no whole answer is a MemorySystemError. The key is in none of its errors.
    """

    def __init__(self, service: Service) -> None:
        import httpx  # noqa: PLC0415

        self._service = service
        self._client = httpx.Client(headers={"Authorization": f"Bearer {service.key}"}, timeout=_TIMEOUT_S)
        self._dimension: int | None = None

    def documents(self, texts: Sequence[str]) -> list[Vectors]:
        vectors: list[Vectors] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._embedded([text[:MAX_CHARACTERS] for text in texts[start : start + BATCH]])
        return vectors

    def query(self, text: str) -> Vectors:
        vector: Vectors = self._embedded([text[:MAX_CHARACTERS]])[0][0]
        return vector

    def close(self) -> None:
        self._client.close()

    def _embedded(self, texts: Sequence[str]) -> list[Vectors]:
        """Return one matrix of one row for each text."""
        rows = self._rows(self._answer(texts), len(texts))
        return [unit([row]) for row in rows]

    def _rows(self, answer: Any, expected: int) -> list[list[float]]:
        items = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise self._malformed("its answer has no list 'data' of objects")
        if len(items) != expected:
            raise self._malformed(f"{len(items)} embeddings came back for {expected} texts")
        rows = []
        for place, item in enumerate(items):
            index, row = item.get("index"), item.get("embedding")
            if type(index) is not int or index != place:
                raise self._malformed(f"embedding {place} has the index {index!r}")
            rows.append(self._row(row, place))
        return rows

    def _row(self, row: object, place: int) -> list[float]:
        if not isinstance(row, list) or not row or any(type(number) not in {int, float} for number in row):
            raise self._malformed(f"embedding {place} is no list of numbers")
        try:
            numbers = [float(number) for number in row]
        except OverflowError:
            numbers = [math.inf]
        if not all(map(math.isfinite, numbers)) or not any(numbers):
            raise self._malformed(f"embedding {place} is zero, or holds a number that is not finite")
        if self._dimension is None:
            self._dimension = len(numbers)
        if len(numbers) != self._dimension:
            raise self._malformed(f"embedding {place} has {len(numbers)} numbers, those before it {self._dimension}")
        return numbers

    def _answer(self, texts: Sequence[str]) -> Any:
        import httpx  # noqa: PLC0415

        url = f"{self._service.base_url}/embeddings"
        body = {"model": self._service.model, "input": list(texts), "encoding_format": "float"}
        said, asked_pause_s = "", 0.0
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._service.sleep(min(max(_FIRST_PAUSE_S * 2 ** (attempt - 1), asked_pause_s), _LONGEST_PAUSE_S))
            try:
                response = self._client.post(url, json=body)
            except httpx.RequestError as error:
                said, asked_pause_s = f"{type(error).__name__}: {error}", 0.0
                continue
            if response.is_success:
                return self._parsed(response)
            said = self._refusal(response)
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS and not response.is_server_error:
                raise self._failure(said)
            asked_pause_s = _seconds(response.headers.get("retry-after", ""))
        raise self._failure(f"{said} (tried {_ATTEMPTS} times)")

    def _parsed(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError:  # neither JSON nor, as UnicodeDecodeError, text
            raise self._malformed(f"its answer is no JSON: {response.text}") from None
        except RecursionError:
            raise self._malformed("its answer is nested too deeply") from None

    def _refusal(self, response: httpx.Response) -> str:
        if response.status_code in {401, 403}:
            # What it says may repeat parts of the key.
            return f"HTTP {response.status_code}: it does not accept the key in OPENAI_API_KEY"
        return f"HTTP {response.status_code}: {response.text}"

    def _malformed(self, problem: str) -> MemorySystemError:
        return self._failure(f"malformed answer: {problem}")

    def _failure(self, said: str) -> MemorySystemError:
        where = f"openai-vector: {self._service.host or 'api.openai.com'}, model {self._service.model!r}"
        shown = " ".join(said.replace(self._service.key, "[key]").split())
        return MemorySystemError(f"{where}: {shown:.400}")


def _seconds(text: str) -> float:
    """Read a `Retry-After` that is a number of seconds; 0 for anything else."""
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if seconds > 0 else 0.0  # not for nan
