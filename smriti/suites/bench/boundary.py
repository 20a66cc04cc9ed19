"""Where the code of systems and agents under test is called: what it raises or returns wrongly is its own fault."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from smriti.errors import AgentError, MemorySystemError
from smriti.protocols import Agent, AgentJob, MemorySystem, Store
from smriti.suites.bench.attachment import shape_problem
from smriti.suites.text import is_text
from smriti.types import VERDICTS, AgentRun, Attachment, Condition, Fault, Hit, Memory, Usage

_NO_FAULTS = VERDICTS | {"skipped"}


def open_store(system: MemorySystem, workspace: Path) -> Store:
    """Open a store of `system` in `workspace`, behind the boundary."""
    with _memory_call(system.name, "open"):
        return GuardedStore(system.name, system.open(workspace))


class GuardedStore:
    """A store behind the boundary: every method raises MemorySystemError or OSError, and returns what it promises."""

    def __init__(self, system: str, inner: Store) -> None:
        self._system = system
        self._inner = inner

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        with _memory_call(self._system, "remember"):
            return self._ids("remember", self._inner.remember(memories, realm))

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        with _memory_call(self._system, "search"):
            return self._inner.search(query, realm, k, layer)

    def forget(self, ids: Sequence[str]) -> None:
        with _memory_call(self._system, "forget"):
            self._inner.forget(ids)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        with _memory_call(self._system, "attach"):
            attachment = self._inner.attach(realm, condition)
            if problem := shape_problem(attachment):
                raise self._wrong("attach", problem)
            return attachment

    def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
        with _memory_call(self._system, "injected"):
            ids = self._inner.injected(session_id, window)
            return None if ids is None else self._ids("injected", ids)

    def restart(self) -> None:
        with _memory_call(self._system, "restart"):
            self._inner.restart()

    def close(self) -> None:
        with _memory_call(self._system, "close"):
            self._inner.close()

    def _ids(self, method: str, ids: object) -> list[str]:
        if not isinstance(ids, list) or not all(map(is_text, ids)):
            raise self._wrong(method, f"it gave {ids!r:.200}, expected a list of ids, each a string of Unicode text")
        return ids

    def _wrong(self, method: str, problem: str) -> MemorySystemError:
        return MemorySystemError(f"memory system {self._system!r}, {method}: {problem}")


def run_agent(agent: Agent, job: AgentJob) -> AgentRun:
    """Run `agent` behind the boundary: what goes wrong in it is an AgentError, a MemorySystemError or an OSError."""
    try:
        run = agent.run(job)
    except (AgentError, MemorySystemError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise AgentError(f"agent {agent.name!r}, run: {_told(error)}") from error
    if problem := _run_problem(run):
        raise AgentError(f"agent {agent.name!r}, run: {problem}")
    return run


@contextlib.contextmanager
def _memory_call(system: str, method: str) -> Iterator[None]:
    """Turn whatever comes out of a memory system's method into a MemorySystemError; OSError is the machine's."""
    try:
        yield
    except (MemorySystemError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise MemorySystemError(f"memory system {system!r}, {method}: {_told(error)}") from error


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _run_problem(run: object) -> str | None:
    """Say what of an agent's run no evidence can hold; None where all is well."""
    if not isinstance(run, AgentRun):
        return f"it gave {run!r:.200}, expected an AgentRun"
    fields = (
        ("transcript", isinstance(run.transcript, bytes)),
        ("said", isinstance(run.said, str)),
        ("usage", isinstance(run.usage, Usage)),
        ("turns", run.turns is None or isinstance(run.turns, int)),
        ("exit_status", run.exit_status is None or isinstance(run.exit_status, int)),
        ("session_id", run.session_id is None or is_text(run.session_id)),
        ("fault", run.fault is None or (isinstance(run.fault, Fault) and run.fault.status not in _NO_FAULTS)),
    )
    wrong = [f"{name} is {getattr(run, name)!r:.200}" for name, right in fields if not right]
    return f"it gave an AgentRun that does not hold what it promises: {', '.join(wrong)}" if wrong else None
