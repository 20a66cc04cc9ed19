# Places where the gauge was silent for more than `minutes`, as "from, to, minutes of silence".

function epoch_minutes(time,    y, m, d, days) {
  y = substr(time, 1, 4) + 0
  m = substr(time, 6, 2) + 0
  d = substr(time, 9, 2) + 0
  # March is the first month here, so that a leap day ends the year.
  if (m <= 2) { y--; m += 12 }
  days = 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * (m - 3) + 2) / 5) + d
  return days * 1440 + substr(time, 12, 2) * 60 + substr(time, 15, 2)
}

/^#/ || NF < 2 { next }

{
  now = epoch_minutes($1)
  if (before != "" && now - last > minutes + 0) print before, $1, now - last
  before = $1
  last = now
}
