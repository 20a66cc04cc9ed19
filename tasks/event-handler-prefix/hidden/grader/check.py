"""Plays the relay: sends events to the functions of `parcelhub.handlers`, in a process of their own, and looks at the shop."""

import json
import subprocess
import sys

PREFIX = "upon_"
EXAMPLE = "upon_parcel_arrived"
failures = []

# The relay, as far as it matters here. It gets the names of the functions and the events, and prints what became of them.
RELAY = """
import dataclasses, json, sys
from parcelhub.shop import Shop

def attempt(handlers, name, payload, shop):
    function = vars(handlers).get(name)
    if not callable(function):
        return "no function " + name
    try:
        function(payload, shop)
    except Exception as error:
        return type(error).__name__
    return "done"

from parcelhub import handlers
shop = Shop()
results = [attempt(handlers, name, payload, shop) for name, payload in json.loads(sys.stdin.read())]
parcels = {code: dataclasses.asdict(parcel) for code, parcel in shop.parcels.items()}
print(json.dumps({"results": results, "parcels": parcels, "outbox": shop.outbox}, default=str))
"""


def run(arguments, given=""):
    """Run Python and give its exit status and output; a status of None stands for a run that had to be stopped."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", *arguments], input=given.encode(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=6,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:100_000].decode("utf-8", "replace")


def function_of(event):
    return PREFIX + event.replace(".", "_").replace("-", "_")


def relay(*events):
    """Send events, each a name and its payload, to a new shop and give what became of them and of the shop."""
    given = json.dumps([[function_of(event), payload] for event, payload in events])
    status, out = run(["-c", RELAY], given)
    try:
        found = json.loads(out.strip().splitlines()[-1])
        return found if isinstance(found, dict) else {}
    except (ValueError, IndexError):
        failures.append(f"the relay could not import the handlers or was cut short (exit status {status})")
        return {}


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: expected {wanted!r}, found {found!r}"[:500])


assert function_of("parcel.arrived") == EXAMPLE

ARRIVED = ("parcel.arrived", {"code": "QT1", "phone": "0512-77", "size": "S", "day": "2023-09-28"})
LATER = ("parcel.arrived", {"code": "QT2", "phone": "0512-88", "size": "L", "day": "2023-10-02"})

found = relay(ARRIVED, LATER)
expect("two arrivals, calls", found.get("results"), ["done", "done"])
lying = {
    code: {"code": code, "phone": phone, "size": size, "since": day, "until": None, "fate": None}
    for code, phone, size, day in [("QT1", "0512-77", "S", "2023-09-28"), ("QT2", "0512-88", "L", "2023-10-02")]
}
expect("two arrivals, shelf", found.get("parcels"), lying)
told = [
    ["0512-77", "Parcel QT1 waits for you, free of charge until 2023-10-05."],
    ["0512-88", "Parcel QT2 waits for you, free of charge until 2023-10-09."],
]
expect("two arrivals, outbox", found.get("outbox"), told)

found = relay(
    ARRIVED,
    LATER,
    ("parcel.collected", {"code": "QT2", "day": "2023-10-03"}),
    ("parcel.sent-back", {"code": "QT1", "day": "2023-10-13", "reason": "nobody came"}),
    ("parcel.collected", {"code": "QT1", "day": "2023-10-14"}),
    ("parcel.sent-back", {"code": "QT9", "day": "2023-10-14", "reason": "refused"}),
)
expect("collected and sent back, calls", found.get("results"), ["done"] * 4 + ["ParcelError"] * 2)
left = {
    "QT1": lying["QT1"] | {"until": "2023-10-13", "fate": "nobody came"},
    "QT2": lying["QT2"] | {"until": "2023-10-03", "fate": "collected"},
}
expect("collected and sent back, shelf", found.get("parcels"), left)
gone = ["0512-77", "Parcel QT1 went back to the sender on 2023-10-13: nobody came."]
expect("collected and sent back, outbox", found.get("outbox"), [*told, gone])

status, out = run(["-m", "parcelhub", "--shop", "no-such-shop.json", "hand", "QT1", "--day", "2023-10-14"])
expect("the clerk's command with an unknown code", (status, out), (1, ""))

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
