"""The agent that does nothing."""

from __future__ import annotations

import pytest

from smriti.agents import nop
from smriti.errors import UsageError
from smriti.types import Usage
from tests.agents.agent_bench import FIXTURE, Bench


def test_it_leaves_the_repository_as_it_was_and_used_no_token(bench: Bench) -> None:
    run = nop.create(None).run(bench.job())
    assert bench.repository() == FIXTURE
    zero = Usage(input_tokens=0, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, source="agent")
    assert (run.usage, run.turns, run.transcript, run.exit_status, run.fault) == (zero, 0, b"", 0, None)


@pytest.mark.parametrize("argument", ["", "fast"])
def test_it_takes_no_argument(argument: str) -> None:
    with pytest.raises(UsageError, match="expected none"):
        nop.create(argument)
