import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from roadcount.__main__ import main
from roadcount.clean import drop_impossible
from roadcount.events import Event


class Clean(unittest.TestCase):
    def test_no_axle_and_too_many_axles_are_dropped(self):
        events = [Event(0, "N4-001", axles) for axles in (0, 1, 2, 12, 13, -1)]
        self.assertEqual([event.axles for event in drop_impossible(events)], [1, 2, 12])

    def test_the_command_keeps_the_order_of_the_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            raw, cleaned = Path(folder, "raw.csv"), Path(folder, "cleaned.csv")
            raw.write_text("60,N4-001,2\n20,N4-001,0\n40,N4-001,5\n", encoding="utf-8")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = main(["clean", str(raw), str(cleaned)])
            self.assertEqual((status, out.getvalue()), (0, "3 read, 2 kept\n"))
            self.assertEqual(cleaned.read_text(encoding="utf-8"), "60,N4-001,2\n40,N4-001,5\n")


if __name__ == "__main__":
    unittest.main()
