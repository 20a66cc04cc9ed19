"""Drives `python -m lotbook` with a ledger of known lots and counts what `export` lets through."""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

DEFAULT = 640
LOTS = 1530
failures = []


def run(*arguments):
    """Run lotbook and give its exit status and output; a status of None stands for a run that had to be stopped."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "lotbook", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=4,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:1_000_000].decode("utf-8", "replace")


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: expected {short(wanted)}, found {short(found)}")


def short(value):
    if isinstance(value, list) and len(value) > 4:
        return f"{len(value)} lots from {value[0]!r} to {value[-1]!r}"
    return repr(value)[:200]


def code(number):
    return f"G25-{number:05}"


# Two lots in three are wheat, the third one spelt; dates rise, with two lots a day.
start = datetime.date(2021, 1, 1)
numbers = range(1, LOTS + 1)
lines = [
    json.dumps({
        "code": code(number),
        "product": "wheat" if number % 3 else "spelt",
        "kg": 100 + number,
        "packed": str(start + datetime.timedelta(days=number // 2)),
    })
    for number in numbers
]
newest = list(reversed(numbers))
wheat = [number for number in newest if number % 3]
spelt = [number for number in newest if not number % 3]
assert len(wheat) > DEFAULT > len(spelt)

with tempfile.TemporaryDirectory(dir=".") as folder:
    ledger = str(pathlib.Path(folder) / "ledger.jsonl")
    pathlib.Path(ledger).write_text("\n".join(lines) + "\n", encoding="utf-8")

    status, out = run("export", ledger)
    expect("export, exit status", status, 0)
    expect("export, header", out.partition("\n")[0], "code;product;kg;packed")
    expect("export without --limit", [row.split(";")[0] for row in out.splitlines()[1:]], [code(n) for n in newest[:DEFAULT]])

    status, out = run("export", ledger, "--format", "jsonl", "--product", "wheat")
    expect("export of wheat as jsonl, exit status", status, 0)
    try:
        found = [json.loads(row)["code"] for row in out.splitlines()]
    except (ValueError, KeyError, TypeError) as error:
        found = f"unreadable: {error}"
    expect("export of wheat as jsonl without --limit", found, [code(n) for n in wheat[:DEFAULT]])

    status, out = run("export", ledger, "--limit", "0")
    expect("export --limit 0, exit status", status, 0)
    expect("export --limit 0", [row.split(";")[0] for row in out.splitlines()[1:]], [code(n) for n in newest])

    status, out = run("export", ledger, "--product", "spelt", "--limit", "7")
    expect("export of spelt, --limit 7, exit status", status, 0)
    expect("export of spelt, --limit 7", [row.split(";")[0] for row in out.splitlines()[1:]], [code(n) for n in spelt[:7]])

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
