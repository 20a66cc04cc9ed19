"""The agent that does nothing: what a trial costs without one."""

from __future__ import annotations

from smriti.errors import UsageError
from smriti.protocols import AgentJob
from smriti.types import AgentRun, SystemIdentity, Usage


def create(argument: str | None) -> Nop:
    """Make the agent; UsageError on any argument."""
    if argument is not None:
        raise UsageError(f"agent 'nop' was given the argument {argument!r}, expected none: write nop")
    return Nop()


class Nop:
    """Leaves the repository as it is, in process, and truly uses no token."""

    name = "nop"
    version = "1"
    scripted = True
    channels = frozenset({"env", "files", "prefix", "hooks", "mcp"})
    """It takes whatever it is given, and ignores it."""

    def identity(self) -> SystemIdentity:
        """Name the agent and its version."""
        return SystemIdentity(name=self.name, version=self.version)

    def run(self, job: AgentJob) -> AgentRun:
        """Do nothing, and report that."""
        return AgentRun(
            transcript=b"",
            said="",
            usage=Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, source="agent"),
            seconds=0.0,
            turns=0,
            exit_status=0,
            session_id=job.session_id,
        )
