row() {
  printf '%s,%s\n' "$1" "${2:-OWING}"
}
