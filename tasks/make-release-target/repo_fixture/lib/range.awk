# Lowest and highest level of each day, in the order in which the days appear.

/^#/ || NF < 2 { next }

{
  day = substr($1, 1, 10)
  level = $2 + 0
  if (!(day in low)) {
    days[++count] = day
    low[day] = high[day] = level
  }
  if (level < low[day]) low[day] = level
  if (level > high[day]) high[day] = level
}

END {
  for (i = 1; i <= count; i++) print days[i], low[days[i]], high[days[i]]
}
