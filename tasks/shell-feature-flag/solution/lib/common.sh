# What every subcommand needs.

note() {
  printf 'gannet: %s\n' "$*" >&2
}

die() {
  note "$@"
  exit 1
}

need_directory() {
  [ -d "$1" ] || die "$1 is not a directory"
}

# sum_of FILE: checksum and size, as they stand in .sums.
sum_of() {
  cksum < "$1" | awk '{ print $1, $2 }'
}

# month_of NAME: the archive's folder for a photo; fails if there is no day in its name.
month_of() {
  case $1 in
    [12][0-9][0-9][0-9][01][0-9][0-3][0-9]_*)
      printf '%s\n' "$1" | sed 's/^\(....\)\(..\).*/\1-\2/'
      ;;
    *)
      return 1
      ;;
  esac
}

# flag NAME: is this feature on? It is, unless GANNET_HOLDBACK lists it among names parted by commas.
flag() {
  case ,${GANNET_HOLDBACK-}, in
    *,"$1",*) return 1 ;;
  esac
}
