"""A small task, a cage that it lies in, and a job made of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smriti.protocols import AgentJob
from smriti.sandbox.filetree import lay, read_tree
from smriti.sandbox.none import PlainCage
from smriti.types import Attachment, File, FileTree, Memory, Task, TaskFolder

FACT = "The team's limit is 640 lots:\n  agreed in March."
STALE = "The limit is 100 lots."
REALM = "project:self"

FIXTURE = {"README.md": "A ledger.\n", "app/main.py": "LIMIT = None\n", "app/other.py": "x = 1\n" * 50}


def tree(files: Mapping[str, str]) -> FileTree:
    return {path: File(content.encode()) for path, content in files.items()}


@dataclass(frozen=True)
class Bench:
    """Makes jobs in one cage, whose repository holds the fixture."""

    cage: PlainCage

    def task(self, *, fixture: Mapping[str, str] | None = None, deducible: bool = False, **parts: Any) -> TaskFolder:
        memories = parts.pop("memories", [(FACT, "convention", REALM), (STALE, "stale", REALM)])
        task = Task(
            id="a-task",
            version=1,
            family="convention",
            split="visible",
            prompt="Add the limit.",
            check_cmd=("true",),
            visible_cmd=("true",),
            planted_memories=tuple(
                Memory(content=content, type="wisdom", role=role, source_id=f"m{number}", realm=realm)
                for number, (content, role, realm) in enumerate(memories)
            ),
            deducible=deducible,
            deliverables=("app/**",),
            timeout_s=5,
            expected_tokens_budget=1000,
        )
        trees: dict[str, FileTree] = {
            "fixture": tree(FIXTURE if fixture is None else fixture),
            "solution": tree({"app/main.py": "LIMIT = 640\n"}),
            "naive": tree({"app/main.py": "LIMIT = 0\n"}),
        }
        return TaskFolder(task=task, folder=Path("/nowhere"), sha256="0" * 64, hidden={}, **{**trees, **parts})

    def job(
        self, task: TaskFolder | None = None, attachment: Attachment | None = None, *, seed: str = "s", **limits: Any
    ) -> AgentJob:
        """Lay the task's fixture, then the attachment's files, as the harness does, and return the job."""
        task = task or self.task()
        attachment = attachment or Attachment()
        lay(task.fixture, self.cage.workdir)
        lay(tree(attachment.files), self.cage.workdir)
        given: dict[str, Any] = {"timeout_s": 10.0, "max_tokens": None, **limits}
        return AgentJob(
            prompt=task.task.prompt,
            cage=self.cage,
            attachment=attachment,
            session_id="11111111-2222-3333-4444-555555555555",
            task=task,
            seed=seed,
            **given,
        )

    def repository(self) -> dict[str, str]:
        files, _ = read_tree(self.cage.workdir)
        return {path: file.content.decode() for path, file in files.items()}

    @property
    def edit(self) -> str:
        """The file that the solution and the naive change disagree about."""
        return self.repository()["app/main.py"]
