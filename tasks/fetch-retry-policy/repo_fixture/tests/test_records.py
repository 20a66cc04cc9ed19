import json
import unittest

from gleaner.client import Client
from gleaner.errors import BadPage
from gleaner.records import records
from gleaner.transport import Response


def catalogue(pages):
    return lambda url, headers: Response(200, json.dumps(pages[url]).encode())


class Records(unittest.TestCase):
    def test_pages_are_followed_to_the_last(self):
        pages = {"a": {"records": [{"id": 1, "title": "Plough"}], "next": "b"}, "b": {"records": [{"id": 2, "title": "Loom"}]}}
        pauses = []
        client = Client(catalogue(pages), sleep=pauses.append, pause_s=2)
        self.assertEqual([record["title"] for record in records(client, "a")], ["Plough", "Loom"])
        self.assertEqual(pauses, [2])

    def test_a_circle_of_pages_is_an_error(self):
        with self.assertRaisesRegex(BadPage, "successor"):
            list(records(Client(catalogue({"a": {"records": [], "next": "a"}})), "a"))

    def test_a_record_without_a_title_is_an_error(self):
        with self.assertRaisesRegex(BadPage, "title"):
            list(records(Client(catalogue({"a": {"records": [{"id": 1}]}})), "a"))


if __name__ == "__main__":
    unittest.main()
