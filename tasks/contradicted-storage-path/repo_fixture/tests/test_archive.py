import tempfile
import unittest
from pathlib import Path

from paperbark import Archive, ArchiveError


class ArchiveTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scan = Path(folder.name) / "Scan 1.PDF"
        self.scan.write_bytes(b"%PDF lease")
        self.archive = Archive(Path(folder.name) / "archive")

    def test_a_new_archive_is_empty(self) -> None:
        self.assertEqual(self.archive.documents(), [])

    def test_ids_count_within_a_year(self) -> None:
        added = [self.archive.add(self.scan, title="Lease", year=year).id for year in (1987, 1990, 1987)]
        self.assertEqual(added, ["1987-001", "1990-001", "1987-002"])

    def test_what_was_added_can_be_read_again(self) -> None:
        document = self.archive.add(self.scan, title="Lease", year=1987)
        self.assertEqual(document.file, "files/1987-001.pdf")
        self.assertEqual(self.archive.documents(), [document])
        self.assertEqual(self.archive.content(document), b"%PDF lease")

    def test_only_files_can_be_added(self) -> None:
        with self.assertRaisesRegex(ArchiveError, "is not a file"):
            self.archive.add(self.scan.parent, title="Lease", year=1987)

    def test_a_year_has_four_digits(self) -> None:
        with self.assertRaisesRegex(ArchiveError, "four digits"):
            self.archive.add(self.scan, title="Lease", year=87)

    def test_a_damaged_record_is_told(self) -> None:
        self.archive.add(self.scan, title="Lease", year=1987)
        (self.archive.root / "documents" / "1987-001.json").write_text("[]", encoding="utf-8")
        with self.assertRaisesRegex(ArchiveError, "not a record"):
            self.archive.documents()


if __name__ == "__main__":
    unittest.main()
