"""What keeping a parcel costs, in cents."""

from __future__ import annotations

from datetime import date

from parcelhub.parcel import Parcel

FREE_DAYS = 7
CENTS_A_DAY = {"S": 20, "M": 35, "L": 90}


def owed(parcel: Parcel, day: date) -> int:
    """Give the fee for a parcel that is fetched on `day`; the first week is free."""
    return max(0, (day - parcel.since).days - FREE_DAYS) * CENTS_A_DAY[parcel.size]
