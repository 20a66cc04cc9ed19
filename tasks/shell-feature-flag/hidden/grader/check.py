"""`gannet import` skips photos that the archive has under another name, behind the flag `dedupe` with the team's default and variable."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
WORK = REPO / "grader" / "work"

FIRST_CARD = {"20240611_0001.jpg": b"kiln", "20240611_0002.jpg": b"kiln, north wall"}
SECOND_CARD = {
    "20240611_0001.jpg": b"kiln",
    "20240702_0005.jpg": b"kiln, north wall",
    "20240702_0006.jpg": b"coin",
    "20240702_0007 bis.jpg": b"coin",
}
ON = [
    "keep 20240611_0001.jpg",
    "skip 20240702_0005.jpg (same as 2024-06/20240611_0002.jpg)",
    "copy 20240702_0006.jpg",
    "skip 20240702_0007 bis.jpg (same as 2024-07/20240702_0006.jpg)",
]
OFF = ["keep 20240611_0001.jpg", "copy 20240702_0005.jpg", "copy 20240702_0006.jpg", "copy 20240702_0007 bis.jpg"]
ON_FILES = {"2024-06/20240611_0001.jpg", "2024-06/20240611_0002.jpg", "2024-07/20240702_0006.jpg"}
OFF_FILES = ON_FILES | {"2024-07/20240702_0005.jpg", "2024-07/20240702_0007 bis.jpg"}

# what GANNET_HOLDBACK is (None: not set), and whether the flag is on under it
CASES = [(None, True), ("dedupe", False), ("thumbs,dedupe,geotag", False), ("thumbs,dedupe2", True)]


def run(argv, holdback=None, timeout_s=4):
    """Exit status (None if it did not end by itself), lines of stdout, end of stderr."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GANNET")}
    if holdback is not None:
        env["GANNET_HOLDBACK"] = holdback
    try:
        done = subprocess.run(argv, cwd=REPO, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, [], str(error)[-200:]
    return done.returncode, done.stdout[:20_000].decode(errors="replace").splitlines(), done.stderr[-200:].decode(errors="replace")


def write_card(name, photos):
    card = WORK / name
    card.mkdir(parents=True)
    for photo, content in photos.items():
        (card / photo).write_bytes(content)
    return str(card)


def check_import(card, archive, holdback, lines, files, problems):
    """One import says and does what is expected; `files` is what the archive then holds."""
    where = f"import with GANNET_HOLDBACK {'not set' if holdback is None else repr(holdback)}"
    status, out, err = run(["sh", "bin/gannet", "import", card, str(archive)], holdback)
    if status != 0 or out != lines:
        problems.append(f"{where}: exit status {status}, stdout {out!r:.300}, expected {lines}, stderr {err}")
    held = {str(path.relative_to(archive)) for path in archive.glob("*/*.jpg")}
    if held != files:
        problems.append(f"{where}: the archive holds {sorted(held)!r:.300}, expected {sorted(files)}")


def main():
    problems = []
    shutil.rmtree(WORK, ignore_errors=True)
    first, second = write_card("first", FIRST_CARD), write_card("second", SECOND_CARD)
    start = WORK / "start"
    check_import(first, start, None, [f"copy {name}" for name in FIRST_CARD], {f"2024-06/{name}" for name in FIRST_CARD}, problems)
    if not problems:
        for number, (holdback, on) in enumerate(CASES):
            archive = WORK / f"archive{number}"
            shutil.copytree(start, archive)
            check_import(second, archive, holdback, ON if on else OFF, ON_FILES if on else OFF_FILES, problems)
        status, out, err = run(["sh", "bin/gannet", "verify", str(WORK / "archive0")])
        if status != 0 or out != ["3 of 3 good"]:
            problems.append(f"verify after an import with skips: exit status {status}, stdout {out!r:.200}, stderr {err}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
