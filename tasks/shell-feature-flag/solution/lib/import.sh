# gannet import: copy a card's photos into the archive.

import_card() {
  card=$1
  archive=$2
  need_directory "$card"
  mkdir -p "$archive"

  for photo in "$card"/*; do
    [ -f "$photo" ] || continue
    import_photo "$photo" "$archive"
  done
}

# import_photo PHOTO ARCHIVE: copy one photo, unless there is a reason not to; say what was done.
import_photo() {
  name=$(basename "$1")
  if ! month=$(month_of "$name"); then
    note "$name has no day in its name, left on the card"
    return
  fi
  if [ -e "$2/$month/$name" ]; then
    echo "keep $name"
    return
  fi
  if flag dedupe && same=$(find_same "$1" "$2"); then
    echo "skip $name (same as $same)"
    return
  fi

  mkdir -p "$2/$month"
  cp -p "$1" "$2/$month/$name"
  echo "$(sum_of "$1") $month/$name" >> "$2/.sums"
  echo "copy $name"
}

# find_same PHOTO ARCHIVE: the path of an archived photo with the same content; fails if there is none.
find_same() {
  [ -f "$2/.sums" ] || return 1
  sum=$(sum_of "$1")
  while read -r checksum bytes path; do
    if [ "$checksum $bytes" = "$sum" ] && cmp -s "$1" "$2/$path"; then
      printf '%s\n' "$path"
      return 0
    fi
  done < "$2/.sums"
  return 1
}
