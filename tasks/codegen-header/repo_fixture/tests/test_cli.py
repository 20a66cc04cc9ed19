import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from fieldpress.cli import main

MANIFEST = str(Path(__file__).parent.parent / "fieldpress.json")


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def run_command(self, command):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = main([command, MANIFEST, "--out", str(self.out)])
        return status, out.getvalue().splitlines()

    def test_all_files_of_the_manifest_are_built_once(self):
        status, lines = self.run_command("build")
        self.assertEqual((status, len(lines)), (0, 5))
        self.assertTrue((self.out / "shop/customer.ts").is_file())
        self.assertEqual(self.run_command("build"), (0, []))

    def test_check_finds_what_somebody_changed(self):
        self.run_command("build")
        self.assertEqual(self.run_command("check"), (0, []))
        (self.out / "reports/order.sql").write_text("create table orders ();\n")
        self.assertEqual(self.run_command("check"), (1, ["out of date: reports/order.sql"]))

    def test_a_built_module_is_python(self):
        self.run_command("build")
        names = {}
        exec((self.out / "office/customer.py").read_text(), names)
        self.assertEqual(names["Customer"](number=7, full_name="Ada").born_on, None)
