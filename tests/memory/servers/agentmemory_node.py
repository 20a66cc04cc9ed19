"""Plays node, agentmemory's worker and the stand-in of its engine for tests; it can be told to misbehave.

Called as `agentmemory_node.py MISBEHAVE FILE`: index.mjs is the worker, anything else the engine, which serves REST as
long as a worker is connected, at ports of its environment or of `--config FILE`. Both write their environment to HOME.
MISBEHAVE is `what:verb`: hang, die (the worker), engine-dies, garbage; or what alone: refuse (a 201 says
success:false), supersede (the newest memory replaces the one before it, and says so), replace (does not say so), not-
latest, unauthorized, foreign (finds what nobody planted), lie (confirms that it forgot), shrug (forgets, and says that
it forgot nothing), deduplicate (captures nothing), not-loaded (never has its index), deaf (the engine never listens).
"""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

MISBEHAVE, FILE = sys.argv[1], Path(sys.argv[2])
WHAT, _, VERB = MISBEHAVE.partition(":")
LOCK = threading.RLock()


def work() -> None:
    """Be the worker: register, and end when told to."""
    port = int(os.environ["III_ENGINE_URL"].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as engine:
        hello = {"secret": os.environ["AGENTMEMORY_SECRET"], "viewer": int(os.environ["III_REST_PORT"]) + 2}
        engine.sendall(json.dumps(hello).encode() + b"\n")
        engine.recv(1)
    sys.stderr.write("Error: the worker fell over\n")
    sys.stderr.flush()
    os._exit(7)


class Memories:
    """What the worker holds, in the file of the engine."""

    def __init__(self) -> None:
        self._file = Path(os.environ["MINI_STATE"])
        self._state: dict[str, Any] = {"memories": {}, "observations": {}, "actions": []}
        if self._file.exists():
            self._state = json.loads(self._file.read_text())

    def call(self, verb: str, given: dict[str, Any]) -> Any:
        answer = getattr(self, verb)(given)
        self._file.write_text(json.dumps(self._state))
        return answer

    def remember(self, given: dict[str, Any]) -> Any:
        if WHAT == "refuse":
            return {"success": False, "error": "the quota is used up"}
        memories = self._state["memories"]
        id_ = f"mem_{time.time_ns()}_{len(memories)}"
        before = [each for each in memories.values() if each["isLatest"]][-1:]
        replaced = []
        if WHAT in {"supersede", "replace"}:
            for old in before:
                old["isLatest"] = False
                replaced = [old["id"]] if WHAT == "supersede" else []
        memory = {"id": id_, "content": given["content"], "project": given.get("project"), "supersedes": replaced}
        memories[id_] = memory | {"isLatest": WHAT != "not-latest", "type": given["type"]}
        return {"success": True, "memory": memories[id_]}

    def search(self, given: dict[str, Any]) -> Any:
        found = self._found(given, given.get("project"))
        form, budget = given["format"], given.get("token_budget")
        if form != "full":
            found = [
                self._short(each) | ({"narrative": each["observation"]["narrative"]} if form == "narrative" else {})
                for each in found
            ]
        kept = found if budget is None else found[: budget // 10]
        text = {"text": "\n\n".join(each["narrative"] for each in kept)} if form == "narrative" else {}
        return {"format": form, "results": kept, "truncated": len(kept) < len(found), **text}

    def smart_search(self, given: dict[str, Any]) -> Any:
        if "expandIds" in given:
            known = [
                self._state["observations"][id_] for id_ in given["expandIds"] if id_ in self._state["observations"]
            ]
            return {
                "mode": "expanded",
                "results": [{"sessionId": each["session"], "observation": each} for each in known],
            }
        return {"mode": "compact", "results": [self._short(each) for each in self._found(given, None)]}

    def forget(self, given: dict[str, Any]) -> Any:
        if WHAT == "lie":
            return {"success": True, "deleted": 1}
        kind, ids = (
            ("memories", [given["memoryId"]]) if "memoryId" in given else ("observations", given["observationIds"])
        )
        gone = [self._state[kind].pop(id_, None) for id_ in ids]
        return {"success": True, "deleted": 0 if WHAT == "shrug" else len([each for each in gone if each])}

    def observe(self, given: dict[str, Any]) -> Any:
        if WHAT == "deduplicate":
            return {"deduplicated": True, "sessionId": given["sessionId"]}
        id_ = f"obs_{len(self._state['observations'])}"
        own = {"id": id_, "title": given["data"]["tool_name"], "narrative": given["data"]["tool_output"][:400]}
        self._state["observations"][id_] = own | {"session": given["sessionId"], "project": given["project"]}
        return {"observationId": id_}

    def memories(self, given: dict[str, Any]) -> Any:
        memories = self._state["memories"]
        if "id" in given:
            return {"memory": memories[given["id"]]}
        assert given == {"count": "true"}
        return {"total": len(memories), "latestCount": len([each for each in memories.values() if each["isLatest"]])}

    def actions(self, given: dict[str, Any]) -> Any:
        actions = self._state["actions"]
        if "title" not in given:
            return {"success": True, "actions": [each for each in actions if each["project"] == given["project"]]}
        actions.insert(0, {"id": f"act_{len(actions)}", **given})
        return {"success": True, "action": actions[0]}

    def _found(self, given: dict[str, Any], project: str | None) -> list[dict[str, Any]]:
        words = set(re.findall(r"\w+", given["query"].lower()))
        shown = [
            {"id": each["id"], "title": each["content"][:80], "narrative": each["content"], "project": each["project"]}
            for each in self._state["memories"].values()
            if each["isLatest"]
        ]
        found = []
        for each in [*shown, *self._state["observations"].values()]:
            score = len(words & set(re.findall(r"\w+", each["narrative"].lower())))
            if score and (project is None or each["project"] in {None, project}):
                found.append({"observation": each, "score": score})
        found.sort(key=lambda each: -each["score"])
        if WHAT == "foreign":
            strange = {"id": "mem_strange", "title": "Nobody", "narrative": "Nobody planted this."}
            found.append({"observation": strange, "score": 0})
        return found[: given["limit"]]

    @staticmethod
    def _short(found: dict[str, Any]) -> dict[str, Any]:
        return {"obsId": found["observation"]["id"], "title": found["observation"]["title"], "score": found["score"]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self._answer(dict(parse_qsl(urlsplit(self.path).query)))

    def _answer(self, given: dict[str, Any]) -> None:
        _, base, verb, *id_ = urlsplit(self.path).path.split("/")
        verb = verb.replace("-", "_")
        if WORKERS == [] or base != "agentmemory":
            self._send(404, {"error": "Not Found"})
        elif verb == "livez":
            self._send(200, {"status": "ok"} | ({} if WHAT == "not-loaded" else {"viewerPort": WORKERS[0]["viewer"]}))
        elif WHAT == "unauthorized" or self.headers["Authorization"] != f"Bearer {WORKERS[0]['secret']}":
            self._send(401, {"error": "unauthorized"})
        else:
            self._called(verb, given | ({"id": id_[0]} if id_ else {}))

    def _called(self, verb: str, given: dict[str, Any]) -> None:
        if verb == VERB and WHAT == "hang":
            time.sleep(3_600)
        if verb == VERB and WHAT == "engine-dies":
            sys.stderr.write("panic: the engine fell over\n")
            sys.stderr.flush()
            os._exit(9)
        if verb == VERB and WHAT == "die":
            WORKERS.pop()["connection"].close()
            self._send(500, {"error": f"Function not found: api::{verb}"})
            return
        with LOCK:
            try:
                answer = "%% no answer %%" if verb == VERB and WHAT == "garbage" else MEMORIES.call(verb, given)
            except KeyError as error:
                self._send(404, {"error": f"not found: {error}"})
                return
        self._send(201 if self.command == "POST" else 200, answer)

    def _send(self, status: int, said: Any) -> None:
        body = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def take_workers(listening: socket.socket) -> None:
    """Take a worker for each line with a secret; what connects and says nothing only looks."""
    while True:
        connection, _ = listening.accept()
        if line := connection.makefile("rb").readline():
            WORKERS.append({**json.loads(line), "connection": connection})
        else:
            connection.close()


role = "worker" if FILE.name == "index.mjs" else "engine"
Path(os.environ["HOME"], f"{role}.json").write_text(json.dumps(dict(os.environ)))
if role == "worker":
    work()
if WHAT == "deaf":
    time.sleep(3_600)
if sys.argv[3:4] == ["--config"]:
    CONFIG = {each["name"]: each["config"] for each in json.loads(Path(sys.argv[4]).read_text())["workers"]}
    os.environ["MINI_WS_PORT"], os.environ["MINI_HTTP_PORT"] = (
        str(CONFIG[name]["port"]) for name in ("iii-worker-manager", "iii-http")
    )
    os.environ["MINI_STATE"] = CONFIG["iii-state"]["adapter"]["config"]["file_path"]
WORKERS: list[dict[str, Any]] = []
MEMORIES = Memories()
door = socket.create_server(("127.0.0.1", int(os.environ["MINI_WS_PORT"])))
threading.Thread(target=take_workers, args=(door,), daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(os.environ["MINI_HTTP_PORT"])), Handler).serve_forever()
