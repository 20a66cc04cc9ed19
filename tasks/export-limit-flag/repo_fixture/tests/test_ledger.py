import tempfile
import unittest
from pathlib import Path

from lotbook import ledger
from lotbook.errors import LedgerError


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "ledger.jsonl"

    def test_a_byte_order_mark_and_empty_lines_are_passed_over(self):
        line = '{"code": "K24-0007", "product": "spelt", "kg": 90, "packed": "2024-03-01"}'
        self.path.write_text(f"\ufeff{line}\n\n", encoding="utf-8")
        self.assertEqual([lot.code for lot in ledger.read(self.path)], ["K24-0007"])

    def test_an_error_names_the_line(self):
        self.path.write_text('{"code": "K24-0007", "product": "maize", "kg": 90, "packed": "2024-03-01"}\n')
        with self.assertRaisesRegex(LedgerError, r"ledger\.jsonl:1: 'maize' is not one of"):
            ledger.read(self.path)

    def test_a_missing_ledger_is_a_ledger_error(self):
        with self.assertRaises(LedgerError):
            ledger.read(self.path)
