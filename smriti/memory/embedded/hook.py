"""The agent hook: reads a prompt from stdin, prints the memories that belong to it, and never breaks the agent.

Environment, all optional:

| variable | meaning |
|---|---|
| SMRITI_MEM_HOME | directory of the store; by default $XDG_DATA_HOME/smriti-mem |
| SMRITI_MEM_REALM | the realm, verbatim; by default `project:<name of the folder that cwd names>` |
| SMRITI_MEM_ABLATE_LANES | comma list of lanes that are not asked; a name that is no lane stops the injection |
| SMRITI_MEM_HEADLESS | anything but empty or 0: nothing is read but stdin, and nothing is printed |

On stdin one JSON object with session_id, cwd and prompt, on stdout one with hookSpecificOutput.additionalContext, or
nothing. What goes wrong is one line on stderr, and the exit status is 0 all the same. A memory is noted in the ledger
only after it was printed. Nothing heavy may be imported here: every prompt pays for it.
"""

# ruff: noqa: PTH109, PTH112
# PTH: pathlib costs 10 ms, which every prompt would pay.

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from smriti.errors import MemorySystemError, UsageError
from smriti.memory.embedded import ledger
from smriti.memory.embedded.lanes import LANES, Question, Recalled, recall
from smriti.memory.embedded.store import MemoryFile, home_of, realm_of

EVENT: Final = "UserPromptSubmit"
MAX_MEMORIES = 8
MAX_CHARACTERS = 8_000
"""Of context; agents show the model only a preview of a hook's output above 10,000."""

_HEADING = "Memories of this project that may bear on the prompt, best first:"
_OTHER_HEADING = "Memories of other projects, which may not hold here:"
_LOCK_TIMEOUT_S = 1.0


class Prompt(NamedTuple):
    """What the agent told the hook."""

    session_id: str
    text: str
    folder: str


class Injection(NamedTuple):
    """The context to print, and for the ledger each id that it holds, in order, with the lanes that returned it."""

    context: str
    lanes: dict[str, tuple[str, ...]]


def main() -> int:
    """Answer one hook call on stdin; always 0."""
    try:
        received = sys.stdin.buffer.read()
        if os.environ.get("SMRITI_MEM_HEADLESS", "") in ("", "0"):
            _answer(received, os.environ)
    except Exception as error:  # noqa: BLE001  # whatever it was, the agent must go on as if there were no memory
        complaint = " ".join(str(error).split())
        print(f"smriti-mem hook: {type(error).__name__}: {complaint}", file=sys.stderr)  # noqa: T201
    return 0


def _answer(received: bytes, environ: Mapping[str, str]) -> None:
    prompt = read_prompt(received)
    home = home_of(environ)
    try:
        injection = inject(prompt, home, environ)
    except UsageError as error:
        if os.path.isdir(home):
            ledger.append_refused(home, prompt.session_id, str(error))
        raise
    if injection is not None:
        _print(injection.context)
        _note(home, prompt, injection)


def read_prompt(received: bytes) -> Prompt:
    """Read a hook call; UsageError for anything that is not one.

    A call without a session id is none either: what was injected into it could not be told later.
    """
    try:
        call = json.loads(received)
    except ValueError as error:
        raise UsageError(f"stdin holds {received[:80]!r}, expected a JSON object ({error})") from error
    if not isinstance(call, dict):
        raise UsageError(f"stdin holds a JSON {type(call).__name__}, expected an object")
    event, session_id, text, folder = (call.get(key) for key in ("hook_event_name", "session_id", "prompt", "cwd"))
    if event not in (None, EVENT):
        raise UsageError(f"hook_event_name is {event!r}, expected {EVENT}")
    if not isinstance(session_id, str) or not session_id or not isinstance(text, str):
        raise UsageError(
            f"expected session_id and prompt as texts on stdin; found {session_id!r} and {type(text).__name__}"
        )
    return Prompt(session_id, text, folder if isinstance(folder, str) and folder else os.getcwd())


def inject(prompt: Prompt, home: str, environ: Mapping[str, str]) -> Injection | None:
    """Return what to inject, or None; which lanes are ablated is settled before the store is even opened."""
    ablated = ablated_lanes(environ)
    if ablated == frozenset(LANES):
        return None
    realm = realm_of(environ, prompt.folder)
    with closing(MemoryFile.open(home, create=False, timeout_s=_LOCK_TIMEOUT_S)) as memories:
        recalled = recall(Question(memories, prompt.text, realm, MAX_MEMORIES, ablated))
    return compose(recalled, realm)


def ablated_lanes(environ: Mapping[str, str]) -> frozenset[str]:
    """Read SMRITI_MEM_ABLATE_LANES; UsageError for a name that is no lane: what was meant would not be ablated."""
    named = [name.strip() for name in environ.get("SMRITI_MEM_ABLATE_LANES", "").split(",")]
    unknown = [name for name in named if name and name not in LANES]
    if unknown:
        raise UsageError(
            f"SMRITI_MEM_ABLATE_LANES names {', '.join(map(repr, unknown))}; the lanes are {', '.join(LANES)}"
        )
    return frozenset(name for name in named if name)


def compose(recalled: Sequence[Recalled], realm: str) -> Injection | None:
    """Write the context: a heading, then a memory a paragraph as `[type id] content`; what does not fit is left out."""
    context = _HEADING
    lanes: dict[str, tuple[str, ...]] = {}
    elsewhere = False
    for memory, _, found_by in recalled:
        paragraph = f"\n\n[{memory.type} {memory.id}] {memory.content}"
        foreign = memory.realm not in (realm, "")
        if foreign and not elsewhere:
            paragraph = f"\n\n{_OTHER_HEADING}{paragraph}"
        if len(context) + len(paragraph) <= MAX_CHARACTERS:
            context += paragraph
            lanes[memory.id] = found_by
            elsewhere = elsewhere or foreign
    return Injection(context, lanes) if lanes else None


def _print(context: str) -> None:
    """Print past Python's own buffer, so that a reader who has gone is an error here and not at exit."""
    left = json.dumps({"hookSpecificOutput": {"hookEventName": EVENT, "additionalContext": context}}).encode() + b"\n"
    while left:
        left = left[os.write(1, left) :]


def _note(home: str, prompt: Prompt, injection: Injection) -> None:
    try:
        ledger.append_injected(home, prompt.session_id, injection.lanes)
    except OSError as error:
        raise MemorySystemError(f"what was printed could not be noted in the ledger: {error}") from error
