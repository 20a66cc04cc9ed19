"""Which order is paid on which day."""

from collections import defaultdict
from collections.abc import Iterable, Set
from datetime import date, datetime, time, timezone

from stallpay.business_days import DAY, next_business_day
from stallpay.money import after_commission
from stallpay.orders import Order

CUT_OFF = time.fromisoformat("17:00")
"""UTC; what is confirmed from this moment on counts for the following day."""


def payout_date(confirmed_at: datetime, holidays: Set[date]) -> date:
    """Give the day on which an order is paid out that was confirmed at an aware datetime."""
    confirmed_at = confirmed_at.astimezone(timezone.utc)
    day = confirmed_at.date()
    if confirmed_at.time() >= CUT_OFF:
        day += DAY
    return next_business_day(day, holidays)


def payouts(orders: Iterable[Order], holidays: Set[date]) -> dict[tuple[date, str], int]:
    """Sum what each seller gets on each date, in cents, sorted by date and seller."""
    sums: dict[tuple[date, str], int] = defaultdict(int)
    for order in orders:
        sums[payout_date(order.confirmed_at, holidays), order.seller] += after_commission(order.cents)
    return dict(sorted(sums.items()))
