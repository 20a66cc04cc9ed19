# Readings under `level`, as "time, level, centimetres missing".

/^#/ || NF < 2 { next }

$2 + 0 < level + 0 { print $1, $2 + 0, level - $2 }
