"""What reading a full-size LongMemEval costs, at first and again, in time and memory. `nox -s perf`; prints ratios."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smriti.datasets import synthetic

ROWS = 500
RUNS = 3
MEMORY_LIMIT_MB = 100
FIRST_LIMIT = 3.0
"""Validating every row, keeping the index and building every document, over orjson's time for parsing the file."""
AGAIN_LIMIT = 1.0
"""The same with the index of the first run, over the same."""
INDEX_LIMIT = 0.05
"""Taking the reading from the index, without its documents, over the same."""

READ = """
import json, resource, sys, time
from pathlib import Path
from smriti.datasets import prepared
from smriti.datasets.longmemeval import FileState
path, sha256 = Path(sys.argv[1]), "0" * 64  # what hashing costs is another matter
began = time.perf_counter()
found = prepared.read(path, sha256, FileState.of(path))
taken = time.perf_counter()
documents = sum(len(tuple(corpus.documents)) for corpus in found.reading.corpora)
ended = time.perf_counter()
assert documents == found.reading.counts["documents"]
assert found.unkept is None
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform != "darwin" else 1024 * 1024)
print(json.dumps([found.origin, ended - began, taken - began, ended - taken, peak]))
"""

PARSE = """
import sys, time
from pathlib import Path
import orjson
began = time.perf_counter()
orjson.loads(Path(sys.argv[1]).read_bytes())
print(time.perf_counter() - began)
"""


def test_a_full_size_file_is_read_in_bounded_memory_and_again_in_less_than_parsing_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "longmemeval.json"
    began = time.perf_counter()
    synthetic.write(path, ROWS)
    print(f"\nmade {path.stat().st_size:,} bytes in {time.perf_counter() - began:.1f} s")  # noqa: T201
    parse_s = min(float(measured(PARSE, path)) for _ in range(RUNS))
    firsts, agains = [], []
    for run in range(RUNS):
        monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / f"cache{run}"))
        firsts.append(json.loads(measured(READ, path)))
        agains.append(json.loads(measured(READ, path)))
    for name, runs, origin, limit in (
        ("first", firsts, "source", FIRST_LIMIT),
        ("again", agains, "index", AGAIN_LIMIT),
    ):
        assert {run[0] for run in runs} == {origin}
        total_s, taken_s, documents_s = (min(run[part] for run in runs) for part in (1, 2, 3))
        peak_mb = max(run[4] for run in runs)
        print(  # noqa: T201  # the figure is what this is for
            f"{name}: {total_s:.2f} s, {total_s / parse_s:.2f} × orjson's {parse_s:.2f} s (reading {taken_s:.3f} s, "
            f"documents {documents_s:.2f} s), {peak_mb} MB at the peak"
        )
        assert peak_mb <= MEMORY_LIMIT_MB
        assert total_s <= limit * parse_s
        assert origin == "source" or taken_s <= INDEX_LIMIT * parse_s


def measured(program: str, path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return done.stdout
