import tempfile
import unittest
from pathlib import Path

from tidewatch import levels

ROOT = Path(__file__).resolve().parents[1]


class Levels(unittest.TestCase):
    def write(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "levels.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_hold_is_optional(self):
        path = self.write('[pier]\nlabel = "Pier"\nwarn = 4.0\nalarm = 4.5\n')
        self.assertEqual(levels.load(path), {"pier": levels.Level("Pier", 4.0, 4.5, 0)})

    def test_an_alarm_level_must_be_above_the_warning_level(self):
        with self.assertRaisesRegex(levels.LevelsError, "pier"):
            levels.load(self.write('[pier]\nlabel = "Pier"\nwarn = 4.5\nalarm = 4.5\n'))

    def test_an_unknown_key_is_refused(self):
        with self.assertRaisesRegex(levels.LevelsError, "warm"):
            levels.load(self.write('[pier]\nlabel = "Pier"\nwarm = 4.0\nalarm = 4.5\n'))

    def test_every_levels_file_in_the_repository_loads(self):
        files = sorted(ROOT.rglob("levels.toml"))
        self.assertTrue(files)
        for path in files:
            with self.subTest(path=str(path.relative_to(ROOT))):
                self.assertIn("harbour-north", levels.load(path))


if __name__ == "__main__":
    unittest.main()
