import contextlib
import io
import tempfile
import unittest
from datetime import date
from pathlib import Path

from parcelhub import storage
from parcelhub.cli import main
from parcelhub.parcel import ParcelError
from parcelhub.shop import Shop


class WhatCanHappenToAParcel(unittest.TestCase):
    def setUp(self):
        self.shop = Shop()
        self.shop.take_in("CX4471", "0664-1122", "L", date(2024, 5, 17))

    def test_the_customer_is_told_of_a_new_parcel(self):
        text = "Parcel CX4471 waits for you, free of charge until 2024-05-24."
        self.assertEqual(self.shop.outbox, [("0664-1122", text)])

    def test_the_first_week_is_free(self):
        self.assertEqual(self.shop.hand_over("CX4471", date(2024, 5, 24)), 0)

    def test_each_day_after_that_costs_by_size(self):
        self.assertEqual(self.shop.hand_over("CX4471", date(2024, 5, 27)), 270)

    def test_a_parcel_leaves_but_once(self):
        self.shop.send_back("CX4471", date(2024, 6, 3), "unclaimed")
        self.assertEqual(self.shop.waiting(), [])
        with self.assertRaisesRegex(ParcelError, "has left the shelf on 2024-06-03"):
            self.shop.hand_over("CX4471", date(2024, 6, 4))


class TheClerk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "shop.json"

    def run_command(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(["--shop", str(self.path), *arguments])
        return status, out.getvalue()

    def test_a_parcel_from_put_to_hand(self):
        self.run_command("put", "CX4471", "--phone", "0664-1122", "--day", "2024-05-17")
        _, shown = self.run_command("list", "--day", "2024-05-26")
        self.assertEqual(shown.split(), ["CX4471", "M", "since", "2024-05-17", "0.70", "0664-1122"])
        self.assertEqual(self.run_command("hand", "CX4471", "--day", "2024-05-26"), (0, "0.70 to pay\n"))
        self.assertEqual(storage.load(self.path).parcels["CX4471"].fate, "collected")

    def test_an_unknown_code_is_refused(self):
        self.assertEqual(self.run_command("hand", "CX1"), (1, "parcelhub: CX1 is not known\n"))
        self.assertFalse(self.path.exists())
