import tempfile
import unittest
from pathlib import Path

from gleaner.cache import Cache
from gleaner.client import Client
from gleaner.errors import BadStatus
from gleaner.transport import Response

URL = "https://museum.example/export"


class Fake:
    """Answers in the order given, and remembers what it was asked."""

    def __init__(self, *responses):
        self.responses = list(responses)
        self.asked = []

    def __call__(self, url, headers):
        self.asked.append((url, dict(headers)))
        return self.responses.pop(0)


class Get(unittest.TestCase):
    def test_a_page_is_its_text(self):
        fake = Fake(Response(200, "Grüße".encode()))
        self.assertEqual(Client(fake).get(URL), "Grüße")
        self.assertEqual(fake.asked, [(URL, {"Accept": "application/json"})])

    def test_a_status_that_is_no_page_is_an_error(self):
        with self.assertRaises(BadStatus) as caught:
            Client(Fake(Response(404))).get(URL)
        self.assertEqual((caught.exception.status, caught.exception.url), (404, URL))

    def test_a_page_with_an_etag_is_asked_for_by_it_the_next_time(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Fake(Response(200, b"page", {"ETag": '"a1"'}), Response(304))
            client = Client(fake, Cache(Path(folder, "cache")))
            self.assertEqual([client.get(URL), client.get(URL)], ["page", "page"])
            self.assertEqual(fake.asked[1][1]["If-None-Match"], '"a1"')


if __name__ == "__main__":
    unittest.main()
