set -u

status=0
sh bin/tidewatch dry tests/gauge.log 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "a missing level: exit $status, expected 2"; exit 1; }

status=0
sh bin/tidewatch range tests/none.log 2>/dev/null || status=$?
[ "$status" -eq 1 ] || { echo "a missing log: exit $status, expected 1"; exit 1; }

[ "$(sh bin/tidewatch version)" = "$(cat VERSION)" ] || { echo "version is not what VERSION says"; exit 1; }
