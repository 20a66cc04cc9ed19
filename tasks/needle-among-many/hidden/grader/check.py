"""With --mask-phones, and only then, phone numbers are in the house format; all other cells are as they were."""

import csv
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

HEADER = ["reference", "sailing", "name", "phone", "passengers", "vehicle"]
PHONES = {
    "01632 960901": "withheld:01",
    "+44 20 7946 0958": "withheld:58",
    "(0131) 496-03 7 4": "withheld:74",
    "+49.30.23125.600": "withheld:00",
    "07700/900-888 ": "withheld:88",
    "": "",
    "999": "withheld:99",
}


def run(*args: str) -> tuple[int | None, str]:
    """Exit status (None after 8 s) and the first part of the output of a Python command in the graded copy."""
    command = [sys.executable, "-B", "-X", "utf8", "-m", "ferrydesk", *args]
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=8)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:50000].decode(errors="replace")


def compare(name: str, expected: list[list[str]], *args: str) -> list[str]:
    status, out = run("export", *args)
    rows = list(csv.reader(io.StringIO(out)))
    if status != 0 or len(rows) != len(expected):
        return [f"{name}: exit {status}, {len(rows)} rows, not {len(expected)}"]
    return [f"{name}: {row}, not {want}" for row, want in zip(rows, expected, strict=True) if row != want]


def problems(scratch: Path) -> list[str]:
    night = []
    for number, phone in enumerate(PHONES):
        night.append(
            {
                "reference": f"QZ{number}A77",
                "sailing": "Mallaig-Eigg 2024-08-19 16:05",
                "name": f"Passenger {number}, of 04471 {number}",
                "phone": phone,
                "passengers": number + 1,
                "vehicle": ("none", "bike", "car", "van")[number % 4],
                "checked_in": number % 3 == 0,
            }
        )
    path = scratch / "night.json"
    path.write_text(json.dumps(night), encoding="utf-8")
    plain = [[str(booking[column]) for column in HEADER] for booking in night]
    masked = [[PHONES[cell] if column == "phone" else cell for column, cell in zip(HEADER, row, strict=True)] for row in plain]
    absent = [row for row, booking in zip(masked, night, strict=True) if not booking["checked_in"]]

    found = compare("export", [HEADER, *plain], str(path))
    found += compare("export --mask-phones", [HEADER, *masked], str(path), "--mask-phones")
    found += compare("export --no-shows --mask-phones", [HEADER, *absent], str(path), "--no-shows", "--mask-phones")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=ROOT) as scratch:
        found = problems(Path(scratch))
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
