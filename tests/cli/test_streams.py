"""Standard streams that are closed, full or narrow change no run and no exit status that it would have had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import smriti
from smriti.receipts.verify import verify

SMRITI = (sys.executable, "-c", "from smriti.cli.app import main; main()")
BENCH = (
    *("bench", "--trials", "1", "--task", "csv-null-token", "--agent", "nop", "--memory", "off"),
    *("--conditions", "off", "--jobs", "1", "--out", "out"),
)
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def run(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, closed: str = "", **streams: Any
) -> subprocess.CompletedProcess[str]:
    """Run `smriti` in `folder`; `closed` are redirections that close streams before it starts."""
    shell = ("sh", "-c", f'exec "$@" {closed}', "sh")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    path = {"PYTHONPATH": str(Path(smriti.__file__).parents[1])}
    whole = {**os.environ, **path, **(env or {})}
    command = (*(shell if closed else ()), *SMRITI, *arguments)
    return subprocess.run(command, cwd=folder, env=whole, text=True, check=False, timeout=60, **streams)


def without_a_reader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    read, write = os.pipe()
    os.close(read)
    try:
        return run(folder, *arguments, stdout=write)
    finally:
        os.close(write)


def test_a_reader_who_left_early_changes_nothing(tmp_path: Path) -> None:
    ended = without_a_reader(tmp_path, "tasks", "list")
    assert (ended.returncode, ended.stderr) == (0, "")
    (tmp_path / "bad").mkdir()
    ended = without_a_reader(tmp_path, "verify", "bad")
    assert (ended.returncode, ended.stderr) == (1, "")
    ended = without_a_reader(tmp_path, *BENCH)
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, "its progress"
    assert verify(tmp_path / "out").state == "verified"


@needs_full
def test_a_full_stdout_is_told_in_a_line_and_is_exit_status_2(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        ended = run(tmp_path, *BENCH, stdout=full)
    assert ended.returncode == 2
    *_progress, last = ended.stderr.splitlines()
    assert last == "smriti: stdout: some of the output was lost: No space left on device; what was run is not"
    assert "Traceback" not in ended.stderr
    assert verify(tmp_path / "out").state == "verified"


@needs_full
def test_a_full_stderr_changes_nothing(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        ended = run(tmp_path, *BENCH, stderr=full)
        assert ended.returncode == 0
        assert "csv-null-token" not in ended.stdout
        assert "1 planned = 1 completed" in ended.stdout
        assert run(tmp_path, "bench", stderr=full).returncode == 2


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_from_the_start_get_into_no_file(tmp_path: Path, closed: str) -> None:
    ended = run(tmp_path, *BENCH, closed=closed)
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr
    assert ("1 planned" in ended.stdout) == (closed == "2>&-")
    assert verify(tmp_path / "out").state == "verified"


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_nor_do_they_get_in_the_way_of_processes_that_are_started(tmp_path: Path, closed: str) -> None:
    asked = ("coding-life", "--limit", "4", "--jobs", "2", "--out", "out")
    assert run(tmp_path, *asked, closed=closed, env={"SMRITI_DATA_DIR": str(tmp_path / "cache")}).returncode == 0
    assert json.loads((tmp_path / "out/summary.json").read_text())["coverage"]["completed"] == 8
    assert verify(tmp_path / "out").state == "verified"


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_what_an_encoding_cannot_say_becomes_a_question_mark(tmp_path: Path, env: dict[str, str]) -> None:
    ended = run(tmp_path, *BENCH, "--conditions", "off,on", env=env)
    assert "Traceback" not in ended.stderr
    assert "2 planned = 2 completed" in ended.stdout
    assert "effects (95 % task-clustered" in ended.stdout
    assert ended.returncode in {0, 1}
    assert verify(tmp_path / "out").state == "verified"
    ended = run(tmp_path, "verify", "nöwhere", env=env)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("smriti: n")
