"""The fixture that tests of agents share."""

from __future__ import annotations

from pathlib import Path

import pytest

from smriti.sandbox.none import command_path, make_cage
from tests.agents.agent_bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(make_cage(tmp_path / "cage", command_path(["python3"])))
