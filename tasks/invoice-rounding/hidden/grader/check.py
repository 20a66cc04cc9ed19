"""Are discounted lines rounded to cents as the auditors want it (ROUND_HALF_DOWN), line by line, on invoices and credit notes?"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]

# quantity, unit price, discount in per cent (None: no such key), net
LINES = [
    (1, "0.50", "25", "0.37"),  # 0.375
    (1, "0.50", "75", "0.12"),  # 0.125
    (3, "0.05", "10", "0.13"),  # 0.135
    (7, "1.15", "50", "4.02"),  # 4.025
    (-1, "0.50", "25", "-0.37"),
    (-1, "0.50", "75", "-0.12"),
    (-7, "1.15", "50", "-4.02"),
    (1, "0.99", "12.5", "0.87"),  # 0.86625
    (1, "0.37", "12.5", "0.32"),  # 0.32375
    (-1, "0.99", "12.5", "-0.87"),
    (1, "20.01", "2.5", "19.51"),  # 19.50975
    (1, "0.25", "49.9", "0.13"),  # 0.12525
    (1, "0.25", "50.1", "0.12"),  # 0.12475
    (4, "2.30", "100", "0.00"),
    (4, "2.30", "0", "9.20"),
    (4, "2.30", None, "9.20"),
    (-1000, "1.01", None, "-1010.00"),
]
REFUSED = [12.5, 10, "-5", "100.01", "ten", "", None, True]
DRIVER = """
import json, sys
from quillbill.parse import BadInvoice, parse_invoice

def outcome(line):
    line = {"text": "Ink", **line}
    try:
        invoice = parse_invoice({"number": "1", "date": "2031-01-02", "customer": "Moss", "lines": [line, line]})
    except BadInvoice:
        return "refused"
    return [str(invoice.lines[0].net), str(invoice.subtotal)]

print(json.dumps([outcome(line) for line in json.loads(sys.argv[1])]))
"""
INVOICE = {
    "number": "88-1",
    "date": "2031-03-04",
    "customer": "Moss",
    "lines": [
        {"text": "Blotting sand", "quantity": 1, "unit_price": "0.50", "discount_percent": "25"},
        {"text": "Sealing wax", "quantity": 3, "unit_price": "0.05", "discount_percent": "10"},
        {"text": "Vellum", "quantity": 7, "unit_price": "1.15", "discount_percent": "50"},
    ],
    "shipping": "1.00",
}
PRINTED = [["0.50", "0.37"], ["0.05", "0.13"], ["1.15", "4.02"], ["Subtotal", "4.52"], ["Shipping", "1.00"], ["Total", "5.52"]]


def run(*arguments: str) -> tuple[int | None, str]:
    """Run Python on the graded copy; give its exit status (None: too slow) and the beginning of its stdout."""
    with tempfile.TemporaryFile(dir=REPO) as out:
        try:
            status = subprocess.run(
                [sys.executable, *arguments], cwd=REPO, env=os.environ, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=5
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        out.seek(0)
        return status, out.read(20_000).decode(errors="replace")


def twice(amount: str) -> str:
    cents = 2 * int(amount.replace(".", ""))
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


def main() -> int:
    problems = []

    def expect(what: str, found: object, wanted: object) -> None:
        if found != wanted:
            problems.append(f"{what}: found {found!r}, expected {wanted!r}")

    asked = [
        {"quantity": quantity, "unit_price": price, **({} if discount is None else {"discount_percent": discount})}
        for quantity, price, discount, _ in LINES
    ] + [{"quantity": 1, "unit_price": "4.00", "discount_percent": discount} for discount in REFUSED]
    wanted = [[net, twice(net)] for *_, net in LINES] + ["refused"] * len(REFUSED)
    status, text = run("-c", DRIVER, json.dumps(asked))
    expect("parse_invoice, exit status", status, 0)
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != len(wanted):
        problems.append(f"parse_invoice: no list of {len(wanted)} outcomes in {text[:200]!r}")
    else:
        for line, outcome, right in zip(asked, found, wanted):
            expect(f"net and subtotal of {line}", outcome, right)

    path = REPO / "grader" / "invoice.json"
    path.write_text(json.dumps(INVOICE))
    status, text = run("-m", "quillbill", "print", "grader/invoice.json")
    expect("print, exit status", status, 0)
    words = [row.split()[-2:] for row in text.splitlines() if row.split()]
    expect("print, amounts", [pair for pair in words if pair[-1] in {amount for _, amount in PRINTED}], PRINTED)

    status, text = run("-m", "quillbill", "total", "grader/invoice.json", "grader/none.json", "examples/invoice.json")
    expect("total, exit status", status, 1)
    expect("total", text.splitlines(), ["88-1  5.52", "31-0042  1,233.05"])

    print("\n".join(problems) or "all expectations met")
    return 1 if problems else 0


sys.exit(main())
