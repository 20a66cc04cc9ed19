"""Has `python -m fieldpress` build files of its own schemas, and compares each file's first line and the rest."""

import json
import pathlib
import subprocess
import sys
import tempfile

HEADER = "pressed::fieldpress source="
failures = []


def run(*arguments):
    """Run fieldpress and give its exit status and output; a status of None stands for a run that had to be stopped."""
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "fieldpress", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=4,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout[:100_000].decode("utf-8", "replace")


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: expected {wanted!r}, found {found!r}"[:500])


SHELF = {
    "name": "ShelfMark",
    "about": "Where a volume's home is.",
    "fields": [{"name": "aisle_no", "type": "integer"}, {"name": "seen", "type": "date", "optional": True}],
}
LOAN = {"name": "Loan", "about": "Gone for a while.", "fields": [{"name": "fee", "type": "decimal"}]}

# The schema's path as the manifest has it, the file, the mark of a comment, and what stood in the file before.
FILES = [
    (
        "defs/shelf.json", "a/shelf.py", "#",
        '"""Where a volume\'s home is."""\n\nfrom dataclasses import dataclass\nfrom datetime import date\n\n\n'
        "@dataclass(frozen=True, kw_only=True)\nclass ShelfMark:\n    aisle_no: int\n    seen: date | None = None\n",
    ),
    (
        "defs/shelf.json", "b/shelf.ts", "//",
        "/** Where a volume's home is. */\nexport interface ShelfMark {\n  aisleNo: number;\n  seen?: string;\n}\n",
    ),
    (
        "defs/shelf.json", "c/shelf.sql", "--",
        "create table shelf_mark (\n  aisle_no bigint not null,\n  seen date\n);\n"
        "comment on table shelf_mark is 'Where a volume''s home is.';\n",
    ),
    ("defs/more/loan.json", "b/loan.ts", "//", "/** Gone for a while. */\nexport interface Loan {\n  fee: string;\n}\n"),
]

with tempfile.TemporaryDirectory(dir=".") as scratch:
    folder = pathlib.Path(scratch)
    (folder / "defs/more").mkdir(parents=True)
    (folder / "defs/shelf.json").write_text(json.dumps(SHELF), encoding="utf-8")
    (folder / "defs/more/loan.json").write_text(json.dumps(LOAN), encoding="utf-8")
    manifest = folder / "press.json"
    shelf = {"python": "a/shelf.py", "typescript": "b/shelf.ts", "sql": "c/shelf.sql"}
    records = [
        {"schema": "defs/shelf.json", "targets": shelf},
        {"schema": "defs/more/loan.json", "targets": {"typescript": "b/loan.ts"}},
    ]
    manifest.write_text(json.dumps({"records": records}), encoding="utf-8")
    out = folder / "out"

    status, said = run("build", manifest, "--out", out)
    expect("build, exit status", status, 0)
    expect("build, output", said.splitlines(), [f"wrote {path}" for _, path, _, _ in FILES])
    for source, path, mark, body in FILES:
        text = (out / path).read_text(encoding="utf-8", errors="replace") if (out / path).is_file() else ""
        first, _, rest = text.partition("\n")
        expect(f"{path}, begins with a comment", first.startswith(mark), True)
        expect(f"{path}, first line", first.removeprefix(mark).strip(), HEADER + source)
        expect(f"{path}, below the first line", rest.lstrip("\n"), body)

    expect("check after build", run("check", manifest, "--out", out), (0, ""))

    (out / "b").mkdir(parents=True, exist_ok=True)
    (out / "b/loan.ts").write_text(FILES[-1][-1], encoding="utf-8")
    expect("check with a file of old, without a header", run("check", manifest, "--out", out), (1, "out of date: b/loan.ts\n"))

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
