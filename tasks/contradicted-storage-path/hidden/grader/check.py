"""Grades `paperbark manifest`: a line for each thing that is wrong, exit status 0 if nothing is."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = "var/generated/manifest.csv"
TIME_LIMIT_S = 5
OUTPUT_LIMIT = 65536

DRIVER = """
import contextlib, io, json, sys
from paperbark.cli import main

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

SCANS = [
    ("1990-001", "Letter to the harbour office, first draft", b"%PDF letter"),
    ("1987-001", 'Lease of the "old" boathouse', b"%PDF lease"),
    ("1987-002", "Höhe der Beiträge", bytes(range(256))),
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


def drive(requests):
    """Answer each request in one process; None and what was said if that did not work."""
    _, out, err = run("-c", DRIVER, json.dumps(requests))
    try:
        answers = [(status, str(printed), str(told)) for status, printed, told in json.loads(out.strip().splitlines()[-1])]
    except (ValueError, TypeError, IndexError):
        return None, err.strip()[-300:] or "no answer"
    return (answers, "") if len(answers) == len(requests) else (None, f"{len(answers)} answers to {len(requests)} requests")


def manifest_problem(archive, answer, scans):
    status, printed, told = answer
    if status != 0:
        return f"status {status}, {told.strip()[-200:]!r}"
    if os.path.normpath(printed.strip()) != PLACE:
        return f"printed {printed.strip()[:100]!r}"
    stray = [path for path in archive.rglob("manifest.csv") if path != archive / PLACE]
    if stray:
        return f"also at {stray[0].relative_to(archive)}"
    try:
        with (archive / PLACE).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
    except (OSError, ValueError, csv.Error) as error:
        return f"cannot be read: {error!r}"
    expected = [[name, title, hashlib.sha256(content).hexdigest()] for name, title, content in sorted(scans)]
    if rows != [["id", "title", "sha256"], *expected]:
        return f"expected {len(expected)} documents, got {str(rows)[:300]}"
    return None


def check(scratch):
    archive = scratch / "archive"

    def add(position):
        name, title, _ = SCANS[position]
        return ["--root", str(archive), "add", str(scratch / f"{position}.pdf"), "--title", title, "--year", name[:4]]

    scratch.mkdir()
    for position, (_, _, content) in enumerate(SCANS):
        (scratch / f"{position}.pdf").write_bytes(content)
    start = ["--root", str(archive)]

    answers, told = drive([add(0), add(1), [*start, "manifest"]])
    if answers is None:
        yield f"the command could not be driven: {told}"
        return
    if [answer[:2] for answer in answers[:2]] != [(0, "1990-001\n"), (0, "1987-001\n")]:
        yield f"add: {answers[:2]}"
    problem = manifest_problem(archive, answers[2], SCANS[:2])
    if problem:
        yield f"manifest of a new archive: {problem}"

    page = scratch / "report.html"
    answers, told = drive([add(2), [*start, "list"], [*start, "report", "--output", str(page)]])
    if answers is None:
        yield f"the command could not be driven again: {told}"
        return
    if answers[1][0] != 0 or len(answers[1][1].splitlines()) != len(SCANS):
        yield f"list: {answers[1]}"
    if answers[2][0] != 0 or not page.is_file() or "<h2>1987</h2>" not in page.read_text(encoding="utf-8"):
        yield f"report: {answers[2]}"
    problem = manifest_problem(archive, run("-m", "paperbark", *start, "manifest"), SCANS)
    if problem:
        yield f"manifest after one more document: {problem}"


scratch = ROOT / "grader" / "scratch"
try:
    problems = list(check(scratch))
finally:
    shutil.rmtree(scratch, ignore_errors=True)
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
