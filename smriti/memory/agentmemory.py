"""agentmemory: its npm worker over REST, and the engine `iii` that routes its requests and keeps its state."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._mapped import mapping
from smriti.memory._mapped.answer import Answer
from smriti.memory._mapped.client import Client
from smriti.memory._mapped.mapping import Call
from smriti.memory._mapped.place import Place, prefix
from smriti.memory._mapped.server import Server
from smriti.memory._mapped.store import MappedStore
from smriti.memory._mapped.system import MappedSystem
from smriti.memory.http import HttpClient
from smriti.process import run
from smriti.types import Hit, Recalled, RecallForm, SystemIdentity

ENGINE = "SMRITI_AGENTMEMORY_III"
"""Names the engine's program, or a stand-in for it: a .mjs file, which node runs."""

KEEP = "SMRITI_KEEP"
"""With 1, what a store leaves on the disk is kept when it is closed."""

ENGINE_VERSION = "0.11.2"
"""Of the engine that this worker asks for."""

_NAME = "agentmemory"
_PACKAGE = "node_modules/@agentmemory/agentmemory"
_STAND_IN = "it runs on a stand-in for its engine: NO FIGURE OF THIS RUN IS AGENTMEMORY'S"
_VERSION_S = 10.0
_POLL_S = 0.02

# The ports of one store: one that is held as long as the store is, and those of the worker and its engine above it.
_BLOCK = 5
_REST, _STREAMS, _VIEWER, _ENGINE = 1, 2, 3, 4
_PORTS = range(20_000, 32_000)
"""Below those that this machine gives to whoever asks for any."""


def create(argument: str | None) -> AgentMemory:
    """Make the system; UsageError where its engine is not to be found."""
    if argument is not None:
        raise UsageError(f"memory system 'agentmemory' has no variant {argument!r}; expected 'agentmemory'")
    engine, mapped = Engine.found(), mapping.read("http", _NAME)
    version = _installed()
    if version not in {None, mapped.mapping.version}:
        raise UsageError(
            f"memory system 'agentmemory' is {mapped.mapping.version}, but {version} is installed in "
            f"{str(prefix(_NAME))!r}; install the other: `nox -s build -- agentmemory`"
        )
    name = f"{_NAME} (stand-in engine)" if engine.kind == "stand-in" else _NAME
    return AgentMemory(name, mapped, partial(AgentMemoryClient, engine), engine=engine)


def sources(argument: str | None) -> dict[str, str]:
    """Return label → sha256 of the mapping's file, the engine and, where it is installed, the worker."""
    del argument
    mapped, engine, worker = mapping.read("http", _NAME), Engine.found(), _worker()
    found = {mapped.file: mapped.sha256, f"{_NAME} engine {engine.path.name}": engine.sha256}
    return found | ({f"{_NAME} worker {worker.name}": _digest(worker)} if worker.is_file() else {})


@dataclass(frozen=True)
class Engine:
    """The program `iii`, or what stands in for it."""

    path: Path
    kind: Literal["iii", "stand-in"]
    version: str
    sha256: str

    @classmethod
    def found(cls) -> Engine:
        """Find the engine where the environment says, or else in its usual places; UsageError where it is not."""
        named = os.environ.get(ENGINE)
        path = Path(named).absolute() if named else next(filter(_is_program, _usual_places()), None)
        if path is None or not (path.is_file() if path.suffix == ".mjs" else _is_program(path)):
            where = f"{ENGINE} names {named!r}, which is no program" if named else "it is in none of its usual places"
            raise UsageError(
                f"memory system 'agentmemory' needs its engine `iii` {ENGINE_VERSION}, a program of its own that npm "
                f"does not bring, and {where}; get it from the releases of github.com/iii-hq/iii (tag "
                f"iii/v{ENGINE_VERSION}) or out of the image iiidev/iii:{ENGINE_VERSION}, and put it on the PATH or "
                f"name it in {ENGINE}"
            )
        if path.suffix == ".mjs":
            return cls(path, "stand-in", "stand-in", _digest(path))
        return cls(path, "iii", _version_of(path), _digest(path))

    def start(self, place: Place) -> Server:
        """Start it over the state of `place`, and wait until it listens; MemorySystemError where it does not."""
        assert place.port is not None
        state = place.values["workspace"]
        env = {name: value for name, value in place.env.items() if name in {"PATH", "HOME", "TMPDIR", "LANG"}}
        if self.kind == "stand-in":
            command = ["node", str(self.path)]
            env |= {
                "NODE_PATH": str(place.prefix / "node_modules"),
                "MINI_WS_PORT": str(_beside(place.port, _ENGINE)),
                "MINI_HTTP_PORT": str(place.port),
                "MINI_STATE": f"{state}/state.json",
            }
        else:
            config = place.root / "iii-config.yaml"
            config.write_text(_engine_config(place.port, state), encoding="utf-8")
            command = [str(self.path), "--config", str(config)]
            env |= {"III_TELEMETRY_ENABLED": "false", "OTEL_ENABLED": "false"}
        program = shutil.which(command[0], path=env["PATH"])
        if program is None:
            raise MemorySystemError(f"{place.where}: {command[0]!r} is not there, expected it on the PATH")
        server = Server([program, *command[1:]], cwd=Path(state), env=env)
        try:
            server.drained()
            self._wait_until_it_listens(place, server)
        except BaseException:
            server.kill()
            raise
        return server

    def _wait_until_it_listens(self, place: Place, server: Server) -> None:
        assert place.port is not None
        deadline = time.monotonic() + place.interface.start_s
        while not (_listens(place.port) and _listens(_beside(place.port, _ENGINE))):
            if not server.running:
                server.settled()
                raise MemorySystemError(f"{place.where}: start of its engine failed: {server.why()}")
            if time.monotonic() > deadline:
                limit_s = place.interface.start_s
                raise MemorySystemError(f"{place.where}: start of its engine took more than {limit_s:g} s")
            time.sleep(_POLL_S)


@dataclass(frozen=True)
class AgentMemory(MappedSystem):
    """The worker of a version, on the engine that was found."""

    engine: Engine = field(kw_only=True)

    def identity(self) -> SystemIdentity:
        said = super().identity()
        engine = {"engine": self.engine.kind, "engine_version": self.engine.version}
        engine["engine_sha256"] = self.engine.sha256
        loud = {"warning": _STAND_IN} if self.engine.kind == "stand-in" else {}
        return said.model_copy(update={"detail": loud | said.detail | engine})

    def open(self, workspace: Path, replica: Path | None = None) -> AgentMemoryStore:
        """Start engine and worker over a home, a state, ports and a secret of their own."""
        told = self.mapped.interface
        place = Place.of(self.name, self.mapped.mapping.name, told, workspace)
        held, secret = _held_block(), secrets.token_urlsafe(24)
        port = int(held.getsockname()[1]) + _REST
        own = {
            "III_ENGINE_URL": f"ws://127.0.0.1:{_beside(port, _ENGINE)}",
            "III_STREAMS_PORT": str(_beside(port, _STREAMS)),
            "AGENTMEMORY_SECRET": secret,
        }
        headers = {"Authorization": f"Bearer {secret}"}
        interface = told.model_copy(update={"env": {**told.env, **own}, "headers": headers})
        place = replace(place, port=port, interface=interface)
        try:
            if replica is not None:
                place.copy_in(replica)
            return AgentMemoryStore(place, self.start, held, replica=replica is not None)
        except BaseException:
            held.close()
            _tidy(place)
            raise


class AgentMemoryStore(MappedStore):
    """A store in which only what was planted may be found; nothing of it is left on the disk when it is closed."""

    def __init__(self, place: Place, start: Callable[[Place], Client], held: socket.socket, *, replica: bool) -> None:
        self._held = held
        self._holds_others = replica
        super().__init__(place, start)

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        hits = super().search(query, realm, k, layer)
        self._check_known("search", hits)
        return hits

    def compact(self, query: str, realm: str, k: int) -> list[Hit]:
        hits = super().compact(query, realm, k)
        self._check_known("compact", hits)
        return hits

    def recall(self, query: str, realm: str, form: RecallForm, budget: int, layer: str | None = None) -> Recalled:
        recalled = super().recall(query, realm, form, budget, layer)
        self._check_known("recall", recalled.hits)
        return recalled

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._held.close()
            _tidy(self._place)

    def _check_known(self, verb: str, hits: Sequence[Hit]) -> None:
        """Raise MemorySystemError for an id that was never given out, but for what other writers may be writing."""
        if self._holds_others or self._writes.under_way:
            return
        if strange := [hit.id for hit in hits if not hit.source_ids and not self._planted.was_given(hit.id)]:
            raise MemorySystemError(f"{self.where}: {verb} found {strange[0]!r}, which nobody planted in this store")


class AgentMemoryClient:
    """The worker, and the engine below it; they end together."""

    def __init__(self, engine: Engine, place: Place) -> None:
        self._place = place
        self._engine = engine.start(place)
        self._worker: HttpClient | None = None
        try:
            self._worker = HttpClient(place)
            self._wait_until_it_has_its_index()
        except BaseException:
            self.stop()
            raise

    def call(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        if verb in {"get", "expand", "forget"} and str(values["id"]).startswith(_OBSERVED):
            return self._of_an_observation(verb, values)
        return _read(verb, self._asked(verb, call, values))

    def stop(self) -> None:
        """End the worker, which writes down its index, and then the engine, which writes down its state."""
        try:
            if self._worker is not None:
                self._worker.stop()
        finally:
            self._engine.stop(self._place.interface.stop_s, reads_input=False)

    def _asked(self, verb: str, call: Call, values: Mapping[str, Any]) -> Answer:
        assert self._worker is not None
        try:
            return self._worker.call(verb, call, values)
        except MemorySystemError as error:
            self._engine.settled()
            if self._engine.running:
                raise
            raise MemorySystemError(f"{error}; its engine: {self._engine.why()}") from error

    def _of_an_observation(self, verb: str, values: Mapping[str, Any]) -> Answer:
        """Ask for what was captured by the way that the system has for it: /memories/:id knows memories alone."""
        answer = self._asked(verb, _EXPAND, values)
        if answer.failed is not None:
            return answer
        if verb == "forget":
            session = answer.find("results[0].sessionId")
            return self._asked(verb, _FORGET, {**values, "session": session}) if session else answer
        return Answer(answer.text, {"memory": {"content": answer.find("results[0].observation.narrative")}})

    def _wait_until_it_has_its_index(self) -> None:
        """Wait for the port of its viewer, which it starts last: it answers before it has read its index."""
        deadline = time.monotonic() + self._place.interface.start_s
        while not _is_loaded(answer := self._asked("start", _LIVE, {})):
            if answer.failed is not None:  # it has answered before
                raise MemorySystemError(f"{self._place.where}: start failed ({answer.failed}): {answer.shown}")
            if time.monotonic() > deadline:
                limit_s = self._place.interface.start_s
                raise MemorySystemError(f"{self._place.where}: start took more than {limit_s:g} s to read its index")
            time.sleep(_POLL_S)
        if not self._engine.running:  # then it is a stranger that listens at its ports
            raise MemorySystemError(f"{self._place.where}: start of its engine failed: {self._engine.why()}")


_OBSERVED = "obs_"
_LIVE = Call(method="GET", path="/livez")
_EXPAND = Call(path="/smart-search", arguments={"expandIds": ["{id}"]})
_FORGET = Call(path="/forget", arguments={"sessionId": "{session}", "observationIds": ["{id}"]})


def _is_loaded(answer: Answer) -> bool:
    return answer.find("viewerPort") is not None or answer.find("viewerSkipped") is True


def _read(verb: str, answer: Answer) -> Answer:
    """Give every form of a recall the places of the full one, and actions the order in which they were recorded."""
    if verb == "recall":
        results, cut = answer.find("results"), 0 if answer.find("truncated") is False else None
        if isinstance(results, list):
            return replace(answer, structured={"results": [_as_full(each) for each in results], "cut": cut})
    if verb == "actions":
        listed = answer.find("actions")
        if isinstance(listed, list):
            return replace(answer, structured={"actions": listed[::-1]})
    return answer


def _as_full(result: Any) -> Any:
    if not isinstance(result, dict) or "observation" in result:
        return result
    content = result.get("narrative", result.get("title"))
    return {**result, "observation": {"id": result.get("obsId"), "narrative": content}}


def _engine_config(port: int, state: str) -> str:
    """Return what the worker needs of the engine, at the ports from `port` on; JSON is YAML."""

    def kept(name: str) -> dict[str, Any]:
        return {"name": "kv", "config": {"store_method": "file_based", "file_path": f"{state}/{name}"}}

    here = {"host": "127.0.0.1"}
    workers = {
        "iii-worker-manager": {**here, "port": _beside(port, _ENGINE)},
        "iii-http": {**here, "port": port, "default_timeout": 180_000},
        "iii-state": {"adapter": kept("state_store.db")},
        "iii-queue": {"adapter": {"name": "builtin"}},
        "iii-pubsub": {"adapter": {"name": "local"}},
        "iii-cron": {"adapter": {"name": "kv"}},
        "iii-stream": {**here, "port": _beside(port, _STREAMS), "adapter": kept("stream_store")},
    }
    return json.dumps({"workers": [{"name": name, "config": config} for name, config in workers.items()]}, indent=1)


def _tidy(place: Place) -> None:
    """Remove what the store wrote, or put it where the caller's workspace does not take it away, and say where."""
    if not place.root.is_dir():
        return
    if os.environ.get(KEEP) == "1":
        kept = Path(tempfile.mkdtemp(prefix=f"smriti-kept-{_NAME}-"))
        shutil.move(place.root, kept)
        sys.stderr.write(f"smriti: {place.where}: kept in {kept}\n")
    else:
        shutil.rmtree(place.root, ignore_errors=True)


def _usual_places() -> list[Path]:
    """Return where the engine may be: beside the worker, on the PATH, and where its own installers put it."""
    on_path = shutil.which("iii")
    by_installers = (Path.home() / ".agentmemory/bin", Path.home() / ".local/bin", Path("/usr/local/bin"))
    beside = [prefix(_NAME) / "bin" / "iii", *([Path(on_path)] if on_path else [])]
    return beside + [folder / "iii" for folder in by_installers]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _version_of(program: Path) -> str:
    """Ask the engine for its version, with a home that is not the user's."""
    with tempfile.TemporaryDirectory(prefix="smriti-iii-") as home:
        env = {"PATH": os.defpath, "HOME": home}
        try:
            done = run([str(program), "--version"], cwd=Path(home), env=env, timeout_s=_VERSION_S)
        except OSError as error:
            said = f"the engine {str(program)!r} cannot be started: {error.strerror}; expected iii"
            raise UsageError(said) from error
    said = done.stdout.decode(errors="replace")
    found = re.search(r"\d+\.\d+\.\d+[-+.\w]*", said)
    if found is None:
        raise UsageError(f"the engine {str(program)!r} says {said.strip()!r:.100} to --version, expected a version")
    return found[0]


def _worker() -> Path:
    return prefix(_NAME) / _PACKAGE / "dist" / "index.mjs"


def _installed() -> str | None:
    """Return the version of the worker that is installed; None where none is."""
    try:
        said = json.loads((prefix(_NAME) / _PACKAGE / "package.json").read_text(encoding="utf-8"))
        return str(said["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _held_block() -> socket.socket:
    """Bind the first of a block of free ports of the loopback, so that no other store takes any of them."""
    blocks = list(_PORTS[::_BLOCK])
    random.SystemRandom().shuffle(blocks)
    for first in blocks:
        with ExitStack() as stack, suppress(OSError):
            held = stack.enter_context(_bound(first))
            for part in (_REST, _STREAMS, _VIEWER, _ENGINE):
                stack.enter_context(_bound(first + part)).close()
            stack.pop_all()
            return held
    raise MemorySystemError(f"{_NAME}: no {_BLOCK} ports in a row are free in {_PORTS.start} to {_PORTS.stop - 1}")


def _beside(rest: int, part: int) -> int:
    """Return another port of the block of a REST port."""
    return rest - _REST + part


def _bound(port: int) -> socket.socket:
    probe = socket.socket()
    try:
        probe.bind(("127.0.0.1", port))
    except BaseException:
        probe.close()
        raise
    return probe


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
