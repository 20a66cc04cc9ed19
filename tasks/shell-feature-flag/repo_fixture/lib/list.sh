# gannet list: photos per month.

list_months() {
  need_directory "$1"
  [ -f "$1/.sums" ] || die "$1 has no .sums, is it an archive?"

  cut -d ' ' -f 3- "$1/.sums" | while IFS= read -r path; do
    if [ -f "$1/$path" ]; then printf '%s\n' "${path%%/*}"; fi
  done | sort | uniq -c | awk '{ print $2, $1 }'
}
