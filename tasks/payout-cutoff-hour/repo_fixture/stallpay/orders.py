"""The shop's export."""

import csv
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path


class BadExport(Exception):
    """A row of the export cannot be understood."""


@dataclass(frozen=True)
class Order:
    """A confirmed order; `confirmed_at` is aware, and in UTC."""

    number: str
    seller: str
    cents: int
    confirmed_at: datetime


def read_orders(path: Path) -> list[Order]:
    """Read the confirmed orders, in the order of the file; BadExport names the row that is wrong."""
    orders = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "cancelled":
                continue
            try:
                confirmed_at = datetime.fromisoformat(row["confirmed_at"])
                cents = int(row["cents"])
            except ValueError as error:
                raise BadExport(f"order {row['order']}: {error}") from error
            if confirmed_at.tzinfo is None:
                raise BadExport(f"order {row['order']}: {row['confirmed_at']} has no zone")
            orders.append(Order(row["order"], row["seller"], cents, confirmed_at.astimezone(timezone.utc)))
    return orders
