import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from herdbook.cli import main

MAY = """\
{"farm": "0417", "ear_tag": "DE 12", "day": "2024-05-03", "milk_kg": 31.4, "fat_pct": 4.1, "remark": "kicks"}
{"farm": "0388", "ear_tag": "DE 77", "day": "2024-05-02", "milk_kg": 82.0, "dry": false}
"""


class Commands(unittest.TestCase):
    def run_command(self, command):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "2024-05.jsonl"
            path.write_text(MAY, encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = main([command, str(path)])
        return status, out.getvalue()

    def test_check_shows_what_is_unlikely(self):
        self.assertEqual(self.run_command("check"), (1, "0388 DE 77 2024-05-02: 82 kg of milk\n"))

    def test_means_are_shown_by_farm(self):
        _, out = self.run_command("means")
        self.assertEqual([line.split()[0] for line in out.splitlines()], ["0388", "0417"])

    def test_export_holds_every_column_in_order(self):
        _, out = self.run_command("export")
        first, second = json.loads(out)
        self.assertEqual(list(first)[:4], ["farm", "ear_tag", "day", "milk_kg"])
        self.assertEqual((first["dry"], first["remark"]), (False, None))
        self.assertEqual(second["remark"], "kicks")
