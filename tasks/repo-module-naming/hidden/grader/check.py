"""Marlow's quotes are right, the month-end list has it on its ledger, and nothing else moved."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

QUOTES = {
    "marlow 0.3 A": [0, "4.10"],
    "marlow 2 A": [0, "4.10"],
    "marlow 3.2 B": [0, "6.96"],
    "marlow 10.5 C": [0, "17.04"],
    "marlow 40 A": [0, "36.40"],
    "marlow 40.1 A": [1, ""],
    "post 2.1 B": [0, "9.92"],
    "kestrel 7.5 C": [0, "13.49"],
    "northline 120 B": [0, "64.35"],
    "northline 40 C": [1, ""],
}
SETTLED = [
    "4031;post;UP-2019-4402-R3",
    "4038;kestrel;KC-118",
    "4052;northline;2023/0771",
    "4067;marlow;MF-2024-06-381",
]
CARRIERS = {"kestrel": "Kestrel Couriers", "marlow": "Marlow Freight", "northline": "Northline Cargo", "post": "Union Post"}

DRIVER = """
import contextlib, io, json, sys
from parcelrate.__main__ import main
got = {}
for case in json.loads(sys.argv[1]):
    carrier, kg, zone = case.split()
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main(["quote", carrier, "--kg", kg, "--zone", zone])
    got[case] = [status, out.getvalue().strip()]
print(json.dumps(got))
"""


def run(*args: str) -> tuple[int | None, str]:
    """Exit status (None after 8 s) and the first part of the output of a Python command in the graded copy."""
    try:
        done = subprocess.run([sys.executable, "-B", *args], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=8)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:20000].decode(errors="replace")


def problems() -> list[str]:
    found = []
    status, out = run("-c", DRIVER, json.dumps(list(QUOTES)))
    try:
        got = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        got = {}
    if not isinstance(got, dict) or status != 0:
        found.append(f"the quotes ended with exit {status}")
        got = {}
    found += [f"quote {case}: {got.get(case)}, not {want}" for case, want in QUOTES.items() if got.get(case) != want]

    status, out = run("-m", "parcelrate", "carriers")
    listed = {key: name for key, _, name in (" ".join(line.split()).partition(" ") for line in out.splitlines())}
    if status != 0 or listed != CARRIERS:
        found.append(f"carriers: exit {status}, {listed}, not {CARRIERS}")

    status, out = run("tools/settlement.py")
    if status != 0 or out.splitlines() != SETTLED:
        found.append(f"settlement: exit {status}, {out.splitlines()}, not {SETTLED}")
    return found


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
