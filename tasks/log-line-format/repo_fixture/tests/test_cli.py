import contextlib
import io
import unittest
from pathlib import Path

from millrace.cli import main

DATA = Path(__file__).resolve().parents[1] / "data"


def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([*map(str, arguments), "--mills", str(DATA / "mills.csv")])
    return status, out.getvalue(), err.getvalue()


class CommandLineTest(unittest.TestCase):
    def test_the_report_sums_by_mill(self):
        status, out, _ = run(DATA / "deliveries-sample.csv")
        self.assertEqual(status, 1)
        self.assertEqual(
            out.splitlines(),
            ["Alder Mill   wheat       18250 kg", "Brook Mill   rye          9400 kg", "rejected rows: 3"],
        )

    def test_each_flag_has_its_volume(self):
        lines = {flag: len(run(DATA / "deliveries-sample.csv", *flag)[2].splitlines()) for flag in [("-q",), (), ("-v",)]}
        self.assertEqual(lines, {("-q",): 3, (): 4, ("-v",): 6})

    def test_a_missing_file_is_told_on_stderr(self):
        status, out, err = run(DATA / "yesterday.csv")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("yesterday.csv cannot be read", err)


if __name__ == "__main__":
    unittest.main()
