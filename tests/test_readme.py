"""The README's commands are those of the program, and its words those of the code."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from smriti.cli.app import main
from smriti.cli.present import Present
from smriti.datasets import synthetic
from smriti.receipts.verify import verify
from smriti.receipts.writer import SUMMARY
from smriti.types import Condition

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()

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
    for name in ("README.md", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
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
    # What the suite finds out is no fault of the command.
    expected = (0, None, 1) if words[1] == "lifecycle" else (0, None)
    assert ended.value.code in expected, capsys.readouterr().err
    assert capsys.readouterr().out


def test_the_readme_has_commands_to_try() -> None:
    assert len(COMMANDS) >= 8


def test_the_conditions_of_the_readme_can_be_parsed() -> None:
    table = README.partition("| condition |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([a-z:&;, ]+) \| ", table, re.MULTILINE)
    named = [name.strip() for row in rows for name in row.replace("&lt;lane&gt;", "kw").split(",")]
    assert {Condition.parse(name).kind for name in named} == {"off", "on", "handed", "placebo", "file", "ablate"}


def test_what_the_readme_shows_is_what_its_receipts_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`nox -s readme` runs it anew."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["smriti", "claim", "check", "README.md"])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().out
    assert not ended.value.code, printed
    assert re.search(r"[1-9]\d lines of output compared; receipts: 2 \(component, rehearsal\), problems: 0", printed)


@pytest.mark.parametrize("name", ["bench", "coding-life"])
def test_the_receipts_of_the_readme_are_of_the_tasks_and_the_data_that_are_here(name: str) -> None:
    verdict = Present().look(verify(ROOT / "docs/receipts" / name))
    assert verdict.state == "verified"
    assert all(check.ok for check in verdict.checks), verdict.checks


def test_the_figures_of_the_readme_are_those_of_a_run_of_this_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But for times: of coding-life, which takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "argv", ["smriti", "coding-life", "--out", "today"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    today, shown = (
        [score for score in json.loads((folder / SUMMARY).read_bytes())["scores"] if "_ms_" not in score["metric"]]
        for folder in (tmp_path / "today", ROOT / "docs/receipts/coding-life")
    )
    assert today == shown


def test_files_that_the_readme_links_to_are_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
