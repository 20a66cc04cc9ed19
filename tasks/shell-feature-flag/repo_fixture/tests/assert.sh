# Sourced by tests/run.sh: a scratch directory, made photos, and comparison.

work=$(mktemp -d "${TMPDIR:-/tmp}/gannet.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# photo CARD NAME TEXT
photo() {
  mkdir -p "$work/$1"
  printf '%s' "$3" > "$work/$1/$2"
}

gannet() {
  sh bin/gannet "$@" 2>"$work/stderr"
}

same() {
  if [ "$2" != "$3" ]; then
    printf 'FAIL %s\n--- got\n%s\n--- expected\n%s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}
