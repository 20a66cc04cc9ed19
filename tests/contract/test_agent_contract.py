"""What is true of every agent: one suite, run over all of them."""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from smriti.agents import command, nop, oracle, rehearsal
from smriti.errors import UsageError
from smriti.protocols import Agent, AgentJob
from smriti.sandbox.filetree import lay
from smriti.sandbox.none import command_path, make_cage
from smriti.types import AgentRun, Attachment, Hook, Usage
from tests.agents.agent_bench import Bench

CHANNELS = {"env", "files", "prefix", "hooks", "mcp"}


def a_command(tmp_path: Path) -> Agent:
    """Make an agent that runs its hooks' commands and reports nothing of what it used."""
    run_hooks = (
        "import json, subprocess, sys\n"
        "for event in json.load(open(sys.argv[1]))['hooks'].values():\n"
        "    for entry in event: subprocess.run(entry['hooks'][0]['command'], shell=True)\n"
        "print(json.dumps({'text': 'Done.'}))\n"
    )
    argv = ["python3", "-c", run_hooks, "{hooks_file}"]
    template = (
        f'name = "mine"\nversion = "1"\ncommand = {json.dumps(argv)}\n[result]\nsource = "stdout"\nformat = "json"\n'
    )
    (tmp_path / "mine.toml").write_text(template + '[usage]\ninput_tokens = "usage.input"\ncache_read_tokens = 0\n')
    return command.create(str(tmp_path / "mine.toml"))


AGENTS: dict[str, Callable[[Path], Agent]] = {
    "nop": lambda _: nop.create(None),
    "oracle": lambda _: oracle.create(None),
    "rehearsal": lambda _: rehearsal.create(None),
    "rehearsal:flake=0.5": lambda _: rehearsal.create("flake=0.5"),
    "command": a_command,
}
IN_PROCESS = {"nop", "oracle"}
REPORTS_NOTHING = {"command"}


@pytest.fixture(params=AGENTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def agent(name: str, tmp_path: Path) -> Agent:
    return AGENTS[name](tmp_path)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(make_cage(tmp_path / "cage", command_path(["python3"])))


@pytest.fixture
def job(bench: Bench) -> AgentJob:
    return bench.job()


@contextmanager
def alive(path: Path) -> Iterator[Callable[[], bool]]:
    """Give a probe that tells whether any process still holds the FIFO at `path` open for writing.

    A reader hears of the end of the last writer at once, zombies included: no process id is looked at.
    """
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(reader, select.POLLHUP)
        yield lambda: not poll.poll(5_000)
    finally:
        os.close(reader)


def test_it_has_a_name_a_version_and_channels_that_an_attachment_has(agent: Agent) -> None:
    assert agent.name
    assert agent.version
    assert isinstance(agent.scripted, bool)
    assert agent.channels <= CHANNELS
    identity = agent.identity()
    assert (identity.name, identity.version) == (agent.name, agent.version)
    json.dumps(identity.model_dump(mode="json"))


def test_a_run_ends_well_and_says_what_it_was(agent: Agent, job: AgentJob) -> None:
    run = agent.run(job)
    assert isinstance(run, AgentRun)
    assert (run.exit_status, run.fault) == (0, None)
    assert run.seconds >= 0
    assert isinstance(run.transcript, bytes)


def test_usage_is_never_0_where_it_is_unknown(agent: Agent, job: AgentJob, name: str) -> None:
    usage = agent.run(job).usage
    if name in REPORTS_NOTHING:
        assert usage == Usage()
    else:
        assert usage.total is not None
        assert (usage.source, usage.total > 0) == ("agent", name not in IN_PROCESS)


def test_it_writes_nothing_outside_the_cage(agent: Agent, job: AgentJob, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    agent.run(job)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert {path.name for path in (tmp_path / "cage").iterdir()} == {"repo", "home", "tmp"}


def test_two_runs_of_one_job_agree(agent: Agent, job: AgentJob) -> None:
    first = agent.run(job)
    lay(job.task.fixture, job.cage.workdir)
    second = agent.run(job)
    assert (first.usage, first.turns, first.said, first.transcript) == (
        second.usage,
        second.turns,
        second.said,
        second.transcript,
    )


def test_a_timeout_is_a_fault_of_unknown_cost_and_leaves_no_process_behind(
    name: str, agent: Agent, bench: Bench, tmp_path: Path
) -> None:
    if name in IN_PROCESS:
        pytest.skip("runs no process")
    with alive(tmp_path / "alive") as still:
        # Both the hook itself and a process that it has put behind it hold the FIFO open.
        script = f"exec 9> '{tmp_path}/alive'; touch started; sleep 60 & sleep 60"
        hook = Hook("UserPromptSubmit", ("sh", "-c", script), 50.0)
        run = agent.run(bench.job(attachment=Attachment(hooks=(hook,)), timeout_s=1.5))
        assert (bench.cage.workdir / "started").exists()
        assert not still()
    assert run.fault is not None
    assert (run.fault.status, run.fault.phase) == ("agent_timeout", "agent")
    assert (run.usage, run.turns, run.exit_status) == (Usage(), None, None)
    assert run.seconds < 10


@pytest.mark.parametrize("module", [nop, oracle, rehearsal, command])
def test_an_argument_that_it_cannot_use_is_refused(module: object) -> None:
    with pytest.raises(UsageError, match="expected"):
        module.create("no such argument")  # type: ignore[attr-defined]  # each agent's module has it
