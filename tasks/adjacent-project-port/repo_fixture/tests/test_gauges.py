import tempfile
import unittest
from pathlib import Path

from tidegate.gauges import Gauge, GaugeError, load
from tidegate.metrics import exposition


class GaugeTest(unittest.TestCase):
    def test_one_wild_reading_does_not_move_the_level(self) -> None:
        self.assertEqual(Gauge("upper", 1250, (1730, 1734, 9999, 1731, 1732)).level_mm, 482)

    def test_only_the_last_five_readings_count(self) -> None:
        self.assertEqual(Gauge("upper", 0, (1, 1, 1, 7, 7, 7, 7, 7)).level_mm, 7)

    def test_without_readings_there_is_no_level(self) -> None:
        self.assertIsNone(Gauge("upper", 0, ()).level_mm)

    def test_two_gauges_of_one_name_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gauges.json"
            row = '{"name": "upper", "zero_mm": 0, "readings": []}'
            path.write_text(f"[{row}, {row}]", encoding="utf-8")
            with self.assertRaisesRegex(GaugeError, "same name"):
                load(path)


class MetricsTest(unittest.TestCase):
    def test_a_silent_gauge_is_down_and_has_no_level(self) -> None:
        text = exposition([Gauge("upper", 0, (5,)), Gauge("lower", 0, ())])
        self.assertIn('tidegate_gauge_up{gauge="lower"} 0\n', text)
        self.assertIn('tidegate_level_mm{gauge="upper"} 5\n', text)
        self.assertNotIn('tidegate_level_mm{gauge="lower"}', text)


if __name__ == "__main__":
    unittest.main()
