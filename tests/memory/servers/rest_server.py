"""The notes over REST, at a port of the system's choice that its first line names. The standard library alone."""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.memory.servers.notes import Notes

NOTES = Notes()
NUMBERS = {"id", "limit"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self._answer({})

    def do_DELETE(self) -> None:
        self.do_GET()

    def _answer(self, given: dict[str, Any]) -> None:
        where = urlsplit(self.path)
        _, verb, *id_ = where.path.split("/")
        given |= {name: int(value) if name in NUMBERS else value for name, value in parse_qsl(where.query)}
        if id_:
            given["id"] = int(unquote(id_[0]))
        if self.headers["Authorization"] != f"Bearer {os.environ['NOTES_TOKEN']}":
            self._send(401, {"error": "unauthorized"})
            return
        try:
            self._send(200, NOTES.call("forget" if self.command == "DELETE" else verb, given))
        except (KeyError, TypeError) as error:
            self._send(400, {"error": repr(error)})

    def _send(self, status: int, said: Any) -> None:
        body = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"warming up\nnotes at http://127.0.0.1:{server.server_port} now\n")
sys.stdout.flush()
server.serve_forever()
