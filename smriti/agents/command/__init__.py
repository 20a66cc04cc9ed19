"""Any agent as a command: `command:FILE.toml` says how it is run and where its result stands."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from smriti.agents import _ended
from smriti.agents.command import result, template
from smriti.errors import UsageError
from smriti.protocols import AgentJob
from smriti.types import AgentRun, Completed, Hook, SystemIdentity, Usage

ARGUMENT = "a TOML file that describes the agent, as command:FILE.toml; smriti/agents/README.md shows one"
MAX_TRANSCRIPT_BYTES = 250_000_000
"""More than this of what an agent prints is thrown away, and with it the last line, which may be the result."""
_SECRET_CHARACTERS = 8
"""A passed value shorter than this is no secret, and replacing it would spoil a transcript."""


def create(argument: str | None) -> Command:
    """Make the agent that the TOML file `argument` describes; UsageError when the file cannot be used as it is."""
    file, content = _file(argument)
    return Command(template.read(file, content), sha256(content).hexdigest())


def sources(argument: str | None) -> dict[str, str]:
    """Return label → sha256 of the TOML file, and of each word of its command that is the path of a regular file."""
    file, content = _file(argument)
    found = {Path(file).name: sha256(content).hexdigest()}
    for number, word in enumerate(template.read(file, content).command):
        path = Path(word)
        if path.is_absolute() and path.is_file():  # a relative one is the repository's, where the command runs
            with path.open("rb") as opened:
                found[f"command[{number}] {path.name}"] = file_digest(opened, "sha256").hexdigest()
    return found


def _file(argument: str | None) -> tuple[str, bytes]:
    if not argument:
        raise UsageError("agent 'command' was given no file, expected one that describes it: write command:FILE.toml")
    try:
        return argument, Path(argument).read_bytes()
    except OSError as error:
        raise UsageError(f"agent file {argument!r} cannot be read: {error.strerror}; expected a TOML file") from error


@dataclass(frozen=True)
class Command:
    """An agent that is run as a command and, where its template says how, reports what it used."""

    template: template.Template
    sha256: str
    """Of the template's file."""

    @property
    def name(self) -> str:
        """As the template says."""
        return self.template.name

    @property
    def version(self) -> str:
        """As the template says."""
        return self.template.version

    @property
    def scripted(self) -> bool:
        """As the template says; False unless it says so."""
        return self.template.scripted

    @property
    def channels(self) -> frozenset[str]:
        """Hooks are taken only by a command that is told where they stand."""
        taken = frozenset({"env", "files", "prefix"})
        return taken | {"hooks"} if "hooks_file" in self.template.placeholders else taken

    def identity(self) -> SystemIdentity:
        """Tell one template from another; of the environment only names are given, for values may be secrets."""
        detail = {
            "command": list(self.template.command),
            "env": sorted(self.template.env),
            "pass_env": sorted(self.template.pass_env),
            "template_sha256": self.sha256,
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def run(self, job: AgentJob) -> AgentRun:
        """Run the filled command in the cage and read its result; AgentError when it cannot be started."""
        passed = {name: os.environ[name] for name in self.template.pass_env}
        files = _Files(Path(job.cage.env["TMPDIR"]))
        ended = _ended.run(
            self.name,
            job.cage,
            self._command(job, files),
            timeout_s=job.timeout_s,
            env={**self.template.env, **passed, **job.attachment.env},
            max_output_bytes=MAX_TRANSCRIPT_BYTES,
        )
        ended = replace(ended, stdout=_redacted(ended.stdout, passed), stderr=_redacted(ended.stderr, passed))
        return self._read(job, ended, files, passed)

    def _command(self, job: AgentJob, files: _Files) -> list[str]:
        """Write the files that the template asks for, and return its command with every placeholder filled."""
        prompt = _ended.whole_prompt(job)
        if "prompt_file" in self.template.placeholders:
            files.prompt.write_text(prompt, encoding="utf-8")
        if "hooks_file" in self.template.placeholders:
            files.hooks.write_text(json.dumps(_settings(job.attachment.hooks)), encoding="utf-8")
        return self.template.filled(
            {
                "prompt": prompt,
                "prompt_file": str(files.prompt),
                "workdir": str(job.cage.workdir),
                "session_id": job.session_id,
                "hooks_file": str(files.hooks),
                "result_file": str(files.result),
            }
        )

    def _read(self, job: AgentJob, ended: Completed, files: _Files, passed: Mapping[str, str]) -> AgentRun:
        place = self.template.result
        fault = _ended.fault(ended, job.timeout_s)
        report = result.Report()
        if place is None:
            report = result.Report(said=ended.stdout.decode(errors="replace"))
        elif not ended.timed_out:
            try:
                content = (
                    ended.stdout if place.source == "stdout" else _redacted(result.read_file(files.result), passed)
                )
                report = result.read(place, self.template.usage, content)
            except ValueError as error:
                cut = _ended.cut_note(ended, MAX_TRANSCRIPT_BYTES)
                fault = fault or _ended.agent_error(f"exit status 0, but {error}{cut}")
        usage = report.usage
        if usage.total == 0 and not self.scripted:
            usage = Usage()  # an agent with a model that says 0 of every kind has counted nothing
        session_id = report.session_id
        if (place is None or place.session_id is None) and "session_id" in self.template.placeholders:
            session_id = job.session_id
        return AgentRun(
            transcript=ended.stdout,
            said=report.said or "",
            usage=usage,
            seconds=ended.seconds,
            turns=report.turns,
            exit_status=ended.exit_status,
            session_id=session_id,
            fault=fault,
        )


class _Files:
    """What is passed in files stands in the cage's TMPDIR, never in the repository."""

    def __init__(self, tmp: Path) -> None:
        self.prompt = tmp / "smriti-prompt.txt"
        self.hooks = tmp / "smriti-hooks.json"
        self.result = tmp / "smriti-result.json"


def _settings(hooks: tuple[Hook, ...]) -> Mapping[str, Any]:
    """Return the hooks in the settings shape that agents share; `timeout` is in seconds."""
    events: dict[str, list[Mapping[str, Any]]] = {}
    for hook in hooks:
        timeout_s = int(hook.timeout_s) if hook.timeout_s.is_integer() else hook.timeout_s
        entry = {"type": "command", "command": shlex.join(hook.command), "timeout": timeout_s}
        events.setdefault(hook.event, []).append({"hooks": [entry]})
    return {"hooks": events}


def _redacted(content: bytes, passed: Mapping[str, str]) -> bytes:
    """Return `content` with the variable's name in the place of each passed value, plain or as JSON has it."""
    names = {value: f"[{name}]".encode() for name, value in passed.items() if len(value) >= _SECRET_CHARACTERS}
    names |= {json.dumps(value)[1:-1]: name for value, name in names.items()}
    for value in sorted(names, key=len, reverse=True):
        content = content.replace(value.encode(), names[value])
    return content
