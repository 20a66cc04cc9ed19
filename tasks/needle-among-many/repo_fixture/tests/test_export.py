import contextlib
import io
import unittest
from pathlib import Path

from ferrydesk.__main__ import main

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample.json"


class Export(unittest.TestCase):
    def run_main(self, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main([str(arg) for arg in args])
        return status, out.getvalue().splitlines()

    def test_one_row_a_booking(self):
        status, lines = self.run_main("export", SAMPLE)
        self.assertEqual((status, len(lines)), (0, 5))
        self.assertEqual(lines[0], "reference,sailing,name,phone,passengers,vehicle")
        self.assertEqual(lines[1], "QF7K2M,Oban-Coll 2024-06-03 07:15,walking club,07700 900142,2,car")

    def test_cells_are_quoted_where_they_have_to_be(self):
        self.assertIn('"choir, party of 9"', self.run_main("export", SAMPLE)[1][3])

    def test_no_shows_are_those_who_did_not_check_in(self):
        status, lines = self.run_main("export", SAMPLE, "--no-shows")
        self.assertEqual([line.partition(",")[0] for line in lines[1:]], ["QF7K9D", "QF8B3T", "QF8C1X"])


if __name__ == "__main__":
    unittest.main()
