import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from paperbark import Document
from paperbark.cli import main
from paperbark.report import overview


class ReportTest(unittest.TestCase):
    def test_titles_are_escaped(self) -> None:
        page = overview([Document("1987-001", "Smith & Sons", 1987, "files/1987-001.pdf")])
        self.assertIn("<li>1987-001 Smith &amp; Sons</li>", page)

    def test_years_are_headings_in_order(self) -> None:
        page = overview([Document("1990-001", "Letter", 1990, "b"), Document("1987-001", "Lease", 1987, "a")])
        self.assertLess(page.index("<h2>1987</h2>"), page.index("<h2>1990</h2>"))


class CommandTest(unittest.TestCase):
    def test_add_list_report(self) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            scan, archive, page = Path(folder) / "a.pdf", Path(folder) / "archive", Path(folder) / "report.html"
            scan.write_bytes(b"%PDF")
            self.assertEqual(main(["--root", str(archive), "add", str(scan), "--title", "Lease", "--year", "1987"]), 0)
            self.assertEqual(main(["--root", str(archive), "list"]), 0)
            self.assertEqual(main(["--root", str(archive), "report", "--output", str(page)]), 0)
            self.assertIn("1987-001 Lease", page.read_text(encoding="utf-8"))
        self.assertEqual(out.getvalue(), "1987-001\n1987-001\t1987\tLease\n")


if __name__ == "__main__":
    unittest.main()
