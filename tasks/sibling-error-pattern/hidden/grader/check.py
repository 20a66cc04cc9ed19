"""`hivelog peaks` prints peaks, and treats bad logs as the other commands over several logs do."""

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
LOGS = REPO / "grader" / "logs"

LOG_TEXTS = {
    "oak.log": "# hive 3\n2025-06-01T06:00;38.125\n2025-06-01T14:00;39.5\n2025-06-01T20:00;39.50\n2025-06-02T06:00;38.9\n",
    "elm.log": "2025-06-01T06:00;102.5\n2025-06-02T06:00;9.75\n",
    "torn.log": "2025-06-01T06:00;40.0\n2025-06-01T07:00;41.0\n2025-06-01T08:0",
    "bare.log": "# hive 9, scale not connected\n\n",
}
OAK = "grader/logs/oak.log\t2025-06-01T14:00\t39.50"
ELM = "grader/logs/elm.log\t2025-06-01T06:00\t102.50"
TORN = "hivelog: skipped grader/logs/torn.log:3: not a reading"
GONE = "hivelog: skipped grader/logs/gone.log: no such log"
BARE = "hivelog: skipped grader/logs/bare.log: "

# command, logs, exit status, stdout, stderr (a line that ends in ": " stands for any line that begins so)
CASES = [
    ("peaks", ["elm", "oak"], 0, [ELM, OAK], []),
    ("peaks", ["oak", "torn", "gone", "bare", "elm"], 3, [OAK, ELM], [TORN, GONE, BARE, "hivelog: 3 of 5 logs skipped"]),
    ("peaks", ["gone", "torn"], 4, [], [GONE, TORN, "hivelog: 2 of 2 logs skipped"]),
    (
        "stats",
        ["torn", "elm", "bare"],
        3,
        ["grader/logs/elm.log\t2\t9.75\t102.50", "grader/logs/bare.log\t0\t-\t-"],
        [TORN, "hivelog: 1 of 3 logs skipped"],
    ),
]


def run(argv, timeout_s=4):
    """Exit status (None if it did not end by itself) and the lines of stdout and stderr."""
    try:
        done = subprocess.run(argv, cwd=REPO, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, [], [str(error)[-200:]]
    return done.returncode, *(text[:20_000].decode(errors="replace").splitlines() for text in (done.stdout, done.stderr))


def agrees(lines, expected):
    return len(lines) == len(expected) and all(
        line == wanted or (wanted.endswith(": ") and line.startswith(wanted)) for line, wanted in zip(lines, expected)
    )


def main():
    LOGS.mkdir(exist_ok=True)
    for name, text in LOG_TEXTS.items():
        (LOGS / name).write_text(text)

    failed = False
    for command, names, status, out, err in CASES:
        got_status, got_out, got_err = run(["node", "bin/hivelog.js", command, *(f"grader/logs/{name}.log" for name in names)])
        where = f"{command} {' '.join(names)}"
        if got_status != status:
            print(f"{where}: exit status {got_status}, expected {status}")
            failed = True
        for stream, got, expected in (("stdout", got_out, out), ("stderr", got_err, err)):
            if not agrees(got, expected):
                print(f"{where}: {stream} is {got!r:.300}, expected {expected}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
