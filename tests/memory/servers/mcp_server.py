"""The notes over MCP: by stdio, or at the port that is its argument by streamable HTTP. The standard library alone."""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.memory.servers.notes import GARBAGE, Notes

NOTES = Notes()


def answer(message: dict[str, Any]) -> dict[str, Any] | str | None:
    """Answer one JSON-RPC message; a notification is not answered, and garbage is no JSON."""
    if "id" not in message:
        return None
    method, given = str(message["method"]), message.get("params", {})
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        version = given["protocolVersion"]
        info = {"name": "notes", "version": "1"}
        reply["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        tools = [name for name in vars(Notes) if not name.startswith("_") and name != "call"]
        schema = {"type": "object"}
        reply["result"] = {"tools": [{"name": f"note_{name}", "inputSchema": schema} for name in tools]}
    elif method == "tools/call":
        try:
            said = NOTES.call(given["name"].removeprefix("note_"), given.get("arguments", {}))
        except (KeyError, TypeError) as error:
            reply["result"] = {"content": [{"type": "text", "text": repr(error)}], "isError": True}
            return reply
        if said == GARBAGE:
            return GARBAGE
        text = said if isinstance(said, str) else json.dumps(said)
        reply["result"] = {"content": [{"type": "text", "text": text}]}
        if isinstance(said, dict) and "NOTES_TEXT_ONLY" not in os.environ:
            reply["result"]["structuredContent"] = said
    else:
        reply["error"] = {"code": -32601, "message": f"no method {method}"}
    return reply


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        said = answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = b"" if said is None else said.encode() if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(202 if said is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


if len(sys.argv) > 1:
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
for line in sys.stdin:
    if (said := answer(json.loads(line))) is not None:
        sys.stdout.write((said if isinstance(said, str) else json.dumps(said)) + "\n")
        sys.stdout.flush()
