import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from tidegate.cli import main
from tidegate.server import address


class AddressTest(unittest.TestCase):
    def test_host_and_port(self) -> None:
        self.assertEqual(address("localhost:0"), ("localhost", 0))
        self.assertEqual(address("[::1]:443"), ("::1", 443))

    def test_anything_else_is_refused(self) -> None:
        for text in ("localhost", "localhost:", "localhost:http", "localhost:70000"):
            with self.subTest(text), self.assertRaises(ValueError):
                address(text)


class CheckTest(unittest.TestCase):
    def check(self, text: str) -> tuple[int, str]:
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
            path = Path(folder) / "gauges.json"
            path.write_text(text, encoding="utf-8")
            return main(["check", str(path)]), out.getvalue()

    def test_levels_are_printed(self) -> None:
        self.assertEqual(self.check('[{"name": "upper", "zero_mm": 10, "readings": [14]}]'), (0, "upper: 4 mm\n"))

    def test_a_silent_gauge_is_a_failure(self) -> None:
        self.assertEqual(self.check('[{"name": "upper", "zero_mm": 10, "readings": []}]'), (1, "upper: no readings\n"))


if __name__ == "__main__":
    unittest.main()
