"""The command line, called as a user calls it, in an empty folder."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smriti.cli import app, interrupts
from smriti.cli.present import Present
from tests.benches import tiny_task
from tests.cli.command_line import Ended, Smriti


@pytest.fixture
def smriti(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Smriti]:
    """Runs `smriti` with the given arguments in this process, in a folder of its own."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("smriti.cli.bench.cores", lambda: 64)
    handlers = {number: signal.getsignal(number) for number in interrupts._SIGNALS}

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["smriti", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main()
        printed = capsys.readouterr()
        status = ended.value.code
        assert status is None or isinstance(status, int)
        return Ended(status or 0, printed.out, printed.err)

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def tiny_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `smriti bench` have three small tasks in the place of the corpus."""
    corpus = [tiny_task(), tiny_task("beta"), tiny_task("gamma", family="exploration", deducible=True)]
    for module in ("bench", "present"):
        monkeypatch.setattr(f"smriti.cli.{module}.load_corpus", lambda: corpus)


@pytest.fixture
def all_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this version know every task and data set; test_present.py has what it does with others."""
    for asked in ("vouch", "settle"):
        monkeypatch.setattr(Present, asked, Present.look)


@pytest.fixture
def left(tmp_path: Path) -> Callable[[], list[str]]:
    """Tells what stands in the folder in which commands run."""
    return lambda: sorted(path.relative_to(tmp_path / "here").as_posix() for path in (tmp_path / "here").rglob("*"))
