"""The live watch has the new levels; the other gauges, the other site and drills have the levels they had."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LIVE = {
    "assess harbour-north 4.34": "calm",
    "assess harbour-north 4.35": "warning",
    "assess harbour-north 4.79": "warning",
    "assess harbour-north 4.80": "alarm",
    "assess lock-west 3.09 --minutes 90": "calm",
    "assess lock-west 3.10 --minutes 19": "calm",
    "assess lock-west 3.10 --minutes 20": "warning",
    "assess lock-west 3.45": "alarm",
    "assess lock-west 3.45 --text": "Lock, west gate: ALARM at 3.45 m, close the gates",
    "assess harbour-south 4.15 --minutes 10": "warning",
    "assess harbour-south 4.59 --minutes 9": "calm",
    "assess harbour-south 4.60": "alarm",
    "assess ferry-slip 3.75 --minutes 15": "warning",
    "assess ferry-slip 4.25": "alarm",
    "drill harbour-north 4.04": "DRILL calm",
    "drill harbour-north 4.05": "DRILL warning",
    "drill harbour-north 4.50": "DRILL alarm",
    "drill ferry-slip 4.10": "DRILL alarm",
}
ESTUARY = {
    "assess harbour-north 4.40 --minutes 30": "warning",
    "assess harbour-north 4.89 --minutes 29": "calm",
    "assess harbour-north 4.90": "alarm",
    "assess weir 2.30": "warning",
}

DRIVER = """
import contextlib, io, json, sys
from tidewatch.__main__ import main
got = {}
for case in json.loads(sys.argv[1]):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = main(case.split())
    except SystemExit as exit:
        status = exit.code
    got[case] = out.getvalue().strip() if status == 0 else f"exit {status}"
print(json.dumps(got))
"""


def run(*args: str, site: str | None = None) -> tuple[int | None, str]:
    """Exit status (None after 8 s) and the first part of the output of a Python command in the graded copy."""
    env = {name: value for name, value in os.environ.items() if name != "TIDEWATCH_SITE"}
    if site is not None:
        env["TIDEWATCH_SITE"] = site
    try:
        done = subprocess.run(
            [sys.executable, "-B", *args], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=8
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:20000].decode(errors="replace")


def compare(expected: dict[str, str], site: str | None) -> list[str]:
    status, out = run("-c", DRIVER, json.dumps(list(expected)), site=site)
    try:
        got = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        got = None
    if status != 0 or not isinstance(got, dict):
        return [f"{site or 'live'}: the readings ended with exit {status}"]
    return [f"{site or 'live'}: {case}: {got.get(case)!r}, not {want!r}" for case, want in expected.items() if got.get(case) != want]


def problems() -> list[str]:
    found = compare(LIVE, None) + compare(ESTUARY, "estuary")
    status, out = run("-m", "tidewatch", "assess", "lock-west", "3.2", "--minutes", "45")
    if (status, out.strip()) != (0, "warning"):
        found.append(f"python3 -m tidewatch assess lock-west 3.2 --minutes 45: exit {status}, {out.strip()!r}")
    return found


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
