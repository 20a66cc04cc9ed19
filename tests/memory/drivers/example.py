"""An example driver: memories found by their words, kept in a file of the working directory."""

import json
import re
import sys
from pathlib import Path
from typing import Any

FILE = Path("memories.json")
HELLO = {"name": "example", "version": "1.0", "verbs": ["get", "count"], "capabilities": ["restart"]}


def load() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {"next": 1, "memories": {}}


def remember(given: dict[str, Any]) -> dict[str, Any]:
    state = load()
    new_id = f"n{state['next']}"
    state["next"] += 1
    state["memories"][new_id] = {"content": given["content"], "realm": given.get("realm")}
    FILE.write_text(json.dumps(state))
    return {"id": new_id}


def search(given: dict[str, Any]) -> dict[str, Any]:
    words, hits = set(re.findall(r"\w+", given["query"].lower())), []
    for memory_id, memory in load()["memories"].items():
        score = len(words & set(re.findall(r"\w+", memory["content"].lower())))
        if score and memory["realm"] == given.get("realm"):
            hits.append({"id": memory_id, "content": memory["content"], "score": score})
    return {"hits": sorted(hits, key=lambda hit: -hit["score"])[: given["k"]]}


def get(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": load()["memories"].get(given["id"], {}).get("content")}


def forget(given: dict[str, Any]) -> dict[str, Any]:
    state = load()
    deleted = [memory_id for memory_id in given["ids"] if state["memories"].pop(memory_id, None)]
    FILE.write_text(json.dumps(state))
    return {"deleted": deleted}


def count(_: dict[str, Any]) -> dict[str, Any]:
    return {"count": len(load()["memories"])}


VERBS = {"hello": lambda _: HELLO, "remember": remember, "search": search, "get": get, "forget": forget, "count": count}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"id": request["id"], "result": VERBS[request["verb"]](request["arguments"])}
    except (KeyError, OSError, ValueError) as error:
        answer = {"id": request["id"], "error": repr(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
