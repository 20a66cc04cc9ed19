"""`make embark` checks, packs and leaves its stamp for the harbour office's machine, for the version that is in VERSION."""

import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TARGET = "embark"
STAMP = REPO / ".quayside" / "embarked"
BROKEN_TEST = REPO / "tests" / "test_zz_broken.sh"


def run(argv, timeout_s=6):
    """Exit status (None if it did not end by itself) and the end of what was said."""
    try:
        done = subprocess.run(argv, cwd=REPO, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)[-200:]
    return done.returncode, (done.stdout + done.stderr)[-200:].decode(errors="replace")


def stamp_text():
    try:
        return STAMP.read_text(errors="replace")[:500]
    except OSError:
        return None


def set_version(version):
    """Write VERSION so that even a clock of whole seconds sees it as newer than what was made before."""
    past = time.time() - 60
    for folder in (REPO / "build", STAMP.parent):
        for path in folder.rglob("*") if folder.is_dir() else ():
            os.utime(path, (past, past), follow_symlinks=False)
    (REPO / "VERSION").write_text(version + "\n")


def packed_version(version):
    """The content of VERSION in the tarball, or what kept it from being read."""
    name = f"tidewatch-{version}"
    try:
        with tarfile.open(REPO / "build" / f"{name}.tar.gz") as tar:
            return tar.extractfile(f"{name}/VERSION").read(100).decode().strip()
    except (OSError, EOFError, KeyError, AttributeError, tarfile.TarError, UnicodeDecodeError) as error:
        return repr(error)[:120]


def check_release(version, problems):
    """The target succeeds, and stamp and tarball are those of this version."""
    set_version(version)
    status, said = run(["make", TARGET])
    if status != 0:
        problems.append(f"make {TARGET} for {version}: exit status {status}: {said}")
    text = stamp_text()
    expected = f"{version} build/tidewatch-{version}.tar.gz"
    if text is None or text.strip() != expected:
        problems.append(f"stamp .quayside/embarked for {version} is {text!r}, expected {expected!r}")
    if packed_version(version) != version:
        problems.append(f"tarball of {version} holds VERSION {packed_version(version)!r}")


def check_refusal(version, before, problems):
    """With a failing test nothing is stamped."""
    set_version(version)
    BROKEN_TEST.write_text("echo 'the sea is gone'\nexit 1\n")
    status, _ = run(["make", TARGET])
    BROKEN_TEST.unlink()
    if status in (0, None):
        problems.append(f"make {TARGET} with a failing test: exit status {status}, expected a failure")
    if stamp_text() not in (None, before):
        problems.append(f"with a failing test the stamp became {stamp_text()!r}")


def check_pack(version, problems):
    """`make pack` still packs, and stamps nothing."""
    set_version(version)
    before = stamp_text()
    status, said = run(["make", "pack"])
    if status != 0 or packed_version(version) != version:
        problems.append(f"make pack for {version}: exit status {status}, tarball holds {packed_version(version)!r}: {said}")
    if stamp_text() != before:
        problems.append(f"make pack changed the stamp to {stamp_text()!r}")


def main():
    problems = []
    STAMP.unlink(missing_ok=True)
    check_release("2.4.1", problems)
    if not problems:
        check_release("2.10.0", problems)
        check_refusal("2.10.1", stamp_text(), problems)
        check_pack("2.11.0", problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
