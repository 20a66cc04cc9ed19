"""Grades the idle timeout of sessions: a line for each thing that is wrong, exit status 0 if nothing is."""

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IDLE_S = 1020
TIME_LIMIT_S = 5
OUTPUT_LIMIT = 65536

DRIVER = """
import json, sys
from gatehouse import MemoryStore, Sessions
from gatehouse import errors

def attempt(call):
    try:
        return call().user
    except Exception as error:
        expired = getattr(errors, "SessionExpired", None)
        told = isinstance(expired, type) and issubclass(expired, errors.SessionError) and isinstance(error, expired)
        return "expired" if told else type(error).__name__

answers = []
for options, idles in json.loads(sys.argv[1]):
    now = [1700000000.0]
    store = MemoryStore()
    sessions = Sessions(store, clock=lambda: now[0], **options)
    token = sessions.open("maria", origin="desk-3")
    seen = []
    for idle in idles:
        now[0] += idle
        seen.append(attempt(lambda: sessions.resolve(token)))
    answers.append([seen, len(store.all())])
print(json.dumps(answers))
"""

# Options of Sessions, idle spells before each resolve, what each resolve gives, sessions left in the store.
SCENARIOS = [
    ({}, [30], ["maria"], 1),
    ({}, [IDLE_S - 2], ["maria"], 1),
    ({}, [IDLE_S + 2], ["expired"], 0),
    ({}, [IDLE_S - 10, IDLE_S - 10, IDLE_S - 10], ["maria"] * 3, 1),
    ({}, [IDLE_S - 10, IDLE_S + 5], ["maria", "expired"], 0),
    ({}, [IDLE_S + 40, 1], ["expired", "UnknownSession"], 0),
    ({"idle_timeout_s": 90}, [88, 92], ["maria", "expired"], 0),
    ({"idle_timeout_s": 86400}, [86000], ["maria"], 1),
]


def run(*arguments):
    """Run Python in the graded copy; give exit status, standard output and standard error, or None after a timeout."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", *arguments], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return None, "", "timed out"
    out, err = (stream[:OUTPUT_LIMIT].decode(errors="replace") for stream in (done.stdout, done.stderr))
    return done.returncode, out, err


def check_library():
    plan = [[options, idles] for options, idles, _, _ in SCENARIOS]
    _, out, err = run("-c", DRIVER, json.dumps(plan))
    try:
        answers = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError):
        yield f"the library could not be driven: {err.strip()[-300:] or 'no answer'}"
        return
    if not isinstance(answers, list) or len(answers) != len(SCENARIOS):
        yield f"the library gave {out.strip()[:200]!r}"
        return
    for (options, idles, seen, left), answer in zip(SCENARIOS, answers, strict=True):
        if answer != [seen, left]:
            yield f"with {options} and idle spells {idles}: expected {seen} and {left} stored, got {answer}"


def check_command():
    store = ROOT / "grader" / "sessions.json"
    now = time.time()
    rows = []
    for user, idle in (("ada", IDLE_S - 120), ("bo", IDLE_S + 120)):
        digest = hashlib.sha256(f"token-{user}".encode()).hexdigest()
        rows.append({"token_digest": digest, "user": user, "opened_at": now - idle, "last_seen": now - idle, "origin": ""})
    store.write_text(json.dumps(rows), encoding="utf-8")
    try:
        status, out, err = run("-m", "gatehouse", "--store", str(store), "whoami", "token-ada")
        if (status, out.strip()) != (0, "ada"):
            yield f"whoami of a fresh session: status {status}, {out.strip()[:100]!r}, {err.strip()[-200:]!r}"
        status, out, err = run("-m", "gatehouse", "--store", str(store), "whoami", "token-bo")
        if status != 1 or out.strip() or not err.startswith("gatehouse: "):
            yield f"whoami of an idle session: status {status}, {out.strip()[:100]!r}, {err.strip()[-200:]!r}"
    finally:
        store.unlink(missing_ok=True)


problems = [*check_library(), *check_command()]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
