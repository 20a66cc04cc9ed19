"""The two HTTP listeners: readings as JSON, metrics as text."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tidegate.gauges import load
from tidegate.metrics import exposition


def address(text: str) -> tuple[str, int]:
    """Split `HOST:PORT`; an IPv6 host stands in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def listener(at: tuple[str, int], content_type: str, body: Callable[[], str]) -> ThreadingHTTPServer:
    """Bind a server that answers every GET with `body()`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = body().encode()
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET

    return Server(at, Handler)


def readings(path: Path) -> str:
    """Give the level of every gauge as JSON."""
    return json.dumps({gauge.name: gauge.level_mm for gauge in load(path)}, sort_keys=True) + "\n"


def serve(path: Path, listen: tuple[str, int], metrics_listen: tuple[str, int]) -> None:
    """Serve both listeners until interrupted; the gauge file is read anew for each request."""
    metrics = listener(metrics_listen, "text/plain; version=0.0.4", lambda: exposition(load(path)))
    threading.Thread(target=metrics.serve_forever, daemon=True).start()
    print(f"metrics on port {metrics.server_address[1]}", flush=True)
    with listener(listen, "application/json", lambda: readings(path)) as server:
        print(f"readings on port {server.server_address[1]}", flush=True)
        server.serve_forever()
