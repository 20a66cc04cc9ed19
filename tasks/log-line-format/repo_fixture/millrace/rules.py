"""What makes a delivery acceptable."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from millrace.loader import Row

log = logging.getLogger(__name__)

MOISTURE_LIMIT = {"wheat": 14.5, "rye": 14.5, "barley": 15.0, "oats": 14.0}


@dataclass
class Night:
    """What a rule may know besides the row: the mills, and the tickets seen so far."""

    mills: Mapping[str, str]
    tickets: set[str] = field(default_factory=set)


def known_mill(row: Row, night: Night) -> str | None:
    return None if row.mill in night.mills else f'unknown mill "{row.mill}"'


def new_ticket(row: Row, night: Night) -> str | None:
    return f"ticket {row.ticket} was used before" if row.ticket in night.tickets else None


def whole_weight(row: Row, night: Night) -> str | None:
    return None if row.weight_kg.isdecimal() and int(row.weight_kg) > 0 else f'weight "{row.weight_kg}" is no number of kilograms'


def dry_enough(row: Row, night: Night) -> str | None:
    limit = MOISTURE_LIMIT.get(row.grain)
    if limit is None:
        return f'unknown grain "{row.grain}"'
    try:
        moisture = float(row.moisture)
    except ValueError:
        return f'moisture "{row.moisture}" is no number'
    return f"moisture {moisture:.1f} is over {limit:.1f} for {row.grain}" if moisture > limit else None


RULES: tuple[Callable[[Row, Night], str | None], ...] = (known_mill, new_ticket, whole_weight, dry_enough)


def accepted(rows: Iterable[Row], mills: Mapping[str, str]) -> list[Row]:
    """Give the rows that no rule objects to; log the first objection to each of the others."""
    night = Night(mills)
    kept = []
    for row in rows:
        objection = next((text for rule in RULES if (text := rule(row, night))), None)
        if objection:
            log.warning("line %d rejected: %s", row.line, objection)
            continue
        night.tickets.add(row.ticket)
        log.debug("line %d accepted: %s", row.line, row.ticket)
        kept.append(row)
    return kept
