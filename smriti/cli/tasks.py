"""`smriti tasks list | show | check`: the corpus of SMRITI-Bench."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from smriti.corpus import RULES, check_corpus, check_folders, load_corpus, select, tasks_root
from smriti.errors import UsageError

app = typer.Typer(help="The tasks of SMRITI-Bench.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Root = Annotated[Path | None, typer.Option("--root", help="A folder of task folders; the shipped corpus by default.")]


@app.command("list")
def list_tasks(*, root: Root = None, as_json: Json = False) -> None:
    """List the tasks, one a line."""
    corpus = load_corpus(root)
    if as_json:
        rows = [
            {
                **folder.task.model_dump(mode="json", include={"id", "version", "family", "split", "tags", "requires"}),
                "sha256": folder.sha256,
            }
            for folder in corpus
        ]
        typer.echo(json.dumps({"tasks": rows}))
        return
    for folder in corpus:
        task = folder.task
        typer.echo(f"{task.id:32} {task.family:12} {task.split:8} {', '.join(task.requires)}")


@app.command("show")
def show(task_id: Annotated[str, typer.Argument(metavar="ID")], *, root: Root = None, as_json: Json = False) -> None:
    """Print what one task asks, plants and checks."""
    (folder,) = select(load_corpus(root), [task_id])
    task = folder.task
    if as_json:
        typer.echo(json.dumps({**task.model_dump(mode="json"), "sha256": folder.sha256, "files": list(folder.fixture)}))
        return
    typer.echo(f"{task.id} version {task.version}, {task.family}, {task.split}, sha256 {folder.sha256}\n")
    typer.echo(task.prompt + "\n")
    typer.echo(f"check      {' '.join(task.check_cmd)} (at most {task.timeout_s:g} s)")
    typer.echo(f"visible    {' '.join(task.visible_cmd)}")
    typer.echo(f"may change {', '.join(task.deliverables)}")
    typer.echo(f"fixture    {', '.join(folder.fixture)}\n")
    for memory in task.planted_memories[:12]:
        typer.echo(f"{memory.role:11} {memory.source_id}: {memory.content}")
    if len(task.planted_memories) > 12:
        typer.echo(f"and {len(task.planted_memories) - 12} more memories")


@app.command("check")
def check(
    folders: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR…]", help="Task folders; all by default.")
    ] = None,
    *,
    root: Root = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Tasks checked side by side.")] = 2,
    as_json: Json = False,
) -> None:
    """Ask every admission rule of every task and list all problems.

    Exit 1 if there is one, or if a task could not be checked.
    """
    for folder in folders or ():
        if folder.is_file():
            raise UsageError(f"{folder} is a file, expected the folder of a task, such as {folder.absolute().parent}")
    with tempfile.TemporaryDirectory(prefix="smriti-tasks-") as scratch:
        if folders:
            checked = check_folders(folders, Path(scratch), jobs)
        else:
            checked = check_corpus(root or tasks_root(), Path(scratch), jobs)
    if as_json:
        typer.echo(json.dumps(asdict(checked)))
    else:
        for problem in checked.problems:
            typer.echo(str(problem))
        for unchecked in checked.unchecked:
            rules, missing = ", ".join(unchecked.rules), ", ".join(unchecked.missing)
            typer.echo(f"{unchecked.task}: not checked by {rules}: {missing} is not on this machine")
        typer.echo(
            f"{len(checked.tasks)} tasks, {len(RULES)} rules, {len(checked.problems)} problems, "
            f"{len(checked.unchecked)} not checked in full"
        )
    if checked.problems or checked.unchecked:
        raise typer.Exit(1)
