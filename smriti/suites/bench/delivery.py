"""Bring what a condition gives to the agent, in a form that this agent can take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from smriti.errors import MemorySystemError
from smriti.protocols import Agent, Cage, HookRunner
from smriti.suites.bench.placebo import placebo_notes
from smriti.types import OWN_REALM, Attachment, Condition, File, FileTree, TaskFolder

_HEADING = "Notes from earlier work on this project:"


@dataclass(frozen=True)
class Delivery:
    """An attachment as the agent gets it, and the word for how."""

    attachment: Attachment
    channel: str
    """none, hooks, prompt (the hooks' text put before the prompt), files or prefix."""


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
    """Fit what a store attached to what the agent takes, and lay its files; MemorySystemError where it takes it not."""
    if condition.kind in {"handed", "placebo"}:
        attachment = dataclasses.replace(attachment, prefix=_in_prompt(condition, task, seed))
    channel = _channel(attachment)
    if channel == "hooks" and "hooks" not in agent.channels:
        texts = [run_hook(hook, cage, session_id, task.task.prompt, attachment.env) for hook in attachment.hooks]
        attachment = dataclasses.replace(attachment, hooks=(), prefix="\n\n".join(filter(None, texts)))
        channel = "prompt"
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


def _channel(attachment: Attachment) -> str:
    if attachment.hooks:
        return "hooks"
    if attachment.files:
        return "files"
    return "prefix" if attachment.prefix else "none"


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
