status=0
expect() {
  found=$(printf '%s\n' "$1" | sh rows.sh 2>&1)
  test "$found" = "$2" || { echo "$1: found $found, expected $2"; status=1; }
}
expect 'ann 5' 'ann,5'
expect 'bob' 'bob,OWING'
exit $status
