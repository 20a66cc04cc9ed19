import unittest

from stallpay.money import after_commission, euros


class MoneyTest(unittest.TestCase):
    def test_a_broken_cent_is_the_sellers(self):
        self.assertEqual([after_commission(cents) for cents in (100, 99, 16, 17)], [94, 94, 16, 16])

    def test_euros_have_thousands_and_two_digits(self):
        self.assertEqual([euros(cents) for cents in (5, 1250, 123456)], ["0.05", "12.50", "1,234.56"])


if __name__ == "__main__":
    unittest.main()
