"""Grades `slipway promote`: a line for each thing that is wrong, exit status 0 if nothing is."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT_S = 5
OUTPUT_LIMIT = 65536
TOKEN = "tok-9f2Qx7LmVw4Zr8Kd"
OTHER_TOKEN = "tok-Hs3Pb6Yt1Nc5Ge0J"

DRIVER = """
import contextlib, io, json, os, sys
from slipway.cli import main

answers = []
for token, argv in json.loads(sys.stdin.read()):
    os.environ["SLIPWAY_TOKEN"] = token
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(argv) or 0
        except SystemExit as end:
            status = end.code or 0
        except Exception as error:
            status = repr(error)
    answers.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""


def run(*arguments, told="", **variables):
    """Run Python in the graded copy; give exit status, standard output and standard error, or None after a timeout."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", *arguments],
            cwd=ROOT,
            env=os.environ | variables,
            input=told.encode(),
            capture_output=True,
            timeout=TIME_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return None, "", "timed out"
    out, err = (stream[:OUTPUT_LIMIT].decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, out, err


def key_of(token):
    return hashlib.sha256(token.encode()).hexdigest()[:12]


def journal_fields(line):
    """Split a journal line into what was done and whose key; any further NAME=VALUE fields may stand beside the key."""
    match = re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (\S+ \S+ \S+)((?: [a-z_]+=\S+)+)", line)
    if match is None:
        return None
    keys = [field.removeprefix("key=") for field in match[2].split() if field.startswith("key=")]
    return (match[1], *keys)


def make_registry(registry):
    for channel in ("staging", "canary", "production"):
        (registry / channel).mkdir(parents=True)
    access = {key_of(TOKEN): ["staging", "canary", "production"], key_of(OTHER_TOKEN): ["staging", "canary"]}
    (registry / "access.json").write_text(json.dumps(access), encoding="utf-8")
    bundle = registry.parent / "web-2.0.1.tar.gz"
    bundle.write_bytes(b"web 2.0.1")
    (registry / "staging" / "app-1.4.0.tar.gz").write_bytes(b"app 1.4.0")
    (registry / "staging" / "app-1.5.0.tar.gz").write_bytes(b"app 1.5.0")
    return bundle


def check(scratch):
    registry = scratch / "releases"
    bundle = make_registry(registry)
    start = ["--registry", str(registry)]

    def promote(name, source, target):
        return [*start, "promote", name, "--from", source, "--to", target]

    requests = [
        ("publish", TOKEN, [*start, "publish", str(bundle)], 0),
        ("promote to canary", OTHER_TOKEN, promote("web-2.0.1.tar.gz", "staging", "canary"), 0),
        ("promote on to production", TOKEN, promote("web-2.0.1.tar.gz", "canary", "production"), 0),
        ("promote without the right", OTHER_TOKEN, promote("app-1.4.0.tar.gz", "staging", "production"), 1),
        ("promote with an unlisted token", "tok-nobody's", promote("app-1.4.0.tar.gz", "staging", "canary"), 1),
        ("promote what is not there", TOKEN, promote("app-9.9.9.tar.gz", "staging", "production"), 1),
        ("promote what is there already", TOKEN, promote("web-2.0.1.tar.gz", "staging", "canary"), 1),
        ("promote to no channel", TOKEN, promote("app-1.4.0.tar.gz", "staging", "moon"), 1),
        ("withdraw", TOKEN, [*start, "withdraw", "web-2.0.1.tar.gz", "--channel", "canary"], 0),
    ]
    _, out, err = run("-c", DRIVER, told=json.dumps([[token, argv] for _, token, argv, _ in requests]))
    everything = out + err
    try:
        answers = [(status, str(said), str(told)) for status, said, told in json.loads(out.strip().splitlines()[-1])]
    except (ValueError, TypeError, IndexError):
        yield f"the command could not be driven: {err.strip()[-300:] or 'no answer'}"
        return
    if len(answers) != len(requests):
        yield f"{len(requests)} requests, {len(answers)} answers"
        return
    for (what, _, _, expected), (status, said, told) in zip(requests, answers, strict=True):
        if status != expected or (expected == 1 and (said.strip() or not told.startswith("slipway: "))):
            yield f"{what}: status {status}, {said[:100]!r}, {told[-200:]!r}"

    status, out, err = run("-m", "slipway", *promote("app-1.5.0.tar.gz", "staging", "production"), SLIPWAY_TOKEN=TOKEN)
    everything += out + err
    if status != 0:
        yield f"python -m slipway promote: status {status}, {err.strip()[-200:]!r}"

    channels = {
        "staging": {"app-1.4.0.tar.gz": b"app 1.4.0", "app-1.5.0.tar.gz": b"app 1.5.0", "web-2.0.1.tar.gz": b"web 2.0.1"},
        "canary": {},
        "production": {"app-1.5.0.tar.gz": b"app 1.5.0", "web-2.0.1.tar.gz": b"web 2.0.1"},
    }
    for channel, expected in channels.items():
        found = {path.name: path.read_bytes() for path in (registry / channel).glob("*.tar.gz")}
        if found != expected:
            yield f"{channel} holds {found}"

    journal = registry / "journal.log"
    lines = journal.read_text(encoding="utf-8", errors="replace").splitlines() if journal.is_file() else []
    expected_lines = [
        ("publish web-2.0.1.tar.gz staging", key_of(TOKEN)),
        ("promote web-2.0.1.tar.gz canary", key_of(OTHER_TOKEN)),
        ("promote web-2.0.1.tar.gz production", key_of(TOKEN)),
        ("withdraw web-2.0.1.tar.gz canary", key_of(TOKEN)),
        ("promote app-1.5.0.tar.gz production", key_of(TOKEN)),
    ]
    if [journal_fields(line) for line in lines] != expected_lines:
        yield f"the journal holds {lines}"

    written = {path: path.read_bytes() for path in ROOT.rglob("*") if path.is_file() and path != Path(__file__).resolve()}
    for token in (TOKEN, OTHER_TOKEN):
        if token in everything:
            yield "a token was printed"
        for path, content in written.items():
            if token.encode() in content:
                yield f"a token was written to {path.relative_to(ROOT)}"


scratch = ROOT / "grader" / "scratch"
try:
    problems = list(check(scratch))
finally:
    shutil.rmtree(scratch, ignore_errors=True)
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
