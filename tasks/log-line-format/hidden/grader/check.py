"""Does every record come out as one line of the house format, and is the rest of the program as before?"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
DELIVERIES = "grader/deliveries.csv"
CHECK_LINES = [
    'sev=6 orig=millrace.loader text="read 5 rows from deliveries.csv"',
    'sev=7 orig=millrace.rules text="line 2 accepted: K-7"',
    r'sev=4 orig=millrace.rules text="line 3 rejected: unknown mill \"Old Mill\""',
    'sev=4 orig=millrace.rules text="line 4 rejected: ticket K-7 was used before"',
    'sev=4 orig=millrace.rules text="line 5 rejected: moisture 14.2 is over 14.0 for oats"',
    'sev=7 orig=millrace.rules text="line 6 accepted: K-10"',
]
REPORT = ["Heath Mill   oats         5000 kg", "rejected rows: 3"]
MISSING_LINES = ['sev=3 orig=millrace.cli text="nowhere.csv cannot be read: No such file or directory"']
DRIVER = """
import logging
from millrace import logs

logs.configure(-1)
logging.getLogger("millrace").critical("out of %s", "disk")
logging.getLogger("millrace.a.b").error("first\\nsecond\\ttab")
logging.getLogger("millrace.a").info("not to be seen")
logging.getLogger("millrace.a").warning('a "%d%%" \\\\ slash', 80)
logs.configure(0)
logging.getLogger("millrace.late").info("once")
"""
DRIVER_LINES = [
    'sev=2 orig=millrace text="out of disk"',
    r'sev=3 orig=millrace.a.b text="first\nsecond\ttab"',
    r'sev=4 orig=millrace.a text="a \"80%\" \\ slash"',
    'sev=6 orig=millrace.late text="once"',
]


def run(*arguments: str) -> tuple[int | None, list[str], list[str]]:
    """Run Python on the graded copy; give its exit status (None: too slow) and the lines of stdout and of stderr."""
    with tempfile.TemporaryFile(dir=REPO) as out, tempfile.TemporaryFile(dir=REPO) as err:
        try:
            status = subprocess.run(
                [sys.executable, *arguments], cwd=REPO, env=os.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=8
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(20_000).decode(errors="replace").splitlines())
        return status, *texts


def main() -> int:
    problems = []

    def expect(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            problems.append(f"{what}: found {found!r}, expected {wanted!r}")

    status, out, err = run("-m", "millrace", DELIVERIES, "-v")
    expect("exit status with rejected rows", status, 1)
    expect("report", out, REPORT)
    expect("log lines with -v", err, CHECK_LINES)

    status, out, err = run("-m", "millrace", "grader/nowhere.csv", "-q")
    expect("exit status without a file", status, 2)
    expect("report without a file", out, [])
    expect("log lines without a file", err, MISSING_LINES)

    status, out, err = run("-c", DRIVER)
    expect("exit status of direct use", status, 0)
    expect("log lines of direct use", err, DRIVER_LINES)

    print("\n".join(problems) or "all expectations met")
    return 1 if problems else 0


sys.exit(main())
