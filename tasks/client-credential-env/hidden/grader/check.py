"""Does a request to a restricted service carry the credential from the variable that the team's scheme names?"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
PREFIX = "PIER_PASS_"
VARIABLES = {"gauges": PREFIX + "GAUGES", "sea-state": PREFIX + "SEA_STATE"}
DECOYS = {
    name: "decoy"
    for stem in ("GAUGES", "SEA_STATE", "SEASTATE", "HARBOUR", "TIDEWATCH", "TIDEWATCH_GAUGES", "TIDEWATCH_SEA_STATE", "ALMANAC")
    for name in (stem + "_TOKEN", stem + "_API_KEY", stem + "_CREDENTIAL", stem + "_API_TOKEN")
}
URLS = {
    "gauges": "https://gauges.harbour.example/v2/probe?a=7&b=x+y",
    "sea-state": "https://sea-state.harbour.example/v1/probe?a=7&b=x+y",
    "almanac": "https://almanac.harbour.example/v1/probe?a=7&b=x+y",
}
DRIVER = """
import json
from tidewatch.client import Client
from tidewatch.errors import CredentialError, TidewatchError

answers = {}
for service in ("gauges", "sea-state", "almanac"):
    try:
        request = Client(service).build_request("/probe", b="x y", a="7")
        answers[service] = ["request", request.full_url, request.get_header("Authorization")]
    except TidewatchError as error:
        answers[service] = ["error", isinstance(error, CredentialError), str(error)]
print(json.dumps(answers))
"""


def run(variables: dict[str, str]) -> tuple[dict, str]:
    """Build a request to each service under the given variables; give the answers, and what was printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with tempfile.TemporaryFile(dir=REPO) as out, tempfile.TemporaryFile(dir=REPO) as err:
        try:
            status = subprocess.run(
                [sys.executable, "-c", DRIVER],
                cwd=REPO,
                env={**kept, **DECOYS, **variables},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=8,
            ).returncode
        except subprocess.TimeoutExpired:
            return {}, "no answer within 8 s"
        out.seek(0)
        err.seek(0)
        printed = out.read(20_000).decode(errors="replace")
        complaint = err.read(20_000).decode(errors="replace")[-600:]
    try:
        answers = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        return {}, f"exit status {status}, printed {printed[:200]!r}, complained {complaint!r}"
    return answers if isinstance(answers, dict) else {}, printed


def main() -> int:
    problems = []

    def expect(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            problems.append(f"{what}: found {found!r}, expected {wanted!r}")

    answers, printed = run({VARIABLES["gauges"]: "amber-17", VARIABLES["sea-state"]: "cobalt-29"})
    if not answers:
        problems.append(f"with both credentials set: {printed}")
    for service, credential in (("gauges", "amber-17"), ("sea-state", "cobalt-29")):
        expect(f"{service}, credential set", answers.get(service), ["request", URLS[service], f"Bearer {credential}"])
    expect("almanac, credentials of others set", answers.get("almanac"), ["request", URLS["almanac"], None])

    answers, printed = run({VARIABLES["gauges"]: ""})
    if not answers:
        problems.append(f"without credentials: {printed}")
    for service, variable in VARIABLES.items():
        answer = answers.get(service)
        if not (isinstance(answer, list) and answer[:2] == ["error", True]):
            problems.append(f"{service}, no credential: found {answer!r}, expected a CredentialError")
        elif variable not in str(answer[2]):
            problems.append(f"{service}, no credential: the message {answer[2]!r} does not name {variable}")
    expect("almanac, no credentials at all", answers.get("almanac"), ["request", URLS["almanac"], None])

    print("\n".join(problems) or "all expectations met")
    return 1 if problems else 0


sys.exit(main())
