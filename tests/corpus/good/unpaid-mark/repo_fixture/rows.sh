. lib/cell.sh
while read -r name amount; do
  row "$name" "$amount"
done
