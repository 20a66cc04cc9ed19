"""A run is killed, interrupted or runs out of disk, and nothing of what it had completed is lost."""

from __future__ import annotations

import json
import os
import random
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import smriti
from smriti.datasets import synthetic
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SEAMS, SUMMARY
from tests.processes import alive, eventually

KILLS = int(os.environ.get("SMRITI_KILLS", "8"))
"""How many moments a run is killed at; 50 make a thorough test of two minutes."""

SMRITI: tuple[str, ...] = (sys.executable, "-c", "from smriti.cli.app import main; main()")
TASKS = ("--task", "page-size-superseded", "--task", "fetch-retry-policy")
BENCH = ("bench", *TASKS, "--memory", "embedded", "--agent", "oracle", "--conditions", "off,on", "--jobs", "2")
DIFFERS = {"run_id", "evidence_sha256", "seconds", "ingest_ms", "query_ms", "planted_ids", "injected_ids"}
"""What of an attempt's score names the run or its moment, or is an id that a store gave."""


class Running:
    """A `smriti` command in a process of its own, with its output in files."""

    def __init__(self, root: Path, *arguments: str | Path, before: tuple[str, ...] = ()) -> None:
        root.mkdir(exist_ok=True)
        self.stderr_file = root / f"stderr-{len(list(root.iterdir()))}"
        (root / "tmp").mkdir(exist_ok=True)
        env = {**os.environ, "TMPDIR": str(root / "tmp"), "PYTHONPATH": str(Path(smriti.__file__).parents[1])}
        with self.stderr_file.open("wb") as stderr:
            self.process = subprocess.Popen(
                [*before, *SMRITI, *map(str, arguments)],
                cwd=root,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                preexec_fn=hears_every_signal,  # noqa: PLW1509  # the tests start no thread
            )

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def end(self, kind: signal.Signals | None = None) -> int:
        """Send a signal, if one is given, and return the exit status."""
        if kind is not None:
            self.process.send_signal(kind)
        return self.process.wait(60)

    @property
    def stderr(self) -> str:
        return self.stderr_file.read_text()


def hears_every_signal() -> None:
    """Undo what whoever started the tests may have had ignored, as nohup does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def whole_lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def look(receipt: Path) -> tuple[object, ...]:
    """What a step of a run changes on the disk: sizes of the files of rows, and names of everything else."""
    sizes = [path.stat().st_size if path.exists() else -1 for path in (receipt / EVIDENCE, receipt / SCORES)]
    names = sorted(path.name for path in receipt.glob("*/*")) if receipt.exists() else []
    return (*sizes, (receipt / MANIFEST).exists(), (receipt / SEAMS).exists(), tuple(names))


def wait_for_changes(run: Running, receipt: Path, count: int) -> None:
    """Return when the receipt has changed `count` times, or the run has ended."""
    seen: object = look(receipt)
    left = count

    def changed() -> bool:
        nonlocal seen, left
        now = look(receipt)
        left -= now != seen
        seen = now
        return left <= 0 or run.ended

    assert eventually(changed)


def announced(run: Running) -> set[str]:
    """Read which trials the run said were done, each after its lines were on the disk."""
    return set(re.findall(r"^\[ *\d+/\d+\] (\S+)  ", run.stderr, re.MULTILINE))


def scores(receipt: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in whole_lines(receipt / SCORES)]
    return sorted(
        ({key: value for key, value in row.items() if key not in DIFFERS} for row in rows), key=lambda row: row["order"]
    )


def figures(receipt: Path) -> dict[str, Any]:
    summary = json.loads((receipt / SUMMARY).read_bytes())
    summary["scores"] = [score for score in summary["scores"] if "_ms_" not in score["metric"]]
    return {key: summary[key] for key in ("coverage", "scores", "flags", "evidence_class")}


def bench_run(_root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (*BENCH, "--trials", str(max(6, KILLS))), ("bench",)


def retrieval_run(root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    data = str(root / "data.json")
    synthetic.write(Path(data), 5 * max(6, KILLS))
    return ("longmemeval", "--data", data, "--jobs", "2"), ("longmemeval", "--data", data)


@pytest.mark.parametrize("kind", [bench_run, retrieval_run])
def test_a_run_that_is_killed_again_and_again_and_resumed_ends_with_the_scores_of_an_undisturbed_one(
    tmp_path: Path, kind: Callable[[Path], tuple[tuple[str, ...], tuple[str, ...]]]
) -> None:
    """Killed at a seeded number of changes of the receipt: between two lines, within a blob, before the seam."""
    command, again = kind(tmp_path)
    undisturbed = Running(tmp_path / "undisturbed", *command, "--out", tmp_path / "undisturbed/receipt")
    receipt, chance = tmp_path / "killed/receipt", random.Random(20)
    start: tuple[str | Path, ...] = (*command, "--out", receipt)
    kills = 0
    for _ in range(KILLS):
        run = Running(tmp_path / "killed", *start)
        stood = whole_lines(receipt / SCORES)
        wait_for_changes(run, receipt, chance.randint(1, 12))
        before = whole_lines(receipt / SCORES)
        if run.end(signal.SIGKILL) != -signal.SIGKILL:
            break
        kills += 1
        start = (*again, "--resume", receipt)
        assert verify(receipt).state == "interrupted"
        after = whole_lines(receipt / SCORES)
        assert after[: len(before)] == before
        assert after[: len(stood)] == stood
        assert announced(run) <= {json.loads(line)["case"] for line in after}
    assert kills >= KILLS / 2, "the run is too short for so many moments"
    last = Running(tmp_path / "killed", *start)
    assert last.end() == undisturbed.end(), last.stderr
    for finished in (receipt, undisturbed_receipt := tmp_path / "undisturbed/receipt"):
        assert verify(finished).state == "verified", verify(finished).checks
        assert not [path for path in finished.rglob("*") if "partial" in path.name]
    assert 1 <= verify(receipt).resumed <= kills
    assert verify(undisturbed_receipt).resumed == 0
    assert scores(receipt) == scores(undisturbed_receipt)
    assert figures(receipt) == figures(undisturbed_receipt)


# Interrupted by the user

AGENT = """
name = "sleeper"
version = "1"
scripted = true
command = ["sh", "-c", '''
cd {root}
test -e go || mkdir first 2>/dev/null || mkdir second 2>/dev/null || {{
    exec 9> alive; echo $$ > hanging-$$; sleep 60 & sleep 60
}}
''']
"""


@contextmanager
def held_open(path: Path) -> Iterator[Callable[[], bool]]:
    """Give a probe that tells whether any process holds the FIFO at `path` open for writing; zombies do not."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(reader, select.POLLHUP)
        yield lambda: not poll.poll(0)
    finally:
        os.close(reader)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_an_interrupt_ends_every_agent_and_leaves_a_receipt_that_the_printed_command_finishes(
    tmp_path: Path, kind: signal.Signals
) -> None:
    """Two trials are done and two agents hang, each with a process put behind it, when the signal comes."""
    (tmp_path / "sleeper.toml").write_text(AGENT.format(root=shlex.quote(str(tmp_path))))
    receipt = tmp_path / "receipt"
    with held_open(tmp_path / "alive") as still:
        run = Running(
            tmp_path / "run",
            *("bench", "--trials", "3", "--task", "page-size-superseded", "--memory", "off", "--jobs", "2"),
            *("--agent", f"command:{tmp_path}/sleeper.toml", "--out", receipt),
        )
        assert eventually(lambda: len(list(tmp_path.glob("hanging-*"))) == 2 or run.ended)
        assert eventually(lambda: len(announced(run)) == 2 or run.ended)
        assert run.end(kind) == 3, run.stderr
        assert not still()
        assert not any(alive(int(file.name.partition("-")[2])) for file in tmp_path.glob("hanging-*"))
    assert not list((tmp_path / "run/tmp").iterdir()), "its scratch directories are gone"
    verdict = verify(receipt)
    assert verdict.state == "interrupted"
    assert [row["status"] for row in scores(receipt)] == ["failed", "failed"], "an interrupted trial is no failed one"
    assert f"interrupted after 2 of {json.loads((receipt / MANIFEST).read_bytes())['planned']} cases" in run.stderr
    printed = re.search(r"Go on with: smriti (.+)\n", run.stderr)
    assert printed is not None
    (tmp_path / "go").touch()
    resumed = Running(tmp_path / "run", *shlex.split(printed[1]))
    assert resumed.end() in {0, 1}, resumed.stderr
    verdict = verify(receipt)
    assert (verdict.state, verdict.resumed) == ("verified", 1)


SLOW_TO_CLOSE = """
import pathlib, time
from smriti.memory.off import OffMemory, OffStore

root = pathlib.Path({root!r})

class Slow(OffMemory):
    def open(self, workspace, replica=None):
        return Store()

class Store(OffStore):
    def close(self):
        if (root / "wait").exists():
            (root / "closing").touch()
            while (root / "wait").exists():
                time.sleep(0.01)
"""


def test_impatience_while_it_cleans_up_changes_neither_the_exit_status_nor_the_receipt(tmp_path: Path) -> None:
    """The second and the third Ctrl-C come while the memory system is closed, each after the last was heard."""
    (tmp_path / "sleeper.toml").write_text(AGENT.format(root=shlex.quote(str(tmp_path))))
    (tmp_path / "run").mkdir()
    (tmp_path / "run/slow.py").write_text(SLOW_TO_CLOSE.format(root=str(tmp_path)))
    receipt = tmp_path / "receipt"
    with held_open(tmp_path / "alive"):
        run = Running(
            tmp_path / "run",
            *("bench", "--trials", "3", "--task", "page-size-superseded", "--memory", "slow:Slow", "--jobs", "1"),
            *("--agent", f"command:{tmp_path}/sleeper.toml", "--out", receipt),
        )
        assert eventually(lambda: list(tmp_path.glob("hanging-*")) or run.ended)
        assert eventually(lambda: len(announced(run)) == 2 or run.ended)
        (tmp_path / "wait").touch()
        run.process.send_signal(signal.SIGINT)
        assert eventually((tmp_path / "closing").exists)
        for count in (1, 2):
            run.process.send_signal(signal.SIGINT)
            assert eventually(lambda count=count: run.stderr.count("still cleaning up") == count)  # type: ignore[misc]
        (tmp_path / "wait").unlink()
        assert run.end() == 3, run.stderr
    assert "Traceback" not in run.stderr
    assert f"Go on with: smriti bench --resume {receipt}\n" in run.stderr
    assert not list((tmp_path / "run/tmp").iterdir()), "its scratch directories are gone"
    assert verify(receipt).state == "interrupted"


# A disk that takes no more


def test_a_full_disk_ends_the_run_with_status_2_and_one_paragraph_and_no_seal(tmp_path: Path) -> None:
    """The limit is the kernel's own, on the size of each file that the run writes: 20 or 40 kB, as the shell counts."""
    receipt = tmp_path / "receipt"
    run = Running(
        tmp_path / "run",
        *("bench", "--trials", "20", "--agent", "nop", "--memory", "off", "--task", "page-size-superseded"),
        *("--out", receipt),
        before=("sh", "-c", 'ulimit -f 40; exec "$@"', "sh"),
    )
    assert run.end() == 2, run.stderr
    assert f"smriti: {receipt}: cannot write the receipt: File too large\n" in run.stderr
    assert "Traceback" not in run.stderr
    assert not (receipt / SUMMARY).exists()
    assert not [path for path in receipt.rglob("*") if "partial" in path.name]
    assert verify(receipt).state == "interrupted"


@pytest.mark.parametrize("what", ["a folder below a file", "a folder that may not be written"])
def test_a_receipt_that_cannot_be_started_ends_the_run_with_status_2_and_one_paragraph(
    tmp_path: Path, what: str
) -> None:
    if what == "a folder below a file":
        (tmp_path / "place").write_text("")
    elif os.geteuid() == 0:
        pytest.skip("the administrator may write anywhere")
    else:
        (tmp_path / "place").mkdir(mode=0o500)
    run = Running(tmp_path / "run", *BENCH, "--trials", "1", "--out", tmp_path / "place/receipt")
    assert run.end() == 2
    assert run.stderr.startswith(f"smriti: {tmp_path}/place/receipt: cannot write the receipt: ")
    assert run.stderr.count("\n") == 1
