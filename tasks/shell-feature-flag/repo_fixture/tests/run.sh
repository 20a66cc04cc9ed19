#!/bin/sh
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/assert.sh

photo card 20250301_0001.jpg trench
photo card 20250301_0002.jpg 'trench, wider'
photo card '20250402_0001 bis.jpg' shard
photo card index.dat camera
same "a card is copied" "$(gannet import "$work/card" "$work/archive")" "copy 20250301_0001.jpg
copy 20250301_0002.jpg
copy 20250402_0001 bis.jpg"
same "a file without a day is named" "$(cat "$work/stderr")" "gannet: index.dat has no day in its name, left on the card"
same "photos lie under their month" "$(cat "$work/archive/2025-04/20250402_0001 bis.jpg")" shard

photo card 20250403_0001.jpg post-hole
same "the second time only what is new is copied" "$(gannet import "$work/card" "$work/archive")" "keep 20250301_0001.jpg
keep 20250301_0002.jpg
keep 20250402_0001 bis.jpg
copy 20250403_0001.jpg"

same "photos per month" "$(gannet list "$work/archive")" "2025-03 2
2025-04 2"
same "an untouched archive is good" "$(gannet verify "$work/archive")" "4 of 4 good"

printf x >> "$work/archive/2025-03/20250301_0001.jpg"
rm "$work/archive/2025-03/20250301_0002.jpg"
same "damage is found" "$(gannet verify "$work/archive")" "changed 2025-03/20250301_0001.jpg
gone 2025-03/20250301_0002.jpg
2 of 4 good"

gannet import "$work/nowhere" "$work/archive" >/dev/null
same "a missing card is an error" "$?" 1
gannet import "$work/card" >/dev/null
same "a missing argument is a usage error" "$?" 2

if [ "$failures" -eq 0 ]; then echo "all passed"; else exit 1; fi
