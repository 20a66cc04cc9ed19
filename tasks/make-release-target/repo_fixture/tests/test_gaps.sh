set -eu

log=$(mktemp "${TMPDIR:-/tmp}/gaps.XXXXXX")
trap 'rm -f "$log"' EXIT
cat > "$log" <<'LOG'
2024-02-28T23:30 200
2024-02-29T00:30 204
2024-03-01T01:00 190
# rebooted
2024-03-01T01:15 191
LOG

got=$(sh bin/tidewatch gaps "$log" 60)
[ "$got" = "2024-02-29T00:30 2024-03-01T01:00 1470" ] || { echo "over a leap day: $got"; exit 1; }

got=$(sh bin/tidewatch gaps "$log" 1470)
[ -z "$got" ] || { echo "a silence as long as what is allowed: $got"; exit 1; }
