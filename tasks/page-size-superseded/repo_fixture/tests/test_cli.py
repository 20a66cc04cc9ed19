import contextlib
import io
import unittest
from pathlib import Path

from partbook.cli import main

SAMPLE = str(Path(__file__).resolve().parent.parent / "data" / "sample.csv")


def partbook(*arguments: str) -> tuple[int, list[str], str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["--catalogue", SAMPLE, *arguments])
    return status, out.getvalue().splitlines(), err.getvalue()


class CommandTest(unittest.TestCase):
    def test_list_starts_with_a_heading(self) -> None:
        status, lines, _ = partbook("list")
        self.assertEqual((status, lines[0].split()), (0, ["number", "bin", "stock", "name"]))
        self.assertTrue(lines[1].startswith("BLT-M6 "))

    def test_list_can_be_narrowed_by_bin_and_text(self) -> None:
        _, lines, _ = partbook("list", "--bin", "b", "--match", "bearing")
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["BRG-6202", "BRG-6204"])

    def test_show_tells_what_to_order(self) -> None:
        _, lines, _ = partbook("show", "flt-oil")
        self.assertEqual(lines[-1], "order 1 packs")

    def test_reorder_is_tab_separated(self) -> None:
        _, lines, _ = partbook("reorder")
        self.assertEqual(lines, ["2\tBLT-M8", "2\tBRG-6204", "1\tFLT-OIL"])

    def test_an_unknown_part_is_an_error(self) -> None:
        status, lines, err = partbook("show", "XYZ")
        self.assertEqual((status, lines, err), (2, [], "partbook: no part has the number XYZ\n"))


if __name__ == "__main__":
    unittest.main()
