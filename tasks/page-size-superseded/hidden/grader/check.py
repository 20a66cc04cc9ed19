"""Grades the paging of listings: a line for each thing that is wrong, exit status 0 if nothing is."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = 84
TIME_LIMIT_S = 5
OUTPUT_LIMIT = 262144

DRIVER = """
import contextlib, io, json, sys
from partbook.cli import main

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

NUMBERS = [f"P{place:03}" for place in range(1, 3 * ROWS - 10)]
IN_C = [number for place, number in enumerate(NUMBERS) if place % 2]
EMPTY = []

# Arguments of `list`, part numbers on the page, last line.
PAGES = [
    ([], NUMBERS[:ROWS], "page 1 of 3"),
    (["--page", "2"], NUMBERS[ROWS : 2 * ROWS], "page 2 of 3"),
    (["--page", "3"], NUMBERS[2 * ROWS :], "page 3 of 3"),
    (["--bin", "C", "--page", "2"], IN_C[ROWS:], "page 2 of 2"),
    (["--page", "4", "--page-size", "7"], NUMBERS[21:28], f"page 4 of {-(-len(NUMBERS) // 7)}"),
    (["--page-size", "1000"], NUMBERS, "page 1 of 1"),
    (["--match", "no such thing"], EMPTY, "page 1 of 1"),
]
REFUSED = [["--page", "4"], ["--page", "9", "--page-size", "100"]]


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


def check_listing(out, numbers, last):
    lines = out.rstrip().splitlines()
    if len(lines) < 2 or lines[0].split() != ["number", "bin", "stock", "name"]:
        return f"no listing with a heading: {out[:100]!r}"
    shown = [line.split()[0] for line in lines[1:-1] if line.strip()]
    if shown != numbers:
        return f"expected {len(numbers)} parts from {numbers[:1]}, got {len(shown)} from {shown[:1]}"
    if lines[-1].strip() != last:
        return f"expected the last line {last!r}, got {lines[-1][:100]!r}"
    return None


def check():
    catalogue = ROOT / "grader" / "parts.csv"
    rows = [f"{number},Valve {place},{'BC'[place % 2]}{place:03},{place},5,2" for place, number in enumerate(NUMBERS)]
    catalogue.write_text("\n".join(["number,name,bin,stock,minimum,pack", *rows, ""]), encoding="utf-8")
    start = ["--catalogue", str(catalogue)]
    requests = [[*start, "list", *arguments] for arguments, _, _ in PAGES]
    requests += [[*start, "list", *arguments] for arguments in REFUSED]
    requests += [[*start, "show", "p007"], [*start, "reorder"]]
    _, out, err = run("-c", DRIVER, json.dumps(requests))
    try:
        answers = json.loads(out.strip().splitlines()[-1])
        answers = [(status, str(printed), str(told)) for status, printed, told in answers]
    except (ValueError, TypeError, IndexError):
        yield f"the command could not be driven: {err.strip()[-300:] or 'no answer'}"
        return
    if len(answers) != len(requests):
        yield f"{len(requests)} requests, {len(answers)} answers"
        return
    *listings, show, reorder = answers
    for (arguments, numbers, last), (status, printed, told) in zip(PAGES, listings, strict=False):
        problem = check_listing(printed, numbers, last) if status == 0 else f"status {status}, {told[-200:]!r}"
        if problem:
            yield f"list {' '.join(arguments)}: {problem}"
    for arguments, (status, printed, told) in zip(REFUSED, listings[len(PAGES) :], strict=True):
        if status != 2 or printed.strip() or not told.startswith("partbook: "):
            yield f"list {' '.join(arguments)}: expected an error, got status {status}, {printed[:60]!r}, {told[-200:]!r}"
    if show[0] != 0 or not show[1].startswith("P007: Valve 6\n"):
        yield f"show: {show}"
    if reorder[:2] != (0, "3\tP001\n2\tP002\n2\tP003\n1\tP004\n1\tP005\n"):
        yield f"reorder: {reorder}"

    status, out, err = run("-m", "partbook", *start, "list")
    problem = check_listing(out, NUMBERS[:ROWS], "page 1 of 3") if status == 0 else f"status {status}, {err[-200:]!r}"
    if problem:
        yield f"python -m partbook list: {problem}"


problems = list(check())
(ROOT / "grader" / "parts.csv").unlink(missing_ok=True)
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
