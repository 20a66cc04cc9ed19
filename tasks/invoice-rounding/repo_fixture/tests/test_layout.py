import unittest
from pathlib import Path

from quillbill.layout import WIDTH, printed
from quillbill.parse import read_invoice

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "invoice.json"


class PrintedTest(unittest.TestCase):
    def setUp(self):
        self.rows = printed(read_invoice(EXAMPLE))

    def test_no_row_is_too_wide(self):
        self.assertLessEqual(max(map(len, self.rows)), WIDTH)

    def test_sums_are_at_the_end(self):
        self.assertEqual(
            [row.split() for row in self.rows[-3:]],
            [["Subtotal", "1,223.55"], ["Shipping", "9.50"], ["Total", "1,233.05"]],
        )

    def test_a_line_has_its_net_amount(self):
        self.assertTrue(self.rows[4].startswith("     3 x Iron gall ink, bottle"))
        self.assertTrue(self.rows[4].endswith(" 8.25         24.75"))


if __name__ == "__main__":
    unittest.main()
