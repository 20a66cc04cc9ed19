import tempfile
import unittest
from pathlib import Path

from partbook import Part, load
from partbook.errors import CatalogueError

HEADING = "number,name,bin,stock,minimum,pack\n"


class LoadTest(unittest.TestCase):
    def load(self, text: str) -> list[Part]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "parts.csv"
            path.write_text(text, encoding="utf-8")
            return load(path)

    def test_lines_keep_their_order(self) -> None:
        parts = self.load(HEADING + "Z,Zip tie,A1,5,2,1\nA,Axle,A2,1,2,1\n")
        self.assertEqual([part.number for part in parts], ["Z", "A"])

    def test_a_byte_order_mark_is_skipped(self) -> None:
        self.assertEqual(len(self.load("\ufeff" + HEADING + "A,Axle,A2,1,2,1\n")), 1)

    def test_a_number_may_not_be_listed_twice(self) -> None:
        with self.assertRaisesRegex(CatalogueError, "listed twice"):
            self.load(HEADING + "A,Axle,A2,1,2,1\nA,Axle,A3,1,2,1\n")

    def test_counts_are_whole_numbers(self) -> None:
        with self.assertRaisesRegex(CatalogueError, "line 2"):
            self.load(HEADING + "A,Axle,A2,some,2,1\n")

    def test_packs_to_order_are_rounded_up(self) -> None:
        self.assertEqual(Part("A", "Axle", "A2", stock=3, minimum=10, pack=5).packs_to_order, 2)


if __name__ == "__main__":
    unittest.main()
