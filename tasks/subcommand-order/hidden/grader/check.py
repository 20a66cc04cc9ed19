"""Does run-all go through the steps in the night shift's order, whatever it was asked for, and leave the single steps as they were?"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
ROUND = "inventory reseal label probe sweep defrost".split()
STORE = {
    "units": [
        {"name": "N", "temp_c": 5.5, "limit_c": 3.0, "frost_mm": 9, "gasket": "worn", "warm": False},
        {"name": "S", "temp_c": 1.0, "limit_c": 3.0, "frost_mm": 2, "gasket": "worn", "warm": True},
    ],
    "crates": [
        {"number": 70, "product": "pears", "unit": "N", "kg": 0},
        {"number": None, "product": "pears", "unit": "N", "kg": 5},
        {"number": None, "product": "apples", "unit": "S", "kg": 0},
    ],
}
WHOLE_ROUND = [
    "inventory: apples 1",
    "inventory: pears 2",
    "reseal: N",
    "reseal: S",
    "label: 71 for pears in N",
    "label: 72 for apples in S",
    "probe: N is 2.5 degrees too warm",
    "sweep: 2 empty crates",
    "defrost: N, 9 mm",
]
STORE_AFTER = {
    "units": [
        {"name": "N", "temp_c": 5.5, "limit_c": 3.0, "frost_mm": 0, "gasket": "good", "warm": True},
        {"name": "S", "temp_c": 1.0, "limit_c": 3.0, "frost_mm": 2, "gasket": "good", "warm": False},
    ],
    "crates": [{"number": 71, "product": "pears", "unit": "N", "kg": 5}],
}


def run(*arguments: str) -> tuple[int | None, list[str], object]:
    """Run coldroom on a fresh store; give its exit status (None: too slow), stdout's lines, and the store afterwards."""
    with tempfile.TemporaryDirectory(dir=REPO) as directory, tempfile.TemporaryFile(dir=REPO) as out:
        path = Path(directory) / "night.json"
        path.write_text(json.dumps(STORE))
        command = [sys.executable, "-m", "coldroom", "--store", str(path), *arguments]
        try:
            status = subprocess.run(
                command, cwd=REPO, env=os.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=4
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        out.seek(0)
        lines = out.read(20_000).decode(errors="replace").splitlines()
        try:
            after = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            after = f"unreadable: {error}"
    return status, lines, after


def main() -> int:
    problems = []

    def expect(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            problems.append(f"{what}: found {found!r}, expected {wanted!r}")

    status, lines, after = run("run-all")
    expect("run-all, exit status", status, 0)
    expect("run-all, lines", lines, WHOLE_ROUND)
    expect("run-all, store", after, STORE_AFTER)

    status, lines, after = run("run-all", "--only", "defrost,probe,inventory,sweep,label", "--dry-run")
    expect("dry run of five, exit status", status, 0)
    expect("dry run of five, lines", lines, [name for name in ROUND if name != "reseal"])
    expect("dry run of five, store", after, STORE)

    status, lines, after = run("run-all", "--only", "sweep,polish")
    expect("unknown name, exit status", status, 2)
    expect("unknown name, lines", lines, [])
    expect("unknown name, store", after, STORE)

    status, lines, after = run("reseal")
    expect("a single step, exit status", status, 0)
    expect("a single step, lines", lines, ["reseal: N", "reseal: S"])
    expect("a single step, store", after, {**STORE, "units": [{**unit, "gasket": "good"} for unit in STORE["units"]]})

    print("\n".join(problems) or "all expectations met")
    return 1 if problems else 0


sys.exit(main())
