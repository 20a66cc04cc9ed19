"""Client.get asks again as often, and after such waits, as the team's policy says, and only where it may."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WAITS = [0.4, 1.3, 4.2, 11.0]
ATTEMPTS = len(WAITS) + 1

# Name, answers in turn (a status, or "down" for no answer; the last one repeats), requests, waits, outcome.
CASES = [
    ("always down", ["down"], ATTEMPTS, WAITS, "TransportError"),
    ("always 503", [503], ATTEMPTS, WAITS, "BadStatus 503"),
    ("page at once", [200], 1, [], "page"),
    ("page after one 503", [503, 200], 2, WAITS[:1], "page"),
    ("page after two without an answer", ["down", "down", 200], 3, WAITS[:2], "page"),
    ("page at the last attempt", [500, "down", 502, "down", 200], ATTEMPTS, WAITS, "page"),
    ("502 in the end", ["down", 599, "down", "down", 502, 200], ATTEMPTS, WAITS, "BadStatus 502"),
    ("404 at once", [404, 200], 1, [], "BadStatus 404"),
    ("410 after a 500", [500, 410, 200], 2, WAITS[:1], "BadStatus 410"),
    ("429 at once", [429, 200], 1, [], "BadStatus 429"),
    ("499 at once", [499, 200], 1, [], "BadStatus 499"),
]

DRIVER = """
import json, sys
from gleaner.client import Client
from gleaner.errors import BadStatus, TransportError
from gleaner.transport import Response

def play(answers):
    asked, waits = [], []
    def send(url, headers):
        answer = answers[min(len(asked), len(answers) - 1)]
        asked.append([url, dict(headers)])
        if len(asked) > 50:
            raise KeyboardInterrupt
        if answer == "down":
            raise TransportError("no answer")
        return Response(answer, b"page" if answer == 200 else b"")
    client = Client(send, sleep=lambda seconds: waits.append(float(seconds)))
    try:
        outcome = client.get("https://museum.example/export")
    except BadStatus as error:
        outcome = f"BadStatus {error.status}"
    except TransportError:
        outcome = "TransportError"
    same = all(request == ["https://museum.example/export", {"Accept": "application/json"}] for request in asked)
    return [len(asked), waits, outcome, same]

def play_twice(answers):
    waits = []
    turns = iter([*answers, *[404] * 50])
    client = Client(lambda url, headers: Response(next(turns), b"page"), sleep=waits.append)
    pages = []
    for url in ("a", "b"):
        try:
            pages.append(client.get(url))
        except BadStatus as error:
            pages.append(str(error))
    return [pages, [float(seconds) for seconds in waits]]

print(json.dumps([[play(answers) for answers in json.loads(sys.argv[1])], play_twice([500, 503, 200, 503, 200])]))
"""


def run(*args: str) -> tuple[int | None, str]:
    """Exit status (None after 8 s) and the first part of the output of a Python command in the graded copy."""
    try:
        done = subprocess.run([sys.executable, "-B", *args], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=8)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:50000].decode(errors="replace")


def alike(waits: list[float], expected: list[float]) -> bool:
    return len(waits) == len(expected) and all(abs(wait - want) < 1e-6 for wait, want in zip(waits, expected, strict=True))


def problems() -> list[str]:
    status, out = run("-c", DRIVER, json.dumps([case[1] for case in CASES]))
    try:
        got, twice = json.loads(out.strip().splitlines()[-1])
    except (ValueError, IndexError, TypeError):
        got, twice = [], None
    if status != 0 or len(got) != len(CASES):
        return [f"Client.get ended with exit {status}"]
    found = []
    for (name, _, requests, waits, outcome), (asked, waited, ended, same) in zip(CASES, got, strict=True):
        if asked != requests:
            found.append(f"{name}: {asked} requests, not {requests}")
        if not alike(waited, waits):
            found.append(f"{name}: waits {waited}, not {waits}")
        if ended != outcome:
            found.append(f"{name}: {ended}, not {outcome}")
        if not same:
            found.append(f"{name}: the request changed from one attempt to the next")
    if twice[0] != ["page", "page"] or not alike(twice[1], [*WAITS[:2], WAITS[0]]):
        found.append(f"two pages in turn: {twice}, the waits of the second do not begin anew")
    return found


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) if found else "ok")
    sys.exit(1 if found else 0)
