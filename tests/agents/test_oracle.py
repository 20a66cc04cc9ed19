"""The agent that knows the answer."""

from __future__ import annotations

import pytest

from smriti.agents import oracle
from smriti.errors import UsageError
from smriti.types import File
from tests.agents.agent_bench import FIXTURE, Bench


def test_it_lays_the_solution_and_touches_nothing_else(bench: Bench) -> None:
    solution = {"app/main.py": File(b"LIMIT = 640\n"), "bin/new": File(b"#!/bin/sh\n", executable=True)}
    run = oracle.create(None).run(bench.job(bench.task(solution=solution)))
    assert bench.repository() == {**FIXTURE, "app/main.py": "LIMIT = 640\n", "bin/new": "#!/bin/sh\n"}
    assert (bench.cage.workdir / "bin/new").stat().st_mode & 0o111
    assert (run.usage.total, run.usage.source, run.fault) == (0, "agent", None)


@pytest.mark.parametrize("argument", ["", "fast"])
def test_it_takes_no_argument(argument: str) -> None:
    with pytest.raises(UsageError, match="expected none"):
        oracle.create(argument)
