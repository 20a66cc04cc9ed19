"""The report that accounting gets."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from millrace.loader import Row


def report_lines(rows: Iterable[Row], mills: Mapping[str, str], rejected: int) -> list[str]:
    """Sum the accepted rows by mill and grain, in alphabetical order."""
    totals: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        totals[mills[row.mill], row.grain] += int(row.weight_kg)
    lines = [f"{mill:<12} {grain:<8} {weight_kg:>8} kg" for (mill, grain), weight_kg in sorted(totals.items())]
    return [*lines, f"rejected rows: {rejected}"]
