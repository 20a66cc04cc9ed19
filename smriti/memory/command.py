"""Any memory system in any language: `command:FILE`, a driver that answers a JSON line for each JSON line."""

from __future__ import annotations

import itertools
import json
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.mapping import Call, Interface, Mapped, SystemFile
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.server import Server
from smriti.memory._mapped.system import MappedSystem

ARGUMENT = "a driver, as command:FILE, or a file that says how it is started, as command:FILE.toml"

_MAX_LINE_BYTES = 64_000_000
_SHOWN = 200
_HELLO = Call(tool="hello")
_WRITTEN = {"content": "{content}", "type": "{type}", "realm": "{realm}"}
_SEARCHED = {"query": "{query}", "realm": "{realm}", "k": "{k}", "layer": "{layer}"}
_FOUND = {"hits": "hits", "score": "score", "k_max": 1_000}
_VERBS: Mapping[str, Mapping[str, Any]] = {
    "remember": {"arguments": _WRITTEN, "id": "id", "superseded": "superseded"},
    "search": {"arguments": _SEARCHED, **_FOUND},
    "forget": {"arguments": {"ids": "{ids}"}, "deleted": "deleted"},
    "get": {"arguments": {"id": "{id}"}, "content": "content"},
    "correct": {"arguments": {"id": "{id}", **_WRITTEN}, "id": "id"},
    "update": {"arguments": {"id": "{id}", "content": "{content}"}, "id": "id"},
    "compact": {"arguments": _SEARCHED, **_FOUND},
    "expand": {"arguments": {"id": "{id}"}, "content": "content"},
    "capture": {
        "arguments": {"content": "{content}", "tool": "{tool}", "session": "{session}", "realm": "{realm}"},
        "id": "id",
    },
    "act": {"arguments": {"title": "{title}", "memory_ids": "{memory_ids}", "realm": "{realm}"}, "id": "id"},
    "actions": {"arguments": {"realm": "{realm}"}, "actions": "actions"},
    "recall": {
        "arguments": {**_SEARCHED, "form": "{form}", "budget": "{budget}"},
        **_FOUND,
        "text": "text",
        "cut": "cut",
    },
    "count": {"value": "count"},
}


def create(argument: str | None) -> MappedSystem:
    """Make the system of the driver in the file `argument`, which is started once to say what it is.

    UsageError where it cannot be started, or does not say that as it has to.
    """
    file = _file(argument)
    settings = _settings(file)
    said = _said_hello(file, settings)
    verbs = [*said.get("verbs", ())]
    if unknown := [verb for verb in verbs if verb not in _VERBS]:
        raise UsageError(f"driver {str(file)!r} says that it has {unknown}, expected some of {', '.join(_VERBS)}")
    try:
        table = settings | {verb: {"tool": verb, **_VERBS[verb]} for verb in ("remember", "search", "forget", *verbs)}
        table |= {"layers": said.get("layers", []), "capabilities": said.get("capabilities", [])}
        interface = Interface.model_validate(table)
        described = SystemFile(name=said.get("name"), version=said.get("version"), command=interface)
    except ValueError as error:
        raise UsageError(f"driver {str(file)!r} said hello with {said!r:.300}: {_first(error)}") from error
    digest = sha256(file.read_bytes()).hexdigest()
    mapped = Mapped(file=file.name, sha256=digest, mapping=described, kind="command", interface=interface)
    return MappedSystem(f"command:{described.name}", mapped, DriverClient)


def sources(argument: str | None) -> dict[str, str]:
    """Return label → sha256 of the file, and of each word of its command that is a file."""
    file = _file(argument)
    found = {file.name: sha256(file.read_bytes()).hexdigest()}
    for number, word in enumerate(_settings(file)["command"]):
        path = Path(word)
        if path.is_absolute() and path.is_file() and path != file:
            found[f"command[{number}] {path.name}"] = sha256(path.read_bytes()).hexdigest()
    return found


def _file(argument: str | None) -> Path:
    if not argument:
        raise UsageError("memory system 'command' was given no file, expected a driver: write command:FILE")
    file = Path(argument).absolute()
    if not file.is_file():
        raise UsageError(f"memory system 'command': {argument!r} is no file, expected a driver or a TOML file")
    return file


def _settings(file: Path) -> dict[str, Any]:
    """Return how the driver is started: as its TOML file says, with this Python for .py, or by itself."""
    if file.suffix == ".toml":
        return _from_toml(file)
    if file.suffix == ".py":
        return {"command": [sys.executable, "-I", str(file)]}
    if not os.access(file, os.X_OK):
        raise UsageError(f"driver {str(file)!r} cannot be executed; make it so (chmod +x), or name a .py file")
    return {"command": [str(file)]}


def _from_toml(file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415

    known = {"command", "env", "start_s", "call_s", "settle_s", "stop_s"}
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{str(file)!r} is no TOML: {error}; expected a TOML file in UTF-8") from error
    command = table.get("command")
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise UsageError(f"{str(file)!r} has no list 'command', expected the driver's command")
    if unknown := sorted(set(table) - known):
        raise UsageError(f"{str(file)!r} has the keys {unknown}, expected some of {', '.join(sorted(known))}")
    beside = file.parent / command[-1]
    return table | {"command": [*command[:-1], str(beside) if beside.is_file() else command[-1]]}


def _said_hello(file: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    table = {**settings, **{verb: {"tool": verb, **_VERBS[verb]} for verb in ("remember", "search", "forget")}}
    try:
        interface = Interface.model_validate(table)
    except ValueError as error:
        raise UsageError(f"{str(file)!r}: {_first(error)}") from error
    where = f"driver {file.name}"
    with tempfile.TemporaryDirectory(prefix="smriti-driver-") as scratch:
        try:
            client = DriverClient(Place.of(where, "driver", interface, Path(scratch)))
            try:
                said = client.call("hello", _HELLO, {}).structured
            finally:
                client.stop()
        except MemorySystemError as error:
            raise UsageError(f"memory system 'command': {error}") from error
    if not isinstance(said, dict):
        raise UsageError(f"{where} said hello with {said!r:.200}, expected an object with name, version and verbs")
    return said


def _first(error: ValueError) -> str:
    return " ".join(str(error).split())[:300]


class DriverClient:
    """A driver's process; requests take turns, a line each."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._turn = threading.Lock()
        self._number = itertools.count(1)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._server = Server(place.command(), cwd=place.cwd, env=place.env)
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        deadline = time.monotonic() + self._place.interface.call_s
        if not self._turn.acquire(timeout=self._place.interface.call_s):
            raise self._failure(verb, "did not get its turn in time")
        try:
            number = next(self._number)
            request = {"id": number, "verb": call.tool, "arguments": filled(call.arguments, values)}
            return self._answered(verb, number, self._line(verb, request, deadline))
        finally:
            self._turn.release()

    def stop(self) -> None:
        self._server.stop(self._place.interface.stop_s)

    def _line(self, verb: str, request: Mapping[str, Any], deadline: float) -> bytes:
        try:
            writing = threading.Thread(target=self._write, args=(json.dumps(request).encode() + b"\n",), daemon=True)
            writing.start()  # a driver that does not read would block this one for ever
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            limit_s = self._place.interface.call_s
            raise self._failure(verb, f"got no answer in {limit_s:g} s", dead=True) from None
        if not line:
            self._lines.put(b"")
            self._server.settled()
            raise self._failure(verb, "got no answer")
        return line

    def _answered(self, verb: str, number: int, line: bytes) -> Answer:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("id") != number or not ({"result", "error"} & answer.keys()):
            expected = f'{{"id": {number}, "result": …}}'
            raise self._failure(
                verb, f"was answered {line.decode(errors='replace').strip()!r:.200}, expected {expected}", dead=True
            )
        if "error" in answer:
            return Answer(str(answer["error"]), failed="the driver says that it failed")
        return Answer("", answer["result"])

    def _failure(self, verb: str, what: str, *, dead: bool = False) -> MemorySystemError:
        """Return the error; a driver whose answers are out of step is `dead`, for no later one can be told apart."""
        why = self._server.why()
        if dead:
            self._server.kill()
        return MemorySystemError(f"{self._place.where}: {verb} {what}; {why}")

    def _write(self, line: bytes) -> None:
        try:
            self._server.stdin.write(line)
            self._server.stdin.flush()
        except (OSError, ValueError):
            return  # the reader sees that the driver has ended

    def _read(self) -> None:
        with self._server.stdout as lines:
            while line := lines.readline(_MAX_LINE_BYTES):
                self._lines.put(line)
        self._lines.put(b"")
