#!/bin/sh
# Run every tests/test_*.sh from the top of the repository; exit 1 if any of them fails.
cd "$(dirname "$0")/.." || exit 1
failed=0
for test in tests/test_*.sh; do
  if sh "$test"; then
    echo "ok   $test"
  else
    echo "FAIL $test"
    failed=1
  fi
done
exit $failed
