"""The README's commands are those of the program, and its words those of the code."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from smriti.cli.app import main
from smriti.datasets import synthetic
from smriti.types import Condition

README = (Path(__file__).parent.parent / "README.md").read_text()

COMMANDS = [
    line.removeprefix("$ ").split("#")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ smriti")
]

SYNTHETIC = "longmemeval-synthetic-5-0.json"
"""What the command before makes."""

AGENT = """
name = "mine"
version = "1"
command = ["true"]
[result]
source = "stdout"
format = "json"
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_smriti_command_of_the_readme_is_understood(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commands that would run for long are run dry; those that name a placeholder are asked for their help."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "cache"))
    (tmp_path / "my-agent.toml").write_text(AGENT)
    if SYNTHETIC in command.split():
        synthetic.write(tmp_path / SYNTHETIC, 5)
    words = shlex.split(re.sub(r"<[a-z-]+>", "PLACEHOLDER", command))
    if any("PLACEHOLDER" in word for word in words):
        words.append("--help")
    elif words[1] == "bench" and "--dry-run" not in words:
        words.append("--dry-run")
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None), capsys.readouterr().err
    assert capsys.readouterr().out


def test_the_readme_has_commands_to_try() -> None:
    assert len(COMMANDS) >= 8


def test_the_conditions_of_the_readme_can_be_parsed() -> None:
    table = README.partition("| condition |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([a-z:&;, ]+) \| ", table, re.MULTILINE)
    named = [name.strip() for row in rows for name in row.replace("&lt;lane&gt;", "kw").split(",")]
    assert {Condition.parse(name).kind for name in named} == {"off", "on", "handed", "placebo", "file", "ablate"}


def test_the_readme_shows_what_a_run_prints() -> None:
    """The block holds a whole summary, and names the run that it is of."""
    block = README.partition("<!-- summary -->")[2].partition("<!-- /summary -->")[0]
    for line in ("REHEARSAL: ", "delta_sr (ΔSR)", "sr_lift", "mhi (MHI)", "injection_confirmation_rate", "VERIFIED"):
        assert line in block
    assert re.search(r"receipt receipts/bench/\d{8}t\d{6}-[0-9a-f]{6}", block)


def test_the_readme_shows_what_a_retrieval_run_prints() -> None:
    block = README.partition("<!-- coding-life -->")[2].partition("<!-- /coding-life -->")[0]
    for line in ("recall_all@5", "ceiling", "unanswerable: ", "diagnostic", "class component", "VERIFIED (component)"):
        assert line in block
    assert re.search(r"receipt receipts/coding-life/\d{8}t\d{6}-[0-9a-f]{6}", block)


def test_files_that_the_readme_links_to_are_there() -> None:
    root = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (root / target).exists(), target
