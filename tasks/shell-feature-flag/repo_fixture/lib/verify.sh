# gannet verify: compare every photo with what .sums says of it.

verify_archive() {
  need_directory "$1"
  [ -f "$1/.sums" ] || die "$1 has no .sums, is it an archive?"

  bad=0
  total=0
  while read -r checksum bytes path; do
    total=$((total + 1))
    if [ ! -f "$1/$path" ]; then
      echo "gone $path"
      bad=$((bad + 1))
    elif [ "$(sum_of "$1/$path")" != "$checksum $bytes" ]; then
      echo "changed $path"
      bad=$((bad + 1))
    fi
  done < "$1/.sums"

  echo "$((total - bad)) of $total good"
  [ "$bad" -eq 0 ]
}
