"""With any number of workers a manifest lists every file of a collection, and a wrong number is a usage error."""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SHEETS = 53
WORKERS = [None, 1, 3, 8, 9, 16, 24, 60]
"""None leaves the default in force."""
WRONG = ["0", "-2", "four", "2.5"]

DRIVER = """
import contextlib, io, json, sys
from fixity.__main__ import main

def call(*args):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = main(list(args))
    except SystemExit as exit:
        status = exit.code
    return [status, out.getvalue()]

root, listed, workers = json.loads(sys.argv[1])
got = {}
for number in workers:
    option = [] if number is None else ["--workers", str(number)]
    got[f"digest {number}"] = call("digest", root, *option)
    got[f"verify {number}"] = call("verify", root, listed, *option)
from pathlib import Path
from fixity.digest import digest_tree
got["tree"] = len(digest_tree(Path(root), workers=17))
print(json.dumps(got))
"""


def run(*args: str) -> tuple[int | None, str]:
    """Exit status (None after 8 s) and the first part of the output of a Python command in the graded copy."""
    try:
        done = subprocess.run([sys.executable, "-B", *args], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=8)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:500000].decode(errors="replace")


def problems(scratch: Path) -> list[str]:
    found = []
    root, listed = scratch / "maps", scratch / "maps.sha256"
    lines = {}
    for number in range(SHEETS):
        path = f"sheet {number % 7}/{number:02}.tif"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"map %d" % number)
        lines[path] = hashlib.sha256(b"map %d" % number).hexdigest()
    (root / ".lock").write_bytes(b"")
    manifest = "".join(f"{digest}  {path}\n" for path, digest in sorted(lines.items()))
    listed.write_text(manifest, encoding="utf-8")

    status, out = run("-c", DRIVER, json.dumps([str(root), str(listed), WORKERS]))
    try:
        got = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        got = None
    if status != 0 or not isinstance(got, dict):
        found.append(f"digest and verify with --workers ended with exit {status}")
        got = {}
    for number in WORKERS:
        name = "the default of workers" if number is None else f"--workers {number}"
        status, text = got.get(f"digest {number}", (None, ""))
        if status != 0 or text != manifest:
            found.append(f"digest with {name}: exit {status}, {len(text.splitlines())} lines, not the {SHEETS} expected")
        status, text = got.get(f"verify {number}", (None, ""))
        if status != 0 or text != "":
            found.append(f"verify with {name}: exit {status}, {len(text.splitlines())} differences, not 0")
    if got.get("tree") != SHEETS:
        found.append(f"digest_tree(root, workers=17): {got.get('tree')} files, not {SHEETS}")

    (root / "sheet 0" / "00.tif").write_bytes(b"scratched")
    (root / "sheet 1" / "01.tif").unlink()
    status, out = run("-m", "fixity", "verify", str(root), str(listed), "--workers", "12")
    if status != 1 or out.splitlines() != ["changed sheet 0/00.tif", "missing sheet 1/01.tif"]:
        found.append(f"verify of a damaged collection: exit {status}, {out[:300]!r}")

    refuse = DRIVER.partition("root, listed")[0] + "print(json.dumps([call('digest', sys.argv[1], '--workers', n) for n in sys.argv[2:]]))"
    status, out = run("-c", refuse, str(root), *WRONG)
    if status != 0 or out.strip() != json.dumps([[2, ""]] * len(WRONG)):
        found.append(f"--workers {', '.join(WRONG)}: exit {status}, {out[:100]!r}, not exit 2 and nothing printed for each")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=ROOT) as scratch:
        found = problems(Path(scratch))
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
