"""Is an order from the team's cut-off on counted for the following day, to the second and in every zone?"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
CUT_OFF = "10:40"  # UTC
HOLIDAY = "2031-06-09"
DATES = {
    "2031-06-03T00:00:00+00:00": "2031-06-04",
    f"2031-06-03T{CUT_OFF}:00+00:00": "2031-06-05",
    "2031-06-03T10:39:59.999999+00:00": "2031-06-04",
    "2031-06-03T10:39:00+00:00": "2031-06-04",
    "2031-06-03T10:41:00+00:00": "2031-06-05",
    "2031-06-03T13:05:00+00:00": "2031-06-05",
    "2031-06-03T23:59:59+00:00": "2031-06-05",
    "2031-06-03T22:30:00-05:00": "2031-06-05",
    "2031-06-04T07:00:00-04:00": "2031-06-06",
    "2031-06-04T20:30:00+10:00": "2031-06-05",
    "2031-06-06T10:39:00+00:00": "2031-06-10",
    "2031-06-07T10:41:00+00:00": "2031-06-10",
    "2031-06-08T10:39:00+00:00": "2031-06-10",
    "2031-06-09T10:39:00+00:00": "2031-06-10",
    "2031-06-09T10:40:00+00:00": "2031-06-11",
}
SCHEDULE = [
    "2031-06-03  s-1           94.00",
    "2031-06-03  s-2           47.00",
    "2031-06-04  s-1            2.82",
    "2031-06-04  s-2          188.00",
    "2031-06-10  s-3            8.46",
]
BALANCE = ["s-1           96.82", "s-2          235.00", "s-3            8.46"]
DRIVER = """
import json, sys
from datetime import date, datetime
from stallpay.schedule import payout_date

moments, holiday = json.loads(sys.argv[1])
holidays = frozenset([date.fromisoformat(holiday)])
print(json.dumps({moment: payout_date(datetime.fromisoformat(moment), holidays).isoformat() for moment in moments}))
"""


def run(*arguments: str) -> tuple[int | None, str]:
    """Run Python on the graded copy; give its exit status (None: too slow) and the beginning of its stdout."""
    with tempfile.TemporaryFile(dir=REPO) as out:
        try:
            status = subprocess.run(
                [sys.executable, *arguments], cwd=REPO, env=os.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=5
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        out.seek(0)
        return status, out.read(20_000).decode(errors="replace")


def main() -> int:
    problems = []

    def expect(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            problems.append(f"{what}: found {found!r}, expected {wanted!r}")

    status, printed = run("-c", DRIVER, json.dumps([list(DATES), HOLIDAY]))
    expect("payout_date, exit status", status, 0)
    try:
        dates = json.loads(printed)
    except ValueError:
        dates = {}
        problems.append(f"payout_date: no dates in {printed[:200]!r}")
    for moment, day in DATES.items():
        expect(f"payout date of {moment}", dates.get(moment) if isinstance(dates, dict) else None, day)

    for command, lines in (("schedule", SCHEDULE), ("balance", BALANCE)):
        status, printed = run("-m", "stallpay", command, "grader/orders.csv", "--holidays", "grader/holidays.txt")
        expect(f"{command}, exit status", status, 0)
        expect(command, printed.splitlines(), lines)

    print("\n".join(problems) or "all expectations met")
    return 1 if problems else 0


sys.exit(main())
