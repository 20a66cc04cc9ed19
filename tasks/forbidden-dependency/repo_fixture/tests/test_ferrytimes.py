import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from ferrytimes.cli import main
from ferrytimes.model import BadTimetable, Departure
from ferrytimes.notices import notices_for, read_notices
from ferrytimes.readers import read_timetable

NORTH = """line;time;from;to;days
N1;17:40;Holm;Sandvik;weekdays
N1;07:10;Holm;Sandvik;
N2;08:00;Sandvik;Outer Isle;weekends
"""
SKERRY = '{"lines": {"S": [{"at": "06:30", "from": "Skerry", "to": "Holm"}, {"at": "18:30", "from": "Skerry", "to": "Holm"}]}}'


class WithFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


class Readers(WithFiles):
    def test_csv(self):
        departures = read_timetable(self.write("north.csv", NORTH))
        self.assertEqual(departures[1], Departure("07:10", "N1", "Holm", "Sandvik", "daily"))

    def test_json(self):
        departures = read_timetable(self.write("skerry.json", SKERRY))
        self.assertEqual([departure.time for departure in departures], ["06:30", "18:30"])

    def test_what_is_wrong_is_said_with_the_name_of_the_file(self):
        for name, text in (("a.csv", "line;time\nN1;07:10\n"), ("b.json", "[]"), ("c.csv", NORTH.replace("07:10", "7.10")), ("d.ods", "")):
            with self.subTest(name), self.assertRaisesRegex(BadTimetable, f"^{name}: "):
                read_timetable(self.write(name, text))


class CommandLine(WithFiles):
    def run_main(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(argument) for argument in argv])
        return status, out.getvalue(), err.getvalue()

    def test_departures_are_in_order_of_time(self):
        status, out, _ = self.run_main("departures", self.write("north.csv", NORTH), "--from", "Holm")
        self.assertEqual((status, out), (0, "07:10  N1   Sandvik (daily)\n17:40  N1   Sandvik (weekdays)\n"))

    def test_only_what_leaves_later(self):
        _, out, _ = self.run_main("departures", self.write("north.csv", NORTH), "--from", "Holm", "--after", "12:00")
        self.assertEqual(out, "17:40  N1   Sandvik (weekdays)\n")

    def test_a_bad_timetable(self):
        status, out, err = self.run_main("departures", self.folder / "none.csv", "--from", "Holm")
        self.assertEqual((status, out), (3, ""))
        self.assertIn("ferrytimes: none.csv: cannot be read", err)


class Notices(unittest.TestCase):
    def test_the_quays_own_come_first(self):
        notices = read_notices('<board><notice>No bikes  today</notice><notice quay="Holm">Gate 2</notice></board>')
        self.assertEqual(notices_for("Holm", notices), ["Gate 2", "No bikes today"])
        self.assertEqual(notices_for("Skerry", notices), ["No bikes today"])

    def test_a_broken_feed_is_no_notices(self):
        self.assertEqual(read_notices("<board><notice>"), [])
