import json
import tempfile
import unittest
from pathlib import Path

from ferrydesk import bookings
from ferrydesk.report import report

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample.json"


class Report(unittest.TestCase):
    def test_figures_are_by_sailing(self):
        self.assertEqual(
            report(bookings.load(SAMPLE)),
            [
                "Coll-Tiree 2024-06-03 10:40: 10 passengers, 1 vehicles, 100% absent",
                "Oban-Coll 2024-06-03 07:15: 3 passengers, 1 vehicles, 33% absent",
            ],
        )


class Load(unittest.TestCase):
    def test_an_incomplete_booking_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "night.json")
            path.write_text(json.dumps([{"reference": "QF7K2M", "vehicle": "car"}]), encoding="utf-8")
            with self.assertRaisesRegex(bookings.BookingsError, "booking 1 lacks sailing, name"):
                bookings.load(path)


if __name__ == "__main__":
    unittest.main()
