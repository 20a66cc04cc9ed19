"""Has `python -m herdbook export` write a month with many gaps as CSV, and compares every cell."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

GAP = "$NIL"
COLUMNS = ["farm", "ear_tag", "day", "milk_kg", "fat_pct", "protein_pct", "cells", "dry", "remark"]
failures = []


def run(*arguments):
    """Run herdbook and give its exit status and output; a status of None stands for a run that had to be stopped."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "herdbook", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=4,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:100_000].decode("utf-8", "replace")


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: expected {wanted!r}, found {found!r}"[:400])


def table(text):
    return list(csv.reader(io.StringIO(text)))


def numeric(row):
    """Read the cells of numbers as numbers where they are, so that 30, 30.0 and 30.00 are the same."""
    cells = list(row)
    for place in range(3, 7):
        try:
            cells[place] = float(cells[place])
        except (IndexError, ValueError):
            pass
    return cells


# Everything known but one column, once left out and once null; and rows with much, nothing and falsy things known.
full = dict(zip(COLUMNS, ["0100", "AT 1", "2023-11-05", 25.5, 4.25, 3.5, 140, True, "calm"]))
cells = ["0100", "AT 1", "2023-11-05", 25.5, 4.25, 3.5, 140.0, "yes", "calm"]
entries, rows = [], []
for place, column in list(enumerate(COLUMNS))[3:]:
    for how, tag in (("left out", "A"), ("null", "B")):
        entry = full | {"ear_tag": f"AT 2{place}{tag}", column: None}
        if how == "left out":
            del entry[column]
        entries.append(entry)
        rows.append([GAP if at == place else entry["ear_tag"] if at == 1 else cell for at, cell in enumerate(cells)])
entries.append({"farm": "0200", "ear_tag": "AT 3", "day": "2023-11-06"})
rows.append(["0200", "AT 3", "2023-11-06"] + [GAP] * 6)
entries.append(dict(zip(COLUMNS, ["0300", "AT 4", "2023-11-07", 0.0, None, None, 0, False, ""])))
rows.append(["0300", "AT 4", "2023-11-07", 0.0, GAP, GAP, 0.0, "no", ""])
entries.append(dict(zip(COLUMNS, ["0400", "AT 5", "2023-11-08", 30.0, 4.0, 3.0, 90, False, 'lame, "left" hind'])))
rows.append(["0400", "AT 5", "2023-11-08", 30.0, 4.0, 3.0, 90.0, "no", 'lame, "left" hind'])

with tempfile.TemporaryDirectory(dir=".") as folder:
    month = pathlib.Path(folder) / "2023-11.jsonl"
    month.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    status, out = run("export", month, "--format", "csv")
    expect("export --format csv, exit status", status, 0)
    try:
        header, *found = table(out)
    except (ValueError, csv.Error):
        header, found = [], []
    expect("header", header, COLUMNS)
    expect("number of rows", len(found), len(rows))
    for number, wanted in enumerate(rows):
        expect(f"recording of {wanted[1]}", numeric(found[number]) if number < len(found) else None, wanted)

    for options in ([], ["--format", "json"]):
        what = " ".join(["export", *options])
        status, out = run("export", month, *options)
        expect(f"{what}, exit status", status, 0)
        try:
            found = json.loads(out)
        except ValueError:
            found = None
        expect(f"{what}, array", found, [{column: entry.get(column) for column in COLUMNS} for entry in entries])

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
