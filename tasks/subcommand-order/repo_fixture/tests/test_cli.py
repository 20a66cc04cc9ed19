import contextlib
import io
import shutil
import tempfile
import unittest
from pathlib import Path

from coldroom.cli import main
from coldroom.store import load

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "store.json"


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.store = Path(directory.name) / "store.json"
        shutil.copy(EXAMPLE, self.store)

    def run_step(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["--store", str(self.store), *arguments])
        return status, out.getvalue(), err.getvalue()

    def test_a_step_says_what_it_did_and_saves_it(self):
        self.assertEqual(self.run_step("defrost"), (0, "defrost: A, 6 mm\n", ""))
        self.assertEqual(load(self.store).units[0].frost_mm, 0)

    def test_a_missing_store_is_told(self):
        self.store.unlink()
        status, out, err = self.run_step("sweep")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("cannot be read", err)

    def test_an_unknown_step_is_a_wrong_command_line(self):
        with self.assertRaises(SystemExit) as ended:
            self.run_step("polish")
        self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
