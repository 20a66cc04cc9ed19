"""`smriti memory list` and `smriti agents list`: what a name finds."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from tests.cli.command_line import Smriti


def test_every_memory_system_has_a_line_with_its_lanes(smriti: Smriti) -> None:
    ended = smriti("memory", "list")
    assert (ended.status, ended.err) == (0, "")
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert {"embedded", "file", "off"} <= lines.keys()
    assert "lanes kw, sem, ctx, corr, hyb, xr" in lines["embedded"]
    assert "lanes" not in lines["file"], "what there is none of is not said"


def test_memory_systems_as_json_are_one_object(smriti: Smriti) -> None:
    rows = smriti("memory", "list", "--json").json
    assert rows["off"] == {"version": "1", "lanes": [], "capabilities": []}
    assert rows["embedded"]["lanes"][0] == "kw"
    assert "supersede" in rows["embedded"]["capabilities"]


def test_every_agent_has_a_line_and_one_that_needs_a_file_says_so(smriti: Smriti) -> None:
    ended = smriti("agents", "list")
    assert (ended.status, ended.err) == (0, "")
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert {"command", "nop", "oracle", "rehearsal"} <= lines.keys()
    assert "hooks" not in lines, "a module beside the agents is no agent"
    assert "scripted True" in lines["rehearsal"]
    assert "channels env, files, hooks, prefix" in lines["rehearsal"]
    assert lines["command"].split(None, 1)[1] == (
        "needs a TOML file that describes the agent, as command:FILE.toml; smriti/agents/README.md shows one"
    )


@pytest.mark.parametrize("group", ["agents", "memory"])
def test_an_adapter_that_cannot_be_used_hides_no_other(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    broken = EntryPoint("broken", "no_such_module:create", f"smriti.{group}")
    monkeypatch.setattr("smriti.registry.entry_points", EntryPoints([broken]).select)
    ended = smriti(group, "list")
    assert (ended.status, ended.err) == (0, "")
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    assert "unusable" in lines["broken"]
    assert "No module named 'no_such_module'" in lines["broken"]
    assert len(lines) > 3


def test_agents_as_json_are_one_object(smriti: Smriti) -> None:
    rows = smriti("agents", "list", "--json").json
    assert rows["oracle"]["scripted"] is True
    assert "command:FILE.toml" in rows["command"]["needs"]
