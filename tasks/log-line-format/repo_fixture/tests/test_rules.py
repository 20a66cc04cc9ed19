import logging
import unittest

from millrace.loader import Row
from millrace.rules import accepted

MILLS = {"ALD": "Alder Mill"}


def row(**changed):
    fields = {"line": 2, "ticket": "T-1", "mill": "ALD", "grain": "wheat", "weight_kg": "900", "moisture": "13.5"}
    return Row(**{**fields, **changed})


class RulesTest(unittest.TestCase):
    def objection(self, *rows):
        with self.assertLogs("millrace.rules", logging.WARNING) as logged:
            self.assertEqual(len(accepted(rows, MILLS)), len(rows) - 1)
        return logged.records[0].getMessage()

    def test_a_good_row_is_kept(self):
        self.assertEqual(accepted([row()], MILLS), [row()])

    def test_the_mill_must_be_known(self):
        self.assertEqual(self.objection(row(mill="ZZZ")), 'line 2 rejected: unknown mill "ZZZ"')

    def test_the_second_row_with_a_ticket_is_rejected(self):
        self.assertEqual(self.objection(row(), row(line=3)), "line 3 rejected: ticket T-1 was used before")

    def test_weights_are_whole_kilograms(self):
        self.assertEqual(self.objection(row(weight_kg="9.5")), 'line 2 rejected: weight "9.5" is no number of kilograms')

    def test_each_grain_has_its_limit(self):
        self.assertEqual(self.objection(row(moisture="14.6")), "line 2 rejected: moisture 14.6 is over 14.5 for wheat")
        self.assertEqual(accepted([row(grain="barley", moisture="14.6")], MILLS)[0].grain, "barley")


if __name__ == "__main__":
    unittest.main()
