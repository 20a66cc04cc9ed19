"""A small memory system for tests, over a file; it can be told to misbehave.

NOTES_FILE is its file. NOTES_MISBEHAVE is `what:verb`: die, hang, garbage, refuse (in plain text), lose (a confirmed
write is not there), supersede (the newest write silently replaces the one before it, `supersede-said` says so), lie
(confirms that it forgot), hide (what was forgotten is still got by its id), foreign (ids that nobody planted), no-id,
same-id, slow (found only by the third search), orphan (starts a process that leaves its group, and writes its id to
NOTES_FILE.orphan).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from threading import RLock
from typing import Any

GARBAGE = "%% this is no answer %%"


class Notes:
    """The verbs, each from its arguments to an object or a plain text."""

    def __init__(self) -> None:
        self._file = Path(os.environ["NOTES_FILE"])
        self._what, _, self._verb = os.environ.get("NOTES_MISBEHAVE", "").partition(":")
        self._lock = RLock()
        self._searches = 0
        self._state: dict[str, Any] = {"next": 1, "notes": {}, "actions": []}
        if self._file.exists():
            self._state = json.loads(self._file.read_text())
        sys.stderr.write(f"notes of {self._file.name} are open\n")

    def call(self, verb: str, given: dict[str, Any]) -> Any:
        if verb == self._verb:
            if self._what == "die":
                sys.stderr.write("Traceback: notes fell over\n")
                sys.stderr.flush()
                os._exit(7)
            if self._what == "hang":
                time.sleep(3_600)
            if self._what == "orphan":
                self._start_orphan()
            if self._what == "garbage":
                return GARBAGE
            if self._what == "refuse":
                return "Error: the quota of notes is used up"
        with self._lock:
            answer = getattr(self, verb)(**given)
            self._file.write_text(json.dumps(self._state))
            return answer

    def remember(self, text: str, project: str = "", kind: str = "wisdom") -> Any:
        del kind
        if self._what == "same-id" and self._state["notes"]:
            return {"note": {"id": int(max(self._state["notes"], key=int))}, "replaced": []}
        id_, replaced = self._state["next"], []
        self._state["next"] += 1
        if self._what.startswith("supersede") and self._state["notes"]:
            replaced = [int(max(self._state["notes"], key=int))]
            del self._state["notes"][str(replaced[0])]
        if self._what != "lose":
            self._state["notes"][str(id_)] = {"text": text, "project": project}
        return {"note": {"id": id_}, "replaced": replaced if self._what == "supersede-said" else []}

    def search(self, query: str, limit: int, project: str = "") -> Any:
        self._searches += 1
        words = set(re.findall(r"\w+", query.lower()))
        found = []
        for id_, note in self._state["notes"].items():
            score = len(words & set(re.findall(r"\w+", note["text"].lower())))
            if score and (not project or note["project"] == project):
                found.append({"id": int(id_), "text": note["text"], "score": score})
        found.sort(key=lambda each: -each["score"])
        if self._what == "slow" and self._searches < 3:
            found = []
        if self._what == "foreign":
            found.append({"id": 999, "text": "Nobody planted this.", "score": 0})
        if self._what == "no-id":
            found.append({"text": "This has no id.", "score": 0})
        return {"results": found[:limit]} if found else "No notes found."

    def get(self, id: int) -> Any:  # noqa: A002
        note = self._state["notes"].get(str(id))
        return {"text": note["text"]} if note else f"There is no note {id}."

    def forget(self, id: int) -> Any:  # noqa: A002
        if self._what == "hide":
            self._state["notes"][str(id)]["project"] = "hidden"
        elif self._what != "lie":
            self._state["notes"].pop(str(id), None)
        return {"deleted": 1}

    def correct(self, id: int, text: str, project: str = "") -> Any:  # noqa: A002
        if self._what != "lie":
            self._state["notes"].pop(str(id))
        return self.remember(text, project)

    def update(self, id: int, text: str) -> Any:  # noqa: A002
        if self._what != "lie":
            self._state["notes"][str(id)]["text"] = text
        return {"changed": True}

    def compact(self, query: str, limit: int, project: str = "") -> Any:
        answer = self.search(query, limit, project)
        if isinstance(answer, dict):
            for each in answer["results"]:
                each["text"] = each["text"][:20]
        return answer

    def act(self, title: str, notes: list[int]) -> Any:
        self._state["actions"].append({"id": f"a{len(self._state['actions'])}", "title": title, "notes": notes})
        return {"id": self._state["actions"][-1]["id"]}

    def actions(self) -> Any:
        return {"actions": self._state["actions"]}

    def count(self) -> Any:
        return {"count": len(self._state["notes"])}

    def _start_orphan(self) -> None:
        orphan = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
        Path(f"{self._file}.orphan").write_text(f"{orphan.pid}\n")
