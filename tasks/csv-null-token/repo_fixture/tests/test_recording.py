import tempfile
import unittest
from pathlib import Path

from herdbook import means, source
from herdbook.recording import BadRecording, Recording


def recording(**known):
    return Recording.parse({"farm": "0417", "ear_tag": "DE 12", "day": "2024-05-03"} | known)


class Parsing(unittest.TestCase):
    def test_what_is_left_out_is_not_known(self):
        self.assertIsNone(recording().milk_kg)
        self.assertEqual(recording(remark="").remark, "")

    def test_an_unknown_column_is_refused(self):
        with self.assertRaisesRegex(BadRecording, "unknown column 'urea'"):
            recording(urea=21)

    def test_an_error_names_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "2024-05.jsonl"
            path.write_text('\n{"farm": "0417", "ear_tag": "DE 12"}\n', encoding="utf-8")
            with self.assertRaisesRegex(BadRecording, "2024-05.jsonl, line 2: day is not known"):
                source.read(path)


class Doubts(unittest.TestCase):
    def test_a_dry_cow_is_not_milked(self):
        self.assertEqual(list(recording(dry=True, milk_kg=3.5).doubts()), ["dry, but was milked"])
        self.assertEqual(list(recording(dry=True, milk_kg=0.0).doubts()), [])


class MeansOfAFarm(unittest.TestCase):
    def test_fat_is_weighted_by_the_milk(self):
        [farm] = means.by_farm([recording(milk_kg=30.0, fat_pct=4.0), recording(milk_kg=10.0, fat_pct=6.0)])
        self.assertEqual((farm.cows, farm.milk_kg, farm.fat_pct), (1, 20.0, 4.5))

    def test_what_is_not_known_does_not_count(self):
        [farm] = means.by_farm([recording(milk_kg=30.0), recording()])
        self.assertEqual((farm.milk_kg, farm.fat_pct), (30.0, None))
