import io
import tempfile
import unittest
from pathlib import Path
from urllib.error import URLError

from tidewatch.cache import FRESH_S, Cache
from tidewatch.client import Client
from tidewatch.errors import BadAnswer, UnknownService, Unreachable


def answering(body, seen):
    def opener(request, timeout):
        seen.append(request.full_url)
        return io.BytesIO(body)

    return opener


class RequestTest(unittest.TestCase):
    def test_parameters_are_sorted_and_escaped(self):
        request = Client("almanac").build_request("/day", zone="roads & quay", day="2031-05-06")
        self.assertEqual(request.full_url, "https://almanac.harbour.example/v1/day?day=2031-05-06&zone=roads+%26+quay")

    def test_an_unknown_service_names_the_choices(self):
        with self.assertRaisesRegex(UnknownService, "almanac, gauges, sea-state"):
            Client("weather")


class AnswerTest(unittest.TestCase):
    def test_what_is_not_json_is_a_bad_answer(self):
        with self.assertRaises(BadAnswer):
            Client("almanac", opener=answering(b"<html>", [])).get_json("/day")

    def test_a_network_error_is_unreachable(self):
        def opener(request, timeout):
            raise URLError("no route")

        with self.assertRaisesRegex(Unreachable, "almanac"):
            Client("almanac", opener=opener).get_json("/day")

    def test_a_fresh_answer_comes_from_the_cache(self):
        now = [2_000_000_000.0]
        seen = []
        with tempfile.TemporaryDirectory() as directory:
            client = Client("almanac", Cache(Path(directory), lambda: now[0]), answering(b'{"tides": []}', seen))
            for later_s in (0, FRESH_S - 1, 2):
                now[0] += later_s
                self.assertEqual(client.get_json("/day", day="2031-05-06"), {"tides": []})
        self.assertEqual(len(seen), 2)


if __name__ == "__main__":
    unittest.main()
