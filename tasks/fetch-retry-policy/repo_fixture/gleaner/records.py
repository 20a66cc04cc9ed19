"""Pages to records."""

import json
from collections.abc import Iterator
from typing import Any

from gleaner.client import Client
from gleaner.errors import BadPage


def records(client: Client, url: str) -> Iterator[dict[str, Any]]:
    """Every record of a catalogue, page by page. Raises BadPage on a page that is none, or that was there before."""
    seen = set()
    while url:
        if url in seen:
            raise BadPage(f"{url} is its own successor")
        if seen:
            client.pause()
        seen.add(url)
        page = parse(client.get(url), url)
        yield from page["records"]
        url = page.get("next")


def parse(text: str, url: str) -> dict[str, Any]:
    try:
        page = json.loads(text)
    except ValueError as error:
        raise BadPage(f"{url} is not JSON: {error}") from None
    if not isinstance(page, dict) or not isinstance(page.get("records"), list):
        raise BadPage(f"{url} has no list of records")
    for record in page["records"]:
        if not isinstance(record, dict) or not {"id", "title"} <= record.keys():
            raise BadPage(f"{url} has a record without id or title")
    return page
