"""Bring what a condition gives to the agent, in a form that this agent can take."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from smriti.errors import MemorySystemError
from smriti.protocols import Agent, Cage, HookRunner, MemorySystem, Store
from smriti.suites.bench.attachment import refuse_delivery, refuse_sabotage
from smriti.suites.bench.boundary import open_store
from smriti.suites.bench.placebo import placebo_notes
from smriti.suites.text import is_text
from smriti.types import OWN_REALM, Attachment, Condition, File, FileTree, Hook, Memory, TaskFolder

_HEADING = "Notes from earlier work on this project:"
_PROBE_REALM = "project:smriti-probe"
_PROBE = Memory(content="The probe was here.", type="wisdom", role="convention", source_id="probe")


@dataclass(frozen=True)
class Delivery:
    """An attachment as the agent gets it, and the word for how."""

    attachment: Attachment
    channel: str
    """none, hooks, prompt (the hooks' text put before the prompt), mcp, files or prefix."""


def probe_delivery(memory: MemorySystem, agent: Agent, workspace: Path) -> str:
    """Say how `memory` would reach `agent` under on, in the words of `Delivery.channel`.

    A store is opened in `workspace`, one memory is planted, attached and forgotten, and the store is closed.
    MemorySystemError, before anything is run, where it cannot be opened, attached or closed.
    """
    workspace.mkdir(parents=True)
    try:
        with contextlib.closing(open_store(memory, workspace)) as store, _planted_probe(store):
            return _channel(store.attach(_PROBE_REALM, Condition("on")), agent)
    except (MemorySystemError, OSError) as error:
        raise MemorySystemError(
            f"memory system {memory.name!r} cannot be opened and attached, and nothing was run: {error}"
        ) from error


def deliver(
    attachment: Attachment,
    *,
    condition: Condition,
    task: TaskFolder,
    agent: Agent,
    cage: Cage,
    run_hook: HookRunner,
    session_id: str,
    seed: str,
) -> Delivery:
    """Fit what a store attached to what the agent takes, and lay its files.

    MemorySystemError where the agent does not take it, where it would be sabotage, and where the condition says that
    nothing may arrive.
    """
    refuse_delivery(attachment, condition)
    refuse_sabotage(attachment, task, cage)
    if condition.kind in {"handed", "placebo"}:
        attachment = dataclasses.replace(attachment, prefix=_in_prompt(condition, task, seed))
    channel = _channel(attachment, agent)
    if channel == "prompt":
        texts = [
            _hook_text(hook, run_hook(hook, cage, session_id, task.task.prompt, attachment.env))
            for hook in attachment.hooks
        ]
        prefix = "\n\n".join(filter(None, [attachment.prefix, *texts]))
        attachment = dataclasses.replace(attachment, hooks=(), prefix=prefix)
        refuse_delivery(attachment, condition)
    _refuse_unless_taken(agent, attachment)
    for name, text in attachment.files.items():
        _append(cage.workdir / name, text)
    return Delivery(attachment, channel)


def without_laid_files(worked: FileTree, attachment: Attachment, fixture: FileTree) -> FileTree:
    """Take back out of the agent's tree what `deliver` laid there, unless the agent changed it."""
    tree = dict(worked)
    for name, text in attachment.files.items():
        before = fixture.get(name)
        laid = File((before.content if before else b"") + text.encode(), before.executable if before else False)
        if tree.get(name) == laid:
            del tree[name]
            if before is not None:
                tree[name] = before
    return tree


def _in_prompt(condition: Condition, task: TaskFolder, seed: str) -> str:
    own = [memory.content for memory in task.task.planted_memories if memory.realm == OWN_REALM]
    if condition.kind == "placebo":
        notes = placebo_notes(sum(len(content.split()) for content in own), seed)
    else:
        notes = own[::-1]  # newest first, as people keep such notes
    return "\n".join([_HEADING, *(f"- {note}" for note in notes)])


@contextlib.contextmanager
def _planted_probe(store: Store) -> Iterator[None]:
    """Hold one memory in the store, if it takes one: some systems attach nothing of an empty realm.

    A system that cannot plant or forget is not refused here; its trials say so, each for itself.
    """
    ids: list[str] = []
    with contextlib.suppress(MemorySystemError):
        ids = store.remember([_PROBE], _PROBE_REALM)
    yield
    with contextlib.suppress(MemorySystemError):
        store.forget(ids)


def _channel(attachment: Attachment, agent: Agent) -> str:
    if attachment.hooks:
        return "hooks" if "hooks" in agent.channels else "prompt"
    if attachment.mcp_servers:
        return "mcp"
    if attachment.files:
        return "files"
    return "prefix" if attachment.prefix else "none"


def _hook_text(hook: Hook, text: str) -> str:
    if not is_text(text):
        raise MemorySystemError(f"{hook.event} hook {hook.command[0]!r} added what is no Unicode text: {text!r:.200}")
    return text


def _refuse_unless_taken(agent: Agent, attachment: Attachment) -> None:
    wanted = {
        "files": attachment.files,
        "prefix": attachment.prefix,
        "mcp": attachment.mcp_servers,
        "env": attachment.env,
    }
    missing = [channel for channel, content in wanted.items() if content and channel not in agent.channels]
    if missing:
        raise MemorySystemError(f"agent {agent.name!r} cannot take a memory system's {', '.join(missing)}")


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(text.encode())
