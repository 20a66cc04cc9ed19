"""Grades `tidegate scrape-config`: a line for each thing that is wrong, exit status 0 if nothing is."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PORT = 9318
TIME_LIMIT_S = 5
OUTPUT_LIMIT = 65536

DRIVER = """
import contextlib, io, json, sys
from tidegate.cli import main

answers = []
for argv in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(argv) or 0
        except SystemExit as end:
            status = end.code or 0
        except Exception as error:
            status = repr(error)
    answers.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""

# Arguments of `scrape-config` and the targets that it prints.
CONFIGS = [
    (["lock-1"], [f"lock-1:{PORT}"]),
    (["lock-7", "lock-2.canal.example", "lock-4"], [f"lock-7:{PORT}", f"lock-2.canal.example:{PORT}", f"lock-4:{PORT}"]),
    (["lock-3", "lock-1", "lock-3"], [f"lock-3:{PORT}", f"lock-1:{PORT}"]),
    (["--port", "4100", "lock-1", "lock-2"], ["lock-1:4100", "lock-2:4100"]),
]


def run(*arguments):
    """Run Python in the graded copy; give exit status, standard output and standard error, or None after a timeout."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return None, "", "timed out"
    out, err = (stream[:OUTPUT_LIMIT].decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, out, err


def config_problem(status, out, err, targets):
    if status != 0:
        return f"status {status}, {err.strip()[-200:]!r}"
    try:
        config = json.loads(out)
    except ValueError:
        return f"not JSON: {out[:100]!r}"
    if config != [{"targets": targets, "labels": {"job": "tidegate"}}]:
        return f"expected the targets {targets}, got {out.strip()[:300]!r}"
    return None


def check():
    gauges = ROOT / "grader" / "gauges.json"
    gauges.write_text('[{"name": "upper", "zero_mm": 1250, "readings": [1730, 1734, 9999]}]', encoding="utf-8")
    requests = [["scrape-config", *arguments] for arguments, _ in CONFIGS]
    requests += [["scrape-config"], ["check", str(gauges)]]
    _, out, err = run("-c", DRIVER, json.dumps(requests))
    gauges.unlink()
    try:
        answers = json.loads(out.strip().splitlines()[-1])
        answers = [(status, str(printed), str(told)) for status, printed, told in answers]
    except (ValueError, TypeError, IndexError):
        yield f"the command could not be driven: {err.strip()[-300:] or 'no answer'}"
        return
    if len(answers) != len(requests):
        yield f"{len(requests)} requests, {len(answers)} answers"
        return
    for (arguments, targets), answer in zip(CONFIGS, answers, strict=False):
        problem = config_problem(*answer, targets)
        if problem:
            yield f"scrape-config {' '.join(arguments)}: {problem}"
    if answers[-2][0] != 2 or answers[-2][1].strip():
        yield f"scrape-config without hosts: status {answers[-2][0]}, {answers[-2][1][:100]!r}"
    if answers[-1][:2] != (0, "upper: 484 mm\n"):
        yield f"check: status {answers[-1][0]}, {answers[-1][1][:100]!r}"

    problem = config_problem(*run("-m", "tidegate", "scrape-config", "lock-9"), [f"lock-9:{PORT}"])
    if problem:
        yield f"python -m tidegate scrape-config lock-9: {problem}"


problems = list(check())
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
