import unittest

from tidewatch.errors import BadAnswer
from tidewatch.readings import level_lines, tide_lines


class LinesTest(unittest.TestCase):
    def test_levels_show_their_trend(self):
        levels = (1.5, 1.75, 1.75, 1.25)
        answer = {"readings": [{"at": f"06:{15 * i:02}", "level_m": level} for i, level in enumerate(levels)]}
        self.assertEqual(
            level_lines(answer),
            ["06:00    1.50 m", "06:15    1.75 m  rising", "06:30    1.75 m  steady", "06:45    1.25 m  falling"],
        )

    def test_tides_of_a_day(self):
        answer = {"tides": [{"at": "03:12", "kind": "low", "level_m": "0.4"}]}
        self.assertEqual(tide_lines(answer), ["03:12  low     0.40 m"])

    def test_an_answer_without_its_list_is_bad(self):
        with self.assertRaises(BadAnswer):
            tide_lines({"error": "maintenance"})


if __name__ == "__main__":
    unittest.main()
