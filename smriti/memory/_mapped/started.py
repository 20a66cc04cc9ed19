"""Start a mapped system's server and wait until it serves."""

from __future__ import annotations

import re
import threading
import time

from smriti.errors import MemorySystemError
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.server import Server

_POLL_S = 0.05
_ANSWER_S = 5.0


class Started:
    """A server that runs, or one that is run by someone else, and its address."""

    def __init__(self, place: Place, *, speaks_on_stdio: bool) -> None:
        self._place = place
        self._speaks_on_stdio = speaks_on_stdio
        self._printed = threading.Condition()
        self._address: str | None = None
        self.server: Server | None = None
        self.url: str = filled(place.interface.url or "", place.values)
        if not place.interface.command:
            return
        self.server = Server(place.command(), cwd=place.cwd, env=place.env)
        if speaks_on_stdio:
            return
        try:
            self.server.drained(self._seen)
            self._wait_until_ready()
        except BaseException:
            self.server.kill()
            raise

    def why(self) -> str:
        """Say how the server stands."""
        return "the server is not ours" if self.server is None else self.server.why()

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop(self._place.interface.stop_s, reads_input=self._speaks_on_stdio)

    def _seen(self, line: str) -> None:
        ready = self._place.interface.ready
        if ready is None or ready.line is None or (found := re.search(ready.line, line)) is None:
            return
        with self._printed:
            self._address = found[1] if found.re.groups else ""
            self._printed.notify_all()

    def _wait_until_ready(self) -> None:
        ready = self._place.interface.ready
        deadline = time.monotonic() + self._place.interface.start_s
        if ready is not None and ready.line is not None:
            while self._address is None:
                self._check(deadline)
                with self._printed:
                    self._printed.wait(_POLL_S)
            self.url = self._address or self.url
        if ready is None or ready.path is not None or ready.line is None:
            path = (ready.path or "") if ready is not None else ""
            while not self._answers(path):
                self._check(deadline)
                time.sleep(_POLL_S)
            self._check(deadline)

    def _answers(self, path: str) -> bool:
        import httpx  # noqa: PLC0415

        try:
            answer = httpx.get(f"{self.url}{path}", timeout=_ANSWER_S, trust_env=False)
        except httpx.HTTPError:
            return False
        return path == "" or answer.is_success

    def _check(self, deadline: float) -> None:
        """Raise MemorySystemError where the server is dead, or the time is over."""
        assert self.server is not None
        where = self._place.where
        if not self.server.running:
            raise MemorySystemError(f"{where}: start failed: {self.server.why()}")
        if time.monotonic() > deadline:
            limit_s = self._place.interface.start_s
            raise MemorySystemError(f"{where}: start took more than {limit_s:g} s: {self.server.why()}")
