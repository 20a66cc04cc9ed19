import contextlib
import io
import subprocess
import sys
import unittest
from decimal import Decimal
from pathlib import Path

from parcelrate import catalogue
from parcelrate.__main__ import main
from parcelrate.tariff import Refused

ROOT = Path(__file__).resolve().parents[1]
FROM_THEIR_CALCULATORS = [
    ("post", "0.4", "A", "3.90"),
    ("post", "2.1", "B", "9.92"),
    ("kestrel", "3.0", "A", "5.20"),
    ("kestrel", "7.5", "C", "13.49"),
    ("northline", "120", "B", "64.35"),
]


class Quotes(unittest.TestCase):
    def test_prices_are_those_of_the_carriers(self):
        carriers = catalogue.load()
        for key, kg, zone, price in FROM_THEIR_CALCULATORS:
            with self.subTest(carrier=key, kg=kg, zone=zone):
                self.assertEqual(carriers[key].tariff.price(Decimal(kg), zone), Decimal(price))

    def test_a_parcel_that_is_too_heavy_is_refused(self):
        with self.assertRaises(Refused):
            catalogue.load()["kestrel"].tariff.price(Decimal("25.1"), "A")

    def test_a_zone_that_is_not_served_is_refused(self):
        with self.assertRaises(Refused):
            catalogue.load()["northline"].tariff.price(Decimal("40"), "C")

    def test_the_command_line_prints_the_price_alone(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main(["quote", "kestrel", "--kg", "3.2", "--zone", "b"])
        self.assertEqual((status, out.getvalue()), (0, "7.38\n"))


class Settlement(unittest.TestCase):
    def test_it_needs_nothing_but_python(self):
        tool = ROOT / "tools" / "settlement.py"
        done = subprocess.run([sys.executable, "-I", str(tool)], capture_output=True, text=True, check=True)
        self.assertIn("UP-2019-4402-R3", done.stdout)


if __name__ == "__main__":
    unittest.main()
