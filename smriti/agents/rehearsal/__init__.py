"""The rehearsal agent: agent.py, a scripted agent in a real subprocess, handed all that it knows on stdin."""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from smriti.agents import _ended
from smriti.errors import UsageError
from smriti.protocols import AgentJob
from smriti.types import OWN_REALM, AgentRun, Attachment, Completed, Fault, File, SystemIdentity, TaskFolder, Usage

SCRIPT = Path(__file__).with_name("agent.py")
CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
MAX_TRANSCRIPT_BYTES = 20_000_000


def create(argument: str | None) -> Rehearsal:
    """Make the agent that `rehearsal` or `rehearsal:flake=0.2` names; UsageError on any other argument."""
    if argument is None:
        return Rehearsal()
    key, _, value = argument.partition("=")
    try:
        flake = float(value) if key == "flake" else math.nan
    except ValueError:
        flake = math.nan
    if not 0 <= flake <= 1:
        raise UsageError(
            f"agent 'rehearsal': its argument is {argument!r}, expected flake=P with a probability P from 0 to 1; "
            "write rehearsal:flake=0.2, or rehearsal alone for an agent that never slips"
        )
    return Rehearsal(flake)


@dataclass(frozen=True)
class Rehearsal:
    """Acts on a needed memory that reached its context, explores where that helps, else does the naive thing."""

    flake: float = 0.0
    """Probability that it makes the wrong edit where it would have made the right one."""
    script: Path = SCRIPT

    name = "rehearsal"
    version = "1"
    """Raised by any change of the script that could move a result."""
    scripted = True
    channels = frozenset({"env", "files", "prefix", "hooks"})

    def identity(self) -> SystemIdentity:
        """Name the agent, its version and how often it slips."""
        return SystemIdentity(name=self.name, version=self.version, detail={"flake": self.flake})

    def run(self, job: AgentJob) -> AgentRun:
        """Run the script in the cage and read its transcript; AgentError when it cannot be started."""
        ended = _ended.run(
            self.name,
            job.cage,
            [sys.executable, "-I", "-S", str(self.script)],
            timeout_s=job.timeout_s,
            stdin=json.dumps(_handed(job, self.flake)).encode(),
            env=job.attachment.env,
            max_output_bytes=MAX_TRANSCRIPT_BYTES,
        )
        return _read(job, ended)


def _handed(job: AgentJob, flake: float) -> dict[str, Any]:
    needed, misleading = _memories(job.task)
    return {
        "prompt": _ended.whole_prompt(job),
        "session_id": job.session_id,
        "seed": job.seed,
        "flake": flake,
        "max_tokens": job.max_tokens,
        "hooks": _hooks(job.attachment),
        "context_files": CONTEXT_FILES,
        "deducible": job.task.task.deducible,
        "needed": needed,
        "misleading": misleading,
        "solution": {path: _file(file) for path, file in job.task.solution.items()},
        "naive": {path: _file(file) for path, file in job.task.naive.items()},
    }


def _memories(task: TaskFolder) -> tuple[list[str], list[str]]:
    """Return the texts that the right change needs and those that mislead, as any memory of another realm does."""
    needed, misleading = [], []
    for memory in task.task.planted_memories:
        if memory.realm != OWN_REALM or memory.role in ("stale", "poison"):
            misleading.append(memory.content)
        elif memory.role in ("convention", "correction"):
            needed.append(memory.content)
    return needed, misleading


def _hooks(attachment: Attachment) -> list[dict[str, Any]]:
    return [{"event": hook.event, "command": hook.command, "timeout_s": hook.timeout_s} for hook in attachment.hooks]


def _file(file: File) -> dict[str, Any]:
    try:
        content, encoding = file.content.decode(), "text"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(file.content).decode(), "base64"
    return {"content": content, "encoding": encoding, "executable": file.executable}


class _Result(BaseModel):
    """The transcript's last line."""

    type: Literal["result"]
    usage: Usage
    num_turns: int
    session_id: str
    result: str
    stopped: Literal["max_tokens"] | None


def _read(job: AgentJob, ended: Completed) -> AgentRun:
    """Read the transcript of a run that has ended in whatever way; what was never reported is unknown."""
    events = list(_events(ended.stdout))
    result, problem = _result(events)
    said = [
        event["text"] for event in events if event.get("type") == "assistant" and isinstance(event.get("text"), str)
    ]
    fault = _ended.fault(ended, job.timeout_s)
    if fault is None and problem is not None:
        fault = _ended.agent_error(f"exit status 0, but {problem}{_ended.cut_note(ended, MAX_TRANSCRIPT_BYTES)}")
    if fault is None and result is not None and result.stopped:
        message = f"it stopped after {result.num_turns} turns: the next one would have gone over its token limit"
        fault = Fault(status="token_limit", phase="agent", message=message)
    if fault is None and (failure := _hooks_failure(job.attachment, events)):
        fault = Fault(status="memory_error", phase="agent", message=failure)
    return AgentRun(
        transcript=ended.stdout,
        said="\n".join([*said, result.result] if result else said),
        usage=result.usage.model_copy(update={"source": "agent"}) if result else Usage(),
        seconds=ended.seconds,
        turns=result.num_turns if result else None,
        exit_status=ended.exit_status,
        session_id=result.session_id if result else None,
        fault=fault,
    )


def _hooks_failure(attachment: Attachment, events: Iterable[dict[str, Any]]) -> str | None:
    """Say what went wrong where every hook that was to bring memory to the prompt failed; None where one did not."""
    configured = [hook for hook in attachment.hooks if hook.event == "UserPromptSubmit"]
    ran = [event for event in events if event.get("type") == "hook" and event.get("event") == "UserPromptSubmit"]
    if not ran or any(event.get("problem") is None for event in ran):
        return None
    told = [
        ": ".join(filter(None, (repr(hook.command[0]), event["problem"], str(event.get("stderr", "")).strip())))
        for hook, event in zip(configured, ran, strict=False)
    ]
    return f"every UserPromptSubmit hook failed, and no memory came: {' '.join('; '.join(told).split())}"


def _events(transcript: bytes) -> Iterable[dict[str, Any]]:
    for line in transcript.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _result(events: list[dict[str, Any]]) -> tuple[_Result | None, str | None]:
    """Return the last result and what is wrong with it; one of the two is None."""
    found = [event for event in events if event.get("type") == "result"]
    if not found:
        return None, "its transcript has no result line"
    try:
        return _Result.model_validate(found[-1]), None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return None, f"its result line cannot be used: {where}: {first['msg']}"
