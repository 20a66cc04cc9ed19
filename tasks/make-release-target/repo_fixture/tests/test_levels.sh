set -eu

expect() {
  if [ "$1" != "$2" ]; then
    printf 'got:\n%s\nexpected:\n%s\n' "$1" "$2"
    exit 1
  fi
}

expect "$(sh bin/tidewatch range tests/gauge.log)" "2025-03-01 88 342
2025-03-02 -4 355"
expect "$(sh bin/tidewatch dry tests/gauge.log 120)" "2025-03-01T06:15 88 32
2025-03-02T07:00 -4 124"
expect "$(sh bin/tidewatch dry tests/gauge.log -10)" ""
