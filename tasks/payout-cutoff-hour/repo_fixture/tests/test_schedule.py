import unittest
from datetime import date, datetime, timezone
from pathlib import Path

from stallpay.business_days import next_business_day, read_holidays
from stallpay.orders import Order
from stallpay.schedule import payout_date, payouts

HOLIDAYS = read_holidays(Path(__file__).resolve().parents[1] / "data" / "holidays.txt")


def early(year, month, day):
    return datetime(year, month, day, 7, 30, tzinfo=timezone.utc)


class CalendarTest(unittest.TestCase):
    def test_comments_in_the_holidays_are_skipped(self):
        self.assertIn(date(2031, 4, 14), HOLIDAYS)
        self.assertEqual(len(HOLIDAYS), 6)

    def test_the_next_business_day_is_never_the_day_itself(self):
        self.assertEqual(next_business_day(date(2031, 4, 7), HOLIDAYS), date(2031, 4, 8))


class PayoutDateTest(unittest.TestCase):
    def test_an_early_order_is_paid_on_the_next_business_day(self):
        self.assertEqual(payout_date(early(2031, 4, 7), HOLIDAYS), date(2031, 4, 8))

    def test_weekends_and_holidays_are_skipped(self):
        self.assertEqual(payout_date(early(2031, 4, 10), HOLIDAYS), date(2031, 4, 15))
        self.assertEqual(payout_date(early(2031, 5, 3), HOLIDAYS), date(2031, 5, 5))

    def test_payouts_are_summed_by_date_and_seller(self):
        orders = [Order(str(n), seller, 1000, early(2031, 4, day)) for n, (seller, day) in enumerate([("b", 8), ("a", 8), ("b", 7), ("b", 8)])]
        self.assertEqual(
            list(payouts(orders, HOLIDAYS).items()),
            [((date(2031, 4, 8), "b"), 940), ((date(2031, 4, 9), "a"), 940), ((date(2031, 4, 9), "b"), 1880)],
        )


if __name__ == "__main__":
    unittest.main()
