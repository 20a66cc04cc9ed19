#!/bin/sh
# Run every test_* function below against a fresh database and say which fail.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/stacks.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

same() {
  if [ "$2" != "$3" ]; then
    echo "FAIL $1: got '$2', expected '$3'"
    failures=$((failures + 1))
  fi
}

fresh() {
  rm -f "$work/t.db"
  sh bin/migrate "$work/t.db" >/dev/null && sh bin/seed "$work/t.db"
}

fresh
same "nothing is left to do after a migration" "$(sh bin/migrate "$work/t.db")" ""
same "every file of the series is noted" \
  "$(sqlite3 "$work/t.db" "SELECT count(*) FROM applied")" \
  "$((1 + $(grep -c '^[^#]' db/series)))"

same "overdue loans" "$(sh bin/report "$work/t.db" overdue 2025-03-01)" "Card 0307 | The Hedge Book | 2025-02-18"
same "a loan is not overdue on its last day" "$(sh bin/report "$work/t.db" overdue 2025-02-18)" ""
same "books and open loans of each branch" \
  "$(sh bin/report "$work/t.db" branches 2025-03-01)" \
  "$(printf 'Mill Street | 2 | 1\nUpper Farm | 1 | 0')"

sh bin/report "$work/t.db" birthdays >/dev/null 2>&1
same "an unknown report is a usage error" "$?" 2

if [ "$failures" -eq 0 ]; then echo "all passed"; else exit 1; fi
