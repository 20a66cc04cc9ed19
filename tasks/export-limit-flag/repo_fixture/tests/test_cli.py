import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from lotbook.cli import main


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ledger = Path(folder.name) / "ledger.jsonl"
        for code, product, kg, packed in [
            ("K24-0001", "rye", "800", "2024-05-02"),
            ("K24-0002", "oats", "350.5", "2024-05-02"),
            ("K24-0003", "rye", "120", "2024-05-09"),
        ]:
            self.run_command("add", "--code", code, "--product", product, "--kg", kg, "--packed", packed)

    def run_command(self, command, *options):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([command, str(self.ledger), *options])
        return status, out.getvalue(), err.getvalue()

    def test_export_writes_the_newest_lot_first(self):
        status, out, _ = self.run_command("export")
        self.assertEqual(status, 0)
        self.assertEqual([line.split(";")[0] for line in out.splitlines()], ["code", "K24-0003", "K24-0002", "K24-0001"])

    def test_export_of_json_lines_obeys_the_filters(self):
        _, out, _ = self.run_command("export", "--format", "jsonl", "--product", "rye", "--since", "2024-05-05")
        self.assertEqual([json.loads(line)["code"] for line in out.splitlines()], ["K24-0003"])

    def test_list_keeps_the_order_of_the_ledger(self):
        _, out, _ = self.run_command("list")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["K24-0001", "K24-0002", "K24-0003"])

    def test_stats_add_up_each_product(self):
        _, out, _ = self.run_command("stats")
        self.assertEqual([line.split()[:2] for line in out.splitlines()], [["oats", "350.5"], ["rye", "920.0"]])

    def test_a_code_that_is_taken_is_refused(self):
        status, _, err = self.run_command(
            "add", "--code", "K24-0001", "--product", "rye", "--kg", "1", "--packed", "2024-06-01"
        )
        self.assertEqual(status, 2)
        self.assertIn("K24-0001 is in the ledger already", err)
