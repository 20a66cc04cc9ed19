"""The verbs as MCP tools, over stdio or streamable HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette

from smriti.errors import SmritiError
from smriti.memory.embedded.verbs import SERVER, VERBS, Service

PATH = "/mcp"


def application(service: Service, host: str) -> Starlette:
    """Make what serves the tools at `/mcp`; every request stands by itself, so a server that starts anew is no loss."""
    return _server(service).streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, host=host
    )


async def serve_stdio(service: Service, ready: Callable[[], None]) -> None:
    """Serve the tools until stdin closes; `ready` is called before the first message is read."""
    server = _server(service)
    async with stdio_server() as (read, write):
        ready()
        await server.run(read, write, server.create_initialization_options())


def _server(service: Service) -> Server[Any]:
    async def list_tools(context: object, asked: object) -> types.ListToolsResult:
        del context, asked
        return types.ListToolsResult(tools=_TOOLS)

    async def call_tool(context: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        del context
        if asked.name not in VERBS:
            return _failed(f"there is no tool {asked.name!r}; the tools are {', '.join(VERBS)}")
        try:
            answer = await anyio.to_thread.run_sync(service.call, asked.name, asked.arguments or {})
        except SmritiError as error:
            return _failed(str(error))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))],
            structured_content=answer,
        )

    return Server(SERVER, version=version("smriti"), on_list_tools=list_tools, on_call_tool=call_tool)


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


_TOOLS = [
    types.Tool(name=name, description=verb.about, input_schema=verb.fields.model_json_schema())
    for name, verb in VERBS.items()
]
