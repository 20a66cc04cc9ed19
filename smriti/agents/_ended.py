"""What agents that run a command share: the prompt as handed over, the start, and how it ended, told in one line."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence

from smriti.errors import AgentError
from smriti.protocols import AgentJob, Cage
from smriti.types import Completed, Fault

_MESSAGE_CHARACTERS = 300
_CANNOT_START = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.E2BIG})
"""What is wrong with the command itself; any other error is the machine's and is let through."""


def whole_prompt(job: AgentJob) -> str:
    """Return the prompt with the attachment's prefix, if any, as a paragraph before it."""
    return f"{job.attachment.prefix}\n\n{job.prompt}" if job.attachment.prefix else job.prompt


def run(
    name: str,
    cage: Cage,
    command: Sequence[str],
    *,
    timeout_s: float,
    stdin: bytes = b"",
    env: Mapping[str, str],
    max_output_bytes: int,
) -> Completed:
    """Run the command of agent `name` in the cage; AgentError when it cannot be started."""
    try:
        return cage.run(command, timeout_s=timeout_s, stdin=stdin, env=env, max_output_bytes=max_output_bytes)
    except OSError as error:
        if error.errno not in _CANNOT_START and not isinstance(error, FileNotFoundError):
            raise
        raise AgentError(
            f"agent {name!r}: {command[0]!r} could not be started: {error}; expected a command that is installed, may "
            "be executed and is on the cage's PATH: install it, give its absolute path, or pass long text in a file"
        ) from error


def fault(ended: Completed, timeout_s: float) -> Fault | None:
    """Return the fault of a command that hit its time limit or ended with a status other than 0."""
    if ended.timed_out:
        return Fault(status="agent_timeout", phase="agent", message=f"it was not done within {timeout_s:g} s")
    if ended.exit_status != 0:
        return agent_error(f"exit status {ended.exit_status}: {last_line(ended.stderr) or 'nothing on stderr'}")
    return None


def agent_error(message: str) -> Fault:
    return Fault(status="agent_error", phase="agent", message=message)


def last_line(stream: bytes) -> str:
    """Return the last line that is not blank, cut to what fits a message; empty where there is none."""
    lines = stream.decode(errors="replace").strip().splitlines()
    return lines[-1].strip()[:_MESSAGE_CHARACTERS] if lines else ""


def cut_note(ended: Completed, max_output_bytes: int) -> str:
    return f" (its output was over {max_output_bytes} bytes and was cut)" if ended.truncated else ""
