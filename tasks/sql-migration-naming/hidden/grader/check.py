"""The migration for LIB-417 is named as the county's jobs need it, applies to a database in use, and can be undone."""

import re
import subprocess
import sys
from pathlib import Path

GRADER = Path(__file__).resolve().parent
REPO = GRADER.parent
DATABASE = GRADER / "branch.db"

FORWARD = re.compile(r"migrations/(v000417_[a-z0-9_]+)\.fwd\.sql")
REVERSE_SUFFIX = ".rev.sql"

SCHEMA = """
SELECT type, name FROM sqlite_master
WHERE name NOT LIKE 'sqlite_%' AND name <> 'applied' ORDER BY type, name;
"""
ROWS = "SELECT count(*) FROM branch; SELECT count(*) FROM book; SELECT count(*) FROM member; SELECT count(*) FROM loan;"
OLD_SCHEMA = [
    "index|loan_by_book",
    "index|loan_one_open",
    "table|book",
    "table|branch",
    "table|loan",
    "table|member",
]
OLD_ROWS = ["1", "2", "2", "1"]
PLACE = "INSERT INTO reservation (book_id, member_id, placed) VALUES (5, 9, '2025-01-06'), (6, 9, '2025-01-07');\n"
COUNT = "SELECT count(*), sum(id IS NOT NULL), (SELECT count(*) FROM pragma_foreign_key_list('reservation')) FROM reservation;\n"
COUNTED = "2|2|2"


def run(argv, stdin="", timeout_s=5):
    """Exit status (None if it did not end by itself), lines of stdout, end of stderr."""
    try:
        done = subprocess.run(argv, cwd=REPO, input=stdin.encode(), capture_output=True, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, [], str(error)[-200:]
    return done.returncode, done.stdout[:20_000].decode(errors="replace").splitlines(), done.stderr[-200:].decode(errors="replace")


def sql(text):
    return run(["sqlite3", "-batch", "-bail", "-separator", "|", str(DATABASE)], text)


def read(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def find_migration(problems):
    """Give the forward and the reverse script's text, or None with the reason noted."""
    series = read(REPO / "db" / "series") or ""
    entries = [line.split("#")[0].strip() for line in series.splitlines()]
    entries = [entry for entry in entries if entry]
    if len(entries) != 1:
        problems.append(f"db/series lists {entries!r:.200}, expected one migration")
        return None
    match = FORWARD.fullmatch(entries[0])
    if not match:
        problems.append(f"migration is named {entries[0]!r}, expected migrations/v000417_<words>.fwd.sql")
        return None
    forward = read(REPO / "db" / entries[0])
    reverse_name = match[1] + REVERSE_SUFFIX
    reverse = read(REPO / "db" / "migrations" / reverse_name)
    if not forward or not forward.strip():
        problems.append(f"{entries[0]} is missing or empty")
    if not reverse or not reverse.strip():
        problems.append(f"migrations/{reverse_name} is missing or empty")
    return None if problems else (forward, reverse)


def check_applied(problems):
    """Migrate a database of release 4.0 with rows in it, and use the new table."""
    status, lines, err = run(["sh", "bin/migrate", str(DATABASE)])
    if status != 0 or not any(FORWARD.search(line) for line in lines):
        problems.append(f"bin/migrate on a 4.0 database: exit status {status}, stdout {lines!r:.200}, stderr {err}")
        return
    status, lines, err = sql(PLACE + COUNT + ROWS)
    if status != 0 or lines != [COUNTED, *OLD_ROWS]:
        problems.append(f"after the migration: exit status {status}, got {lines!r:.200}, expected {[COUNTED, *OLD_ROWS]}, stderr {err}")
    status, _, _ = sql("INSERT INTO reservation (book_id, member_id, placed) VALUES (5, 9, '2025-02-02');")
    if status == 0:
        problems.append("a member can reserve the same book twice")
    status, _, _ = sql("INSERT INTO reservation (book_id, member_id, placed) VALUES (5, 8, NULL);")
    if status == 0:
        problems.append("a reservation without a day is accepted")
    status, lines, err = run(["sh", "bin/migrate", str(DATABASE)])
    if status != 0 or lines:
        problems.append(f"a second bin/migrate: exit status {status}, stdout {lines!r:.200}, stderr {err}")


def check_undone(forward, reverse, problems):
    """Run the reverse script over reservations that exist, then the forward one again."""
    status, lines, err = sql(f"{reverse}\n;{SCHEMA}{ROWS}")
    if status != 0 or lines != OLD_SCHEMA + OLD_ROWS:
        problems.append(f"after the reverse script: exit status {status}, got {lines!r:.300}, expected {OLD_SCHEMA + OLD_ROWS}, stderr {err}")
        return
    status, lines, err = sql(f"{forward}\n;{PLACE}{COUNT}")
    if status != 0 or lines != [COUNTED]:
        problems.append(f"forward again after reverse: exit status {status}, got {lines!r:.200}, stderr {err}")


def main():
    problems = []
    migration = find_migration(problems)
    if migration:
        DATABASE.unlink(missing_ok=True)
        status, _, err = sql(read(GRADER / "release-4.0.sql"))
        if status != 0:
            problems.append(f"the 4.0 database could not be made: exit status {status}, {err}")
        else:
            check_applied(problems)
        if not problems:
            check_undone(*migration, problems)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
