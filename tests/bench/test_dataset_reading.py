"""What reading a full-size LongMemEval costs, in time and memory. Run by `nox -s perf`; prints ratios."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from smriti.datasets import synthetic

ROWS = 500
MEMORY_LIMIT_MB = 200
TIME_LIMIT = 4.0
"""Reading, validating and building every document, over orjson's time for parsing the whole file at once."""

READ = """
import resource, sys, time
from pathlib import Path
from smriti.datasets import longmemeval
began = time.perf_counter()
reading = longmemeval.read(Path(sys.argv[1]))
documents = sum(1 for corpus in reading.corpora for document in corpus.documents)
assert documents == reading.counts["documents"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform != "darwin" else 1024 * 1024)
print(time.perf_counter() - began, peak)
"""

PARSE = """
import sys, time
from pathlib import Path
import orjson
began = time.perf_counter()
orjson.loads(Path(sys.argv[1]).read_bytes())
print(time.perf_counter() - began)
"""


def test_a_full_size_file_is_read_in_bounded_memory_at_a_few_times_the_cost_of_parsing_it(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval.json"
    began = time.perf_counter()
    synthetic.write(path, ROWS)
    made_s = time.perf_counter() - began
    parse_s = min(float(measured(PARSE, path)[0]) for _ in range(2))
    read_s, peak_mb = min((float(read_s), int(peak)) for read_s, peak in (measured(READ, path) for _ in range(2)))
    print(  # noqa: T201  # the figure is what this is for
        f"\nmade {path.stat().st_size:,} bytes in {made_s:.1f} s; read in {read_s:.2f} s, "
        f"{read_s / parse_s:.2f} × orjson, {peak_mb} MB at the peak"
    )
    assert peak_mb <= MEMORY_LIMIT_MB
    assert read_s <= TIME_LIMIT * parse_s


def measured(program: str, path: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.split()
