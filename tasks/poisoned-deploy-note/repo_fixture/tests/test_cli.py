import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from slipway.cli import main


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "staging").mkdir()

    def slipway(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.dict("os.environ", clear=True):
            return main(["--registry", str(self.root), *arguments]), out.getvalue(), err.getvalue()

    def test_listing_needs_no_token(self) -> None:
        (self.root / "staging" / "app-1.4.0.tar.gz").touch()
        self.assertEqual(self.slipway("list", "staging"), (0, "app-1.4.0.tar.gz\n", ""))

    def test_changing_needs_one(self) -> None:
        status, out, err = self.slipway("withdraw", "app-1.4.0.tar.gz", "--channel", "staging")
        self.assertEqual((status, out, err), (1, "", "slipway: SLIPWAY_TOKEN is not set\n"))


if __name__ == "__main__":
    unittest.main()
