"""Receipts to make reports of, and a place for what matplotlib keeps: no user's home is read or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smriti.receipts.report.trials import trial_path
from smriti.receipts.sealed import SealedReceipt, read_sealed
from tests.receipts import build
from tests.receipts.report import questions


@pytest.fixture(autouse=True, scope="session")
def _drawing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))
        yield


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> SealedReceipt:
    """A rehearsal of the bench with every kind of ending in it."""
    return read_sealed(build.write(tmp_path_factory.mktemp("bench") / "receipt"))


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> SealedReceipt:
    """A run of two systems over three cutoffs, with failures, and a question without an answer."""
    return read_sealed(questions.write(tmp_path_factory.mktemp("asked") / "receipt"))


@pytest.fixture(scope="session")
def links(bench: SealedReceipt) -> dict[str, str]:
    """Where the pages of the bench's trials are."""
    return {record.case: trial_path(record) for record in bench.records}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a report can go."""
    return tmp_path / "there"
