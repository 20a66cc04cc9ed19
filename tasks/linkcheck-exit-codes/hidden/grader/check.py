"""Runs `python -m linkcheck` over small folders of pages and looks at how it ends and what it prints."""

import json
import pathlib
import subprocess
import sys
import tempfile

CLEAN = 0
FINDINGS = 33
NOT_CHECKED = 44
failures = []


def run(*arguments):
    """Run linkcheck and give its exit status and both outputs; a status of None stands for a run that had to be stopped."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "linkcheck", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=4,
        )
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout[:100_000].decode("utf-8", "replace"), done.stderr[:100_000].decode("utf-8", "replace")


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: expected {wanted!r}, found {found!r}"[:400])


with tempfile.TemporaryDirectory(dir=".") as scratch:
    folder = pathlib.Path(scratch)
    for name, text in {
        "whole/start.md": "# Start\n\nSee [the end](end.md#last-words) or [this](#start).\n",
        "whole/end.md": "# Last words\n\n[back](start.md)\n",
        "torn/start.md": "# Start\n\n[the end](end.md#first-words)\n",
        "torn/end.md": "# Last words\n\n[map](map.png)\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    settings = folder / "settings.json"
    settings.write_text('{"alow": []}', encoding="utf-8")

    status, out, _ = run(folder / "whole")
    expect("whole pages, exit status", status, CLEAN)
    expect("whole pages, output", out.splitlines(), ["0 broken links in 2 pages"])

    status, out, _ = run(folder / "torn", "--json")
    expect("two broken links, exit status", status, FINDINGS)
    try:
        found = [[entry["page"], entry["reason"]] for entry in json.loads(out)["broken"]]
    except (ValueError, KeyError, TypeError) as error:
        found = f"unreadable: {error}"
    expect("two broken links, output", found, [["end.md", "no such file"], ["start.md", "no such heading"]])

    status, _, err = run(folder / "nowhere")
    expect("missing folder, exit status", status, NOT_CHECKED)
    expect("missing folder, said so", "no such folder" in err, True)

    status, _, err = run(folder / "torn", "--config", settings)
    expect("broken links, but a wrong configuration, exit status", status, NOT_CHECKED)
    expect("wrong configuration, said so", "alow" in err, True)

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
