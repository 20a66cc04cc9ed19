"""What the carriers' events do to a shop; the relay finds each function by `upon_` and the event's name."""

from __future__ import annotations

from datetime import date

from parcelhub.shop import Shop


def upon_parcel_arrived(payload: dict[str, str], shop: Shop) -> None:
    """Put the parcel that the carrier has left on the shelf."""
    shop.take_in(payload["code"], payload["phone"], payload["size"], _day(payload))


def upon_parcel_collected(payload: dict[str, str], shop: Shop) -> None:
    """Take the parcel that the customer has fetched off the shelf."""
    shop.hand_over(payload["code"], _day(payload))


def upon_parcel_sent_back(payload: dict[str, str], shop: Shop) -> None:
    """Take the parcel that the carrier has taken away off the shelf."""
    shop.send_back(payload["code"], _day(payload), payload["reason"])


def _day(payload: dict[str, str]) -> date:
    return date.fromisoformat(payload["day"])
