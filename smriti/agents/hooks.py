"""Run a hook from the harness's side, for agents that have none of their own: its text then goes before the prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smriti.agents._ended import last_line
from smriti.errors import MemorySystemError
from smriti.protocols import Cage
from smriti.types import Completed, Hook


def run_hook(hook: Hook, cage: Cage, session_id: str, prompt: str, env: Mapping[str, str]) -> str:
    """Run `hook` with `env` added to the cage's own, and return the context it adds, whole; "" when it adds nothing.

    Raises MemorySystemError when it cannot be started, ends with a status other than 0, hits its time limit, or answers
    with something else than the protocol's.
    """
    about = {"prompt": prompt} if hook.event == "UserPromptSubmit" else {"source": "startup"}
    given = {"session_id": session_id, "cwd": str(cage.workdir), "hook_event_name": hook.event, **about}
    try:
        ended = cage.run(hook.command, timeout_s=hook.timeout_s, stdin=json.dumps(given).encode(), env=env)
    except (FileNotFoundError, PermissionError) as error:
        raise _error(hook, f"could not be started: {error}") from error
    if ended.timed_out:
        raise _error(hook, f"was not done within {hook.timeout_s:g} s")
    if ended.exit_status != 0:
        stderr = last_line(ended.stderr) or "nothing on stderr"
        raise _error(hook, f"ended with exit status {ended.exit_status}: {stderr}")
    return _added(hook, ended)


def _added(hook: Hook, ended: Completed) -> str:
    if not ended.stdout.strip():
        return ""
    try:
        answer = json.loads(ended.stdout)
    except (ValueError, RecursionError) as error:
        raise _error(hook, f"printed {last_line(ended.stdout)!r}, expected a JSON object or nothing") from error
    output = answer.get("hookSpecificOutput", {}) if isinstance(answer, dict) else None
    added = output.get("additionalContext", "") if isinstance(output, dict) else None
    if not isinstance(added, str):
        found = last_line(ended.stdout)
        raise _error(hook, f"printed {found!r}, expected an object with hookSpecificOutput.additionalContext, a string")
    return added


def _error(hook: Hook, what: str) -> MemorySystemError:
    return MemorySystemError(f"{hook.event} hook {hook.command[0]!r} {what}")
