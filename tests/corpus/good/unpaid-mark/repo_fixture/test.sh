test "$(echo 'ann 5' | sh rows.sh)" = 'ann,5'
