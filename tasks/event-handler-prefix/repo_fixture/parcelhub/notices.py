"""The words of the messages to customers."""

from __future__ import annotations

from datetime import timedelta

from parcelhub.fees import FREE_DAYS
from parcelhub.parcel import Parcel


def arrival(parcel: Parcel) -> str:
    return f"Parcel {parcel.code} waits for you, free of charge until {parcel.since + timedelta(FREE_DAYS)}."


def sent_back(parcel: Parcel) -> str:
    return f"Parcel {parcel.code} went back to the sender on {parcel.until}: {parcel.fate}."
