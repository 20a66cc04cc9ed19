"""Repeats are collapsed as asked, also in a file of the size of a ring road's month, within the time that a replay has."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

REPLAY_LINES = 65_000
REPLAY_LIMIT_S = 2.5

# Seconds, events, kept positions.
CASES = [
    (60, [(100, "a", 2), (160, "a", 2), (161, "a", 2), (130, "a", 2), (40, "a", 2), (39, "a", 2)], [0, 2, 5]),
    (60, [(100, "a", 2), (100, "b", 2), (110, "b", 2), (110, "c", 2), (105, "a", 9)], [0, 1, 3]),
    (5, [(10, "a", 2), (14, "a", 2), (18, "a", 2), (22, "a", 2), (26, "a", 2), (6, "a", 2), (4, "a", 2)], [0, 2, 4, 6]),
    (0, [(7, "a", 2), (8, "a", 2), (7, "a", 4), (6, "a", 2), (8, "b", 2)], [0, 1, 3, 4]),
    (3, [(1, "a", 2), (-2, "a", 2), (-3, "a", 2), (0, "a", 2), (5, "a", 2), (-6, "a", 3), (-7, "a", 3)], [0, 2, 4, 6]),
    (1000, [(5000, "a", 2), (900, "a", 2), (1900, "a", 2), (1901, "a", 2), (3999, "a", 2), (4000, "a", 2)], [0, 1, 3, 4]),
    (10, [], []),
]

DRIVER = """
import json, sys
from roadcount.clean import collapse_repeats
from roadcount.events import Event
got = []
for seconds, events, _ in json.loads(sys.argv[1]):
    got.append([list(event) for event in collapse_repeats([Event(*event) for event in events], seconds)])
print(json.dumps(got))
"""


def run(*args: str, limit_s: float = 8) -> tuple[int | None, str]:
    """Exit status (None if it was over the limit) and the first part of the output of a Python command in the graded copy."""
    try:
        done = subprocess.run([sys.executable, "-B", *args], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:20000].decode(errors="replace")


def month() -> tuple[list[str], list[str]]:
    """Lines of a busy loop, in no order of time, with and without repeats: each tenth event is sent again 3 s later."""
    raw, kept = [], []
    for number in range(REPLAY_LINES * 10 // 11):
        time = 1_709_251_200 + number * 7919 % REPLAY_LINES * 43
        line = f"{time},R0-008,2"
        raw.append(line)
        kept.append(line)
        if number % 10 == 9:
            raw.append(f"{time + 3},R0-008,2")
    return raw, kept


def problems(scratch: Path) -> list[str]:
    found = []
    status, out = run("-c", DRIVER, json.dumps(CASES))
    try:
        got = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        got = None
    if status != 0 or not isinstance(got, list) or len(got) != len(CASES):
        found.append(f"collapse_repeats ended with exit {status}")
        got = [None] * len(CASES)
    for (seconds, events, positions), result in zip(CASES, got, strict=True):
        want = [list(events[position]) for position in positions]
        if result != want:
            found.append(f"collapse_repeats({events}, {seconds}): {result}, not {want}")

    raw, cleaned = scratch / "raw.csv", scratch / "cleaned.csv"
    raw.write_text("50,N4-001,2\n70,N4-001,2\n20,N4-001,0\n30,N4-001,5\n", encoding="utf-8")
    status, out = run("-m", "roadcount", "clean", str(raw), str(cleaned))
    text = cleaned.read_text(encoding="utf-8") if cleaned.exists() else ""
    if (status, out, text) != (0, "4 read, 3 kept\n", "50,N4-001,2\n70,N4-001,2\n30,N4-001,5\n"):
        found.append(f"clean without --collapse: exit {status}, {out!r}, {text[:200]!r}")
    cleaned.unlink(missing_ok=True)

    lines, kept = month()
    raw.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    status, out = run("-m", "roadcount", "clean", str(raw), str(cleaned), "--collapse", "4", limit_s=REPLAY_LIMIT_S)
    if status is None:
        found.append(f"clean --collapse of {len(lines)} lines took more than {REPLAY_LIMIT_S} s and was killed")
        return found
    got_lines = cleaned.read_text(encoding="utf-8").splitlines() if cleaned.exists() else []
    if status != 0 or out != f"{len(lines)} read, {len(kept)} kept\n" or got_lines != kept:
        found.append(f"clean --collapse 4 of {len(lines)} lines: exit {status}, {out[:100]!r}, {len(got_lines)} kept, not {len(kept)}")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=ROOT) as scratch:
        found = problems(Path(scratch))
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
