import unittest

from tidewatch.assess import assess
from tidewatch.levels import Level

PIER = Level("Pier", warn=4.0, alarm=4.5, hold_min=10)


class Assess(unittest.TestCase):
    def test_under_the_warning_level_all_is_calm(self):
        self.assertEqual(assess(PIER, 3.99, minutes=60), "calm")

    def test_a_warning_waits_for_the_hold(self):
        self.assertEqual(assess(PIER, 4.0, minutes=9), "calm")
        self.assertEqual(assess(PIER, 4.0, minutes=10), "warning")

    def test_an_alarm_does_not_wait(self):
        self.assertEqual(assess(PIER, 4.5, minutes=0), "alarm")


if __name__ == "__main__":
    unittest.main()
