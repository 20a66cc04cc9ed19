"""ferrytimes reads XML timetables, with nothing that the import policy forbids."""

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
FILES = REPO / "grader" / "files"

# Runs `python -m ferrytimes` with the policy enforced: a forbidden import fails, and is told on stderr at the end.
DRIVER = """
import os, runpy, sys
sys.dont_write_bytecode = True
FORBIDDEN = {"xml", "pyexpat", "lxml", "defusedxml", "xmltodict", "bs4"}
tried = set()
class Policy:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FORBIDDEN:
            tried.add(name)
            raise ImportError(f"policy/imports.toml forbids {name}", name=name)
sys.meta_path.insert(0, Policy())
sys.path.insert(0, os.getcwd())
try:
    runpy.run_module("ferrytimes", run_name="__main__", alter_sys=True)
finally:
    for name in sorted(tried):
        print("forbidden import:", name, file=sys.stderr)
"""

GOOD = """<?xml version="1.0" encoding="UTF-8"?>
<timetable operator="Island Line">
  <!-- summer -->
  <line code="I4">
    <departure time="16:05" from="Brae &amp; Voe" to="Holm" days="weekends"/>
    <departure time="09:35" from="Brae &amp; Voe" to='Foula'></departure>
    <departure time="11:00" from="Holm" to="Brae &amp; Voe"/>
  </line>
  <line code="I12"><departure time="13:20" from="Brae &#38; Voe" to="Outer Isle" days="weekdays"/></line>
</timetable>
"""
DECLARED = """<?xml version="1.0"?>
<!DOCTYPE timetable [<!ENTITY quay "Holm"><!ENTITY twice "&quay;&quay;">]>
<timetable><line code="I4"><departure time="10:00" from="&quay;" to="Foula"/></line></timetable>
"""
TEXTS = {
    "island.xml": GOOD,
    "declared.xml": DECLARED,
    "torn.xml": GOOD[: GOOD.index("13:20")],
    "late.xml": GOOD.replace("11:00", "25:00"),
    "north.csv": "line;time;from;to;days\nN1;17:40;Holm;Sandvik;weekdays\n",
}
QUAY = "Brae & Voe"

# arguments after `departures`, exit status, stdout, how stderr begins
CASES = [
    (
        ["island.xml", "--from", QUAY],
        0,
        ["09:35  I4   Foula (daily)", "13:20  I12  Outer Isle (weekdays)", "16:05  I4   Holm (weekends)"],
        "",
    ),
    (["declared.xml", "--from", "Holm"], 3, [], "ferrytimes: declared.xml: "),
    (["torn.xml", "--from", QUAY], 3, [], "ferrytimes: torn.xml: "),
    (["late.xml", "--from", QUAY], 3, [], "ferrytimes: late.xml: "),
    (["north.csv", "--from", "Holm"], 0, ["17:40  N1   Sandvik (weekdays)"], ""),
]


def run(argv, timeout_s=3):
    """Exit status (None if it did not end by itself), lines of stdout, stderr."""
    try:
        done = subprocess.run(argv, cwd=REPO, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, [], str(error)[-300:]
    return done.returncode, done.stdout[:20_000].decode(errors="replace").splitlines(), done.stderr[-2000:].decode(errors="replace")


def main():
    FILES.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (FILES / name).write_text(text, encoding="utf-8")

    failed = False
    for (name, *rest), status, out, err in CASES:
        got_status, got_out, got_err = run([sys.executable, "-I", "-c", DRIVER, "departures", str(FILES / name), *rest])
        wrong = []
        if got_status != status:
            wrong.append(f"exit status {got_status}, expected {status}")
        if got_out != out:
            wrong.append(f"stdout is {got_out!r:.300}, expected {out}")
        if not got_err.startswith(err) or (status == 0 and got_err):
            wrong.append(f"stderr is {got_err[-300:]!r}, expected {err + '…' if err else 'nothing'!r}")
        if "forbidden import:" in got_err:
            wrong.append(got_err[got_err.index("forbidden import:") :].strip()[:200])
        for problem in wrong:
            print(f"{name}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
