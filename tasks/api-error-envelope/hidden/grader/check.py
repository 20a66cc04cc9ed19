"""Every failed response of toolshed-api is JSON in the team's envelope, and successful ones are as before."""

import json
import subprocess
import sys

DRIVER = """
import { createApp } from './src/app.js';
let text = '';
for await (const chunk of process.stdin) text += chunk;
const broken = { tools() { throw new Error('disk on fire'); } };
const apps = { usual: createApp({ today: () => '2025-06-28' }), broken: createApp({ store: broken }) };
const answers = [];
for (const [app, request] of JSON.parse(text)) answers.push(await apps[app].handle(request));
process.stdout.write(JSON.stringify(answers));
"""

LOAN = json.dumps({"tool": "t-12", "member": "m-9", "days": 5})

# app, request, status, (code, message) of a failure or the value of a success
CASES = [
    ("usual", {"method": "POST", "path": "/loans", "body": LOAN}, 201, {"id": 1, "tool": "t-12", "member": "m-9", "due": "2025-07-03"}),
    ("usual", {"method": "GET", "path": "/loans/1"}, 200, {"id": 1, "tool": "t-12", "member": "m-9", "due": "2025-07-03"}),
    ("usual", {"method": "POST", "path": "/loans", "body": LOAN}, 409, ("tool-on-loan", "Post hole digger is out until 2025-07-03")),
    ("usual", {"method": "GET", "path": "/tools/t-11"}, 200, {"id": "t-11", "name": "Belt sander"}),
    ("usual", {"method": "GET", "path": "/tools/t-98"}, 404, ("tool-unknown", "there is no tool t-98")),
    ("usual", {"method": "DELETE", "path": "/loans/44"}, 404, ("loan-unknown", "there is no loan 44")),
    ("usual", {"method": "GET", "path": "/benches"}, 404, ("no-such-route", "nothing lives at /benches")),
    ("usual", {"method": "PATCH", "path": "/loans/1"}, 405, ("wrong-method", "PATCH is not possible here")),
    ("usual", {"method": "POST", "path": "/loans", "body": "[1]"}, 400, ("malformed-body", "the body is not an object")),
    (
        "usual",
        {"method": "POST", "path": "/loans", "body": json.dumps({"tool": "t-30", "member": "m-9", "days": 29})},
        422,
        ("bad-days", "days must be from 1 to 28"),
    ),
    ("broken", {"method": "GET", "path": "/tools"}, 500, ("internal", "something broke at our end")),
]


def run(argv, stdin, timeout_s=10):
    """Exit status, stdout and the end of stderr; status None after a timeout or if it cannot be started."""
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, "", str(error)[-300:]
    return done.returncode, done.stdout[:100_000].decode(errors="replace"), done.stderr[-300:].decode(errors="replace")


def problems_of(answer, status, expected):
    """Yield what is wrong with one response."""
    if not isinstance(answer, dict):
        yield f"response is {answer!r:.100}"
        return
    if answer.get("status") != status:
        yield f"status is {answer.get('status')!r}, expected {status}"
    raw = answer.get("headers")
    headers = {key.lower(): str(value) for key, value in raw.items()} if isinstance(raw, dict) else {}
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        yield f"content type is {kind!r}, expected application/json"
    try:
        value = json.loads(answer.get("body"))
    except (TypeError, ValueError):
        yield f"body is not JSON: {answer.get('body')!r:.120}"
        return
    if isinstance(expected, tuple):
        expected = {"fault": {"slug": expected[0], "hint": expected[1]}}
    if value != expected:
        yield f"body is {json.dumps(value):.200}, expected {json.dumps(expected)}"
    if status == 405 and headers.get("allow", "").replace(" ", "") != "GET,DELETE":
        yield f"Allow is {headers.get('allow')!r}, expected GET, DELETE"


def main():
    requests = json.dumps([[app, request] for app, request, _, _ in CASES]).encode()
    status, out, err = run(["node", "--input-type=module", "-e", DRIVER], requests)
    try:
        answers = json.loads(out)
    except ValueError:
        answers = None
    if status != 0 or not isinstance(answers, list) or len(answers) != len(CASES):
        print(f"handle() could not be driven: exit status {status}, stdout {out!r:.120}, stderr {err}")
        return 1
    failed = False
    for (_, request, wanted, expected), answer in zip(CASES, answers):
        for problem in problems_of(answer, wanted, expected):
            print(f"{request['method']} {request['path']}: {problem}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
