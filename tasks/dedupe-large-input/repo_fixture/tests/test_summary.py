import io
import unittest

from roadcount import events
from roadcount.summary import summarise


class Summary(unittest.TestCase):
    def test_counts_are_by_loop_and_hour(self):
        text = "1719828001,N4-017,2\n1719828002,N4-017,3\n1719831600,N4-017,2\n1719828003,A1-002,5\n"
        lines = ["A1-002 2024-07-01T10 1 5", "N4-017 2024-07-01T10 2 5", "N4-017 2024-07-01T11 1 2"]
        self.assertEqual(summarise(events.read(io.StringIO(text))), lines)

    def test_a_line_that_is_no_event_is_named(self):
        with self.assertRaisesRegex(events.FormatError, "line 2"):
            events.read(io.StringIO("1719828001,N4-017,2\n1719828001;N4-017;2\n"))


if __name__ == "__main__":
    unittest.main()
