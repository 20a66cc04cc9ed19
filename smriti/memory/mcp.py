"""Any memory system that speaks MCP, by stdio or streamable HTTP: `mcp:NAME` or `mcp:FILE.toml` maps its tools."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._mapped import mapping
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.mapping import Call
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.server import Server
from smriti.memory._mapped.started import Started
from smriti.memory._mapped.system import MappedSystem

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport

ARGUMENT = (
    "a mapping that came with smriti, as mcp:NAME, or one of yours, as mcp:FILE.toml; see smriti/memory/README.md"
)

_MAX_LINE_BYTES = 64_000_000
_STOP_S = 10.0
_SHOWN = 200


def create(argument: str | None) -> MappedSystem:
    """Make the system that the mapping `argument` describes.

    UsageError when the mapping cannot be used as it is, or the MCP SDK is not installed.
    """
    mapped = mapping.read("mcp", argument)
    try:
        import mcp  # noqa: F401, PLC0415
    except ImportError as error:
        raise UsageError(
            "memory system 'mcp' needs the MCP SDK, which is not installed: pip install 'smriti[mcp]'"
        ) from error
    return MappedSystem(f"mcp:{mapped.mapping.name}", mapped, McpClient)


def sources(argument: str | None) -> dict[str, str]:
    """Return label → sha256 of the mapping's file."""
    mapped = mapping.read("mcp", argument)
    return {mapped.file: mapped.sha256}


class McpClient:
    """The official SDK's client in a thread with an event loop of its own."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._started = Started(place, speaks_on_stdio=place.interface.url is None)
        self._noise: deque[str] = deque(maxlen=1)
        """The last line on the server's standard output that is no message."""
        self._ready: Future[None] = Future()
        self._stopping: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        self._thread.start()
        try:
            self._result("start", self._ready, place.interface.start_s)
        except BaseException:
            self.stop()
            raise

    def call(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        server = self._started.server
        if self._client is None or self._loop is None or (server is not None and not server.running):
            raise self._failure(verb, "got no answer")
        arguments: dict[str, Any] = filled(call.arguments, values)
        assert call.tool is not None
        asked = self._submitted(self._client.call_tool(call.tool, arguments))
        answered = self._result(verb, asked, self._place.interface.call_s)
        text = "\n".join(part.text for part in answered.content if part.type == "text")
        return Answer(text, answered.structured_content, "the tool says that it failed" if answered.is_error else None)

    def stop(self) -> None:
        if self._loop is not None and self._stopping is not None and self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._stopping.set)
        if self._place.interface.url is not None:
            self._thread.join(self._place.interface.stop_s)  # its last request says goodbye to the server
        self._started.stop()
        self._thread.join(_STOP_S)

    def _submitted(self, asked: Coroutine[Any, Any, Any]) -> Future[Any]:
        assert self._loop is not None
        try:
            return asyncio.run_coroutine_threadsafe(asked, self._loop)
        except RuntimeError:
            asked.close()
            failed: Future[Any] = Future()
            failed.set_exception(ConnectionError("the connection is closed"))
            return failed

    def _result(self, verb: str, future: Future[Any], timeout_s: float) -> Any:
        try:
            return future.result(timeout_s)
        except FutureTimeoutError as error:
            future.cancel()
            raise self._failure(verb, f"got no answer in {timeout_s:g} s") from error
        except MemorySystemError:
            raise
        except (Exception, CancelledError) as error:
            server = self._started.server
            if server is not None:
                server.settled()
            raise self._failure(verb, f"failed: {_said(error)}") from error

    def _failure(self, verb: str, what: str) -> MemorySystemError:
        noise = (
            f"; the last line of its output that is no message is {self._noise[0]!r:.{_SHOWN}}" if self._noise else ""
        )
        return MemorySystemError(f"{self._place.where}: {verb} {what}; {self._started.why()}{noise}")

    async def _serve(self) -> None:
        """Hold the connection open, in one task from its beginning to its end."""
        from mcp import Client  # noqa: PLC0415

        # Without a handler of the user's, Python would print the SDK's warnings among the lines of smriti's own.
        for name in ("mcp", "client"):
            logging.getLogger(name).addHandler(logging.NullHandler())
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = Client(await self._transport(stack), cache=None)
                self._client = await stack.enter_async_context(client)
                self._ready.set_result(None)
                await self._stopping.wait()
        except BaseException as error:  # noqa: BLE001  # whatever the SDK raises is the reason why it did not start
            if not self._ready.done():
                self._ready.set_exception(error if isinstance(error, Exception) else ConnectionError(repr(error)))
        finally:
            self._client = None

    async def _transport(self, stack: contextlib.AsyncExitStack) -> Transport:
        if self._place.interface.url is None:
            assert self._started.server is not None
            return _stdio(self._started.server, self._noise)
        import httpx2  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        url, headers = self._started.url, filled(self._place.interface.headers, self._place.values)
        web = httpx2.AsyncClient(headers=headers, timeout=self._place.interface.call_s, trust_env=False)
        return streamable_http_client(url, http_client=await stack.enter_async_context(web))


@contextlib.asynccontextmanager
async def _stdio(server: Server, noise: deque[str]) -> AsyncGenerator[Any, None]:
    """Carry messages over the pipes of a server, a line each.

    Not the SDK's own, which starts the process itself and leaves it to no one when this process is killed.
    """
    import anyio  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=_MAX_LINE_BYTES)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), server.stdout)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def take() -> None:
        async with incoming:
            with contextlib.suppress(ValueError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                while line := await lines.readline():
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        noise.append(line.decode(errors="replace").strip()[:_SHOWN])
                    else:
                        await incoming.send(SessionMessage(message))

    async def give() -> None:
        async with outgoing:
            async for each in outgoing:
                line = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await asyncio.to_thread(_write, server, line.encode() + b"\n")
                except (OSError, ValueError):
                    incoming.close()
                    return

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take)
            tasks.start_soon(give)
            yield read, write
            tasks.cancel_scope.cancel()
    finally:
        for stream in (incoming, read, write, outgoing):
            stream.close()
        reading.close()


def _write(server: Server, line: bytes) -> None:
    server.stdin.write(line)
    server.stdin.flush()


def _said(error: BaseException) -> str:
    """Return what an error says, or the first of its group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = " ".join(str(error).split()) or json.dumps(type(error).__name__)
    return f"{type(error).__name__}: {said:.300}"
