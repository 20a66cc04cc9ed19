"""The agent that knows the answer: the upper bound of any agent, and a check on the harness."""

from __future__ import annotations

import time

from smriti.errors import UsageError
from smriti.protocols import AgentJob
from smriti.sandbox.filetree import lay
from smriti.types import AgentRun, SystemIdentity, Usage


def create(argument: str | None) -> Oracle:
    """Make the agent; UsageError on any argument."""
    if argument is not None:
        raise UsageError(f"agent 'oracle' was given the argument {argument!r}, expected none: write oracle")
    return Oracle()


class Oracle:
    """Lays the task's solution over the repository, in process, without looking at anything else."""

    name = "oracle"
    version = "1"
    scripted = True
    channels = frozenset({"env", "files", "prefix", "hooks", "mcp"})
    """It takes whatever it is given, and ignores it."""

    def identity(self) -> SystemIdentity:
        """Name the agent and its version."""
        return SystemIdentity(name=self.name, version=self.version)

    def run(self, job: AgentJob) -> AgentRun:
        """Lay the solution down."""
        started = time.monotonic()
        lay(job.task.solution, job.cage.workdir)
        return AgentRun(
            transcript=b"",
            said="",
            usage=Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, source="agent"),
            seconds=time.monotonic() - started,
            turns=0,
            exit_status=0,
            session_id=job.session_id,
        )
