"""`smriti memory list` and `smriti agents list`: what can be put under test."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from smriti import registry
from smriti.errors import UsageError
from smriti.protocols import Agent, MemorySystem

memory_app = typer.Typer(help="Memory systems under test.", no_args_is_help=True)
agents_app = typer.Typer(help="Agents under test.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@memory_app.callback()
@agents_app.callback()
def _group() -> None:
    """Make a group of one command stay a group."""


@memory_app.command("list")
def list_memory(*, as_json: Json = False) -> None:
    """List the memory systems that a name finds."""
    rows: dict[str, dict[str, object]] = {}
    for name in registry.names("memory"):
        try:
            system: MemorySystem = registry.load("memory", name)
        except UsageError as error:  # one that cannot be used does not hide the others
            rows[name] = {"unusable": str(error)}
            continue
        rows[name] = {
            "version": system.version,
            "lanes": list(system.lanes),
            "capabilities": sorted(system.capabilities),
        }
    _print(rows, as_json=as_json)


@agents_app.command("list")
def list_agents(*, as_json: Json = False) -> None:
    """List the agents that a name finds."""
    rows: dict[str, dict[str, object]] = {}
    for name in registry.names("agents"):
        if needed := registry.argument("agents", name):
            rows[name] = {"needs": needed}
            continue
        try:
            agent: Agent = registry.load("agents", name)
        except UsageError as error:  # one that cannot be used does not hide the others
            rows[name] = {"unusable": str(error)}
            continue
        rows[name] = {"version": agent.version, "scripted": agent.scripted, "channels": sorted(agent.channels)}
    _print(rows, as_json=as_json)


def _print(rows: dict[str, dict[str, object]], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for name, row in rows.items():
        facts = "; ".join(
            f"{key} {', '.join(value) if isinstance(value, list) else value}" for key, value in row.items() if value
        )
        typer.echo(f"{name:14} {facts}")
