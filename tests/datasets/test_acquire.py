"""Nothing but the pinned bytes gets into the cache, whatever the network, the server or the user does."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from smriti.datasets import acquire
from smriti.datasets.acquire import fetch, import_file
from smriti.datasets.lock import Pin
from smriti.errors import UsageError


class Broken(httpx.SyncByteStream):
    """A body whose connection is lost after `sent`."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def __iter__(self) -> Iterator[bytes]:
        yield self._sent
        raise httpx.ReadError("connection lost")


class Server(httpx.BaseTransport):
    """Serves `content`, by ranges unless told otherwise, and keeps the ranges that it was asked for."""

    def __init__(self, content: bytes, *, breaks_after: int | None = None, ranges: bool = True) -> None:
        self.content = content
        self.breaks_after = breaks_after
        self.ranges = ranges
        self.asked: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        stated = request.headers.get("Range")
        self.asked.append(stated)
        start = int(stated.removeprefix("bytes=").removesuffix("-")) if stated and self.ranges else 0
        if start and start >= len(self.content):
            return httpx.Response(416)
        body = self.content[start:]
        if self.breaks_after is not None:
            return httpx.Response(206 if start else 200, stream=Broken(body[: self.breaks_after]))
        return httpx.Response(206 if start else 200, content=body)


def test_what_is_fetched_is_the_pinned_file_and_is_not_fetched_again(small_pin: Pin, content: bytes) -> None:
    server = Server(content)
    seen: list[tuple[int, int | None]] = []
    path = fetch("small", lambda done, total: seen.append((done, total)), server)
    assert path.read_bytes() == content
    assert path.name == small_pin.file
    assert seen[-1] == (len(content), len(content))
    assert fetch("small", transport=server) == path
    assert len(server.asked) == 1


def test_an_interrupted_download_is_told_and_taken_up_where_it_broke_off(
    small_pin: Pin, content: bytes, cache: Path
) -> None:
    with pytest.raises(UsageError, match="1,000 bytes are kept") as raised:
        fetch("small", transport=Server(content, breaks_after=1000))
    assert small_pin.url in str(raised.value)
    assert not (cache / small_pin.file).exists()
    server = Server(content)
    assert fetch("small", transport=server).read_bytes() == content
    assert server.asked == ["bytes=1000-"]
    assert names(cache) == [small_pin.file]


def test_a_server_without_ranges_sends_it_all_again(small_pin: Pin, content: bytes) -> None:
    with pytest.raises(UsageError):
        fetch("small", transport=Server(content, breaks_after=1000))
    path = fetch("small", transport=Server(content, ranges=False))
    assert path.read_bytes() == content
    assert path.name == small_pin.file


def test_a_download_that_was_complete_but_for_the_move_needs_no_network(
    small_pin: Pin, content: bytes, cache: Path
) -> None:
    with pytest.raises(UsageError):
        fetch("small", transport=Server(content, breaks_after=len(content)))
    server = Server(content)
    assert fetch("small", transport=server) == cache / small_pin.file
    assert server.asked == []


def test_a_whole_file_of_unknown_size_is_recognised_when_the_server_has_no_more(
    small_pin: Pin, content: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = {"small": small_pin.model_copy(update={"bytes": None})}
    monkeypatch.setattr("smriti.datasets.lock.pins", lambda: unknown)
    with pytest.raises(UsageError):
        fetch("small", transport=Server(content, breaks_after=len(content)))
    server = Server(content)
    assert fetch("small", transport=server) == cache / small_pin.file
    assert server.asked == [f"bytes={len(content)}-"]


@pytest.mark.parametrize("served", [b"[{}]" * 999 + b"[{ }", b"[{}]", b"[{}]" * 5000, b"<html>not found</html>", b""])
def test_other_bytes_are_refused_with_both_digests_and_nothing_is_left(
    small_pin: Pin, cache: Path, served: bytes
) -> None:
    with pytest.raises(UsageError, match="does not serve the pinned small") as raised:
        fetch("small", transport=Server(served))
    assert small_pin.sha256 in str(raised.value)
    assert str(raised.value).count("sha256 ") == 2
    assert names(cache) == []


def test_a_beginning_that_was_of_another_file_is_thrown_away(small_pin: Pin, content: bytes, cache: Path) -> None:
    with pytest.raises(UsageError):
        fetch("small", transport=Server(b"x" * len(content), breaks_after=1000))
    with pytest.raises(UsageError, match="Nothing was kept"):
        fetch("small", transport=Server(content))
    assert names(cache) == []
    assert fetch("small", transport=Server(content)) == cache / small_pin.file


def test_without_a_network_one_paragraph_tells_the_address_the_digest_and_the_import(
    small_pin: Pin, cache: Path
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route to host", request=request)

    with pytest.raises(UsageError) as raised:
        fetch("small", transport=httpx.MockTransport(refuse))
    told = str(raised.value)
    for part in (small_pin.url, small_pin.sha256, "smriti data import PATH", "no route to host"):
        assert part in told
    assert "\n" not in told
    assert names(cache) == []


def test_a_servers_refusal_is_told(small_pin: Pin, cache: Path) -> None:
    with pytest.raises(UsageError, match="the server answered 404 Not Found"):
        fetch("small", transport=httpx.MockTransport(lambda _: httpx.Response(404)))
    assert names(cache) == []
    assert small_pin.name == "small"


def test_a_redirect_is_followed(small_pin: Pin, content: bytes) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "example.org":
            return httpx.Response(302, headers={"Location": "https://cdn.example.net/small"})
        return httpx.Response(200, content=content)

    path = fetch("small", transport=httpx.MockTransport(answer))
    assert (path.name, path.read_bytes()) == (small_pin.file, content)


def test_an_altered_file_in_the_cache_is_replaced(
    small_pin: Pin, content: bytes, in_cache: Callable[[bytes], Path]
) -> None:
    path = in_cache(b"altered")
    assert fetch("small", transport=Server(content)) == path
    assert (path.name, path.read_bytes()) == (small_pin.file, content)


def test_two_fetches_of_the_same_set_do_not_mix(small_pin: Pin, content: bytes, cache: Path) -> None:
    with acquire._part(small_pin) as (part, _):
        fcntl.flock(part, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is being fetched already"):
            fetch("small", transport=Server(content))
    assert fetch("small", transport=Server(content)) == cache / small_pin.file


def test_a_file_is_imported_by_its_bytes_whatever_its_name(
    small_pin: Pin, content: bytes, tmp_path: Path, cache: Path
) -> None:
    brought = tmp_path / "download(1)"
    brought.write_bytes(content)
    assert import_file(brought) == cache / small_pin.file
    assert (cache / small_pin.file).read_bytes() == content
    assert brought.exists()
    assert names(cache) == [small_pin.file]


@pytest.mark.parametrize(("name", "digests"), [("other.json", 1), ("small_v1.json", 2)])
def test_another_file_is_not_imported_and_leaves_nothing(
    small_pin: Pin, tmp_path: Path, cache: Path, name: str, digests: int
) -> None:
    brought = tmp_path / name
    brought.write_bytes(b"other")
    with pytest.raises(UsageError, match="Nothing was imported") as raised:
        import_file(brought)
    assert str(raised.value).count("sha256 ") == digests
    assert (small_pin.sha256 in str(raised.value)) == (digests == 2)
    assert names(cache) == []


def test_an_absent_file_and_a_directory_are_not_imported(small_pin: Pin, tmp_path: Path, cache: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(UsageError, match="data file"):
            import_file(path)
    assert names(cache) == []
    assert small_pin.name == "small"


def test_a_cache_that_cannot_be_made_is_told_with_the_variable(
    small_pin: Pin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match="Name another with SMRITI_DATA_DIR"):
        fetch(small_pin.name)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_in_the_place_of_a_partial_download_is_not_written_through(
    small_pin: Pin, content: bytes, cache: Path, tmp_path: Path
) -> None:
    cache.mkdir(exist_ok=True)
    (tmp_path / "precious").write_text("of somebody")
    (cache / f".{small_pin.file}.{small_pin.sha256[:12]}.part").symlink_to(tmp_path / "precious")
    with pytest.raises(UsageError, match="cannot be written to"):
        fetch("small", transport=Server(content))
    assert (tmp_path / "precious").read_text() == "of somebody"
    assert not (cache / small_pin.file).exists()
