"""`smriti data`: pinned sets are listed, fetched, imported and verified in a cache that is never the user's own."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smriti.cli.amount import UNKNOWN_STEP, Amount
from smriti.datasets.lock import Pin
from smriti.datasets.lock import pins as real_pins
from tests.cli.command_line import Smriti

CONTENT = b"[{}]" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
OTHER = b"other"
OTHER_DIGEST = hashlib.sha256(OTHER).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `content` on this machine, by ranges, and keeps the ranges that it was asked for."""

    content = CONTENT
    breaks_after: int | None = None
    """The connection is lost after so many bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/small_v1.json"


class Answer(BaseHTTPRequestHandler):
    """One answer of the server."""

    server: Server

    def do_GET(self) -> None:
        stated = self.headers["Range"]
        self.server.asked.append(stated)
        body = self.server.content[int(stated.removeprefix("bytes=").removesuffix("-")) if stated else 0 :]
        self.send_response(206 if stated else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.breaks_after])

    def log_message(self, *_: object) -> None:
        """Say nothing: what the command says is under test."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the user that nothing may be written to, and no proxy between the command and this machine."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    return folder


@pytest.fixture(autouse=True)
def cache(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, which is not there yet; at the end of every test the user's home is empty."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SMRITI_DATA_DIR", str(folder))
    yield folder
    assert list(home.iterdir()) == []


@pytest.fixture
def server() -> Iterator[Server]:
    """Serves the pinned file until it is told otherwise."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def small(server: Server, pinned: Callable[..., None]) -> Server:
    """The one pinned set is `small`, of which the server has the file."""
    pinned(server.url)
    return server


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pins `small` at the given address, and nothing else."""

    def pin(url: str, size: int | None = len(CONTENT)) -> None:
        stated = {"revision": "v1", "licence": "CC0", "terms": "None at all.", "note": "Made up."}
        small = Pin(name="small", file="small_v1.json", url=url, sha256=DIGEST, bytes=size, **stated)
        for module in ("datasets.lock", "cli.data"):
            monkeypatch.setattr(f"smriti.{module}.pins", lambda: {"small": small})

    return pin


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put(cache: Path, content: bytes) -> Path:
    cache.mkdir()
    path = cache / "small_v1.json"
    path.write_bytes(content)
    return path


def test_list_tells_of_every_pinned_set_what_it_is_and_that_it_is_absent(smriti: Smriti, cache: Path) -> None:
    ended = smriti("data", "list")
    assert (ended.status, ended.err) == (0, "")
    first = next(line for line in ended.out.splitlines() if line.startswith("longmemeval-s "))
    assert first.split() == ["longmemeval-s", "277,383,467", "bytes", "sha256", "d6f21ea9d60a", "MIT", "absent"]
    for pin in real_pins().values():
        for told in (pin.name, pin.url, pin.sha256[:12], pin.licence, pin.terms, pin.note or "", str(cache / pin.file)):
            assert told in ended.out
    assert "unknown bytes" in ended.out
    assert not cache.exists()


def test_list_as_json_has_the_whole_pins(smriti: Smriti, small: Server, cache: Path) -> None:
    put(cache, CONTENT)
    assert smriti("data", "list", "--json").json == {
        "sets": [
            {
                "name": "small",
                "file": "small_v1.json",
                "url": small.url,
                "revision": "v1",
                "sha256": DIGEST,
                "bytes": 4000,
                "licence": "CC0",
                "terms": "None at all.",
                "reported": False,
                "note": "Made up.",
                "path": str(cache / "small_v1.json"),
                "present": True,
            }
        ]
    }


@pytest.mark.usefixtures("small")
def test_list_says_that_a_file_is_present(smriti: Smriti, cache: Path) -> None:
    put(cache, CONTENT)
    assert "present" in smriti("data", "list").out


def test_without_the_variable_the_cache_is_named_in_the_users_cache_and_not_made(
    smriti: Smriti, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SMRITI_DATA_DIR")
    for row in smriti("data", "list", "--json").json["sets"]:
        assert Path(row["path"]).is_relative_to(home)
    assert smriti("data", "verify").status == 0


def test_fetch_brings_the_pinned_file_into_the_cache_once(smriti: Smriti, small: Server, cache: Path) -> None:
    path = cache / "small_v1.json"
    line = f"small: {path}, 4,000 bytes, sha256 {DIGEST}\n"
    ended = smriti("data", "fetch", "small")
    assert (ended.status, ended.out, ended.err) == (0, line, "small  4,000 of 4,000 bytes\n")
    assert (path.read_bytes(), names(cache)) == (CONTENT, ["small_v1.json"])
    again = smriti("data", "fetch", "small", "small")
    assert (again.status, again.out, again.err) == (0, line, "")
    assert small.asked == [None]


@pytest.mark.usefixtures("small")
def test_fetch_as_json_is_one_object_beside_what_it_tells_on_the_way(smriti: Smriti, cache: Path) -> None:
    ended = smriti("data", "fetch", "small", "--json")
    row = {"name": "small", "path": str(cache / "small_v1.json"), "bytes": 4000, "sha256": DIGEST}
    assert ended.json == {"sets": [row]}
    assert ended.err == "small  4,000 of 4,000 bytes\n"


@pytest.mark.usefixtures("small")
def test_on_a_terminal_fetch_draws_a_bar(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm"), ("FORCE_COLOR", "1"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)
    ended = smriti("data", "fetch", "small")
    assert "4,000 of 4,000 bytes" in ended.err
    assert "━" in ended.err
    assert "━" not in ended.out


def test_a_fetch_that_broke_off_goes_on_from_there(smriti: Smriti, small: Server, cache: Path) -> None:
    small.breaks_after = 1500
    broken = smriti("data", "fetch", "small")
    assert (broken.status, broken.out) == (2, "")
    assert "1,500 bytes are kept, and the same command goes on from there" in broken.err.splitlines()[-1]
    assert "small_v1.json" not in names(cache)
    small.breaks_after = None
    assert smriti("data", "fetch", "small").status == 0
    assert small.asked == [None, "bytes=1500-"]
    assert (cache / "small_v1.json").read_bytes() == CONTENT
    assert names(cache) == ["small_v1.json"]


@pytest.mark.parametrize("served", [b"[{}]" * 999 + b"[{ }", OTHER])
def test_a_file_that_differs_is_refused_with_both_digests_and_leaves_nothing(
    smriti: Smriti, small: Server, cache: Path, served: bytes
) -> None:
    small.content = served
    ended = smriti("data", "fetch", "small")
    assert (ended.status, ended.out) == (2, "")
    told = ended.err.splitlines()[-1]
    assert told.startswith("smriti: ")
    assert DIGEST in told
    assert hashlib.sha256(served).hexdigest() in told
    assert names(cache) == []


def test_without_a_network_one_paragraph_has_the_address_the_digest_and_the_import(
    smriti: Smriti, pinned: Callable[..., None], cache: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listened on: nobody answers there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/small_v1.json"
        pinned(url)
        smriti("data", "fetch", "small").assert_refused(url, DIGEST, "smriti data import PATH")
    assert names(cache) == []


def test_no_set_is_fetched_when_one_of_the_names_is_unknown(smriti: Smriti, small: Server, cache: Path) -> None:
    smriti("data", "fetch", "small", "smal").assert_refused("'smal' is not known", "Did you mean 'small'?")
    assert small.asked == []
    assert not cache.exists()


@pytest.mark.usefixtures("small")
def test_import_knows_a_file_by_its_bytes(smriti: Smriti, cache: Path, tmp_path: Path) -> None:
    brought = tmp_path / "download(1)"
    brought.write_bytes(CONTENT)
    path = cache / "small_v1.json"
    ended = smriti("data", "import", brought)
    assert (ended.status, ended.out) == (0, f"small: {path}, 4,000 bytes, sha256 {DIGEST}\n")
    row = {"name": "small", "path": str(path), "bytes": 4000, "sha256": DIGEST}
    assert smriti("data", "import", brought, "--json").json == row
    assert names(cache) == ["small_v1.json"]
    assert smriti("data", "verify", "small").status == 0


@pytest.mark.usefixtures("small")
def test_import_of_another_file_under_the_pins_name_is_refused_with_both_digests(
    smriti: Smriti, cache: Path, tmp_path: Path
) -> None:
    brought = tmp_path / "small_v1.json"
    brought.write_bytes(OTHER)
    ended = smriti("data", "import", brought)
    assert (ended.status, ended.out) == (2, "")
    told = ended.err.splitlines()[-1]
    assert DIGEST in told
    assert OTHER_DIGEST in told
    assert names(cache) == []


def test_import_of_what_is_not_there_is_refused(smriti: Smriti) -> None:
    smriti("data", "import", "nowhere.json").assert_refused("'nowhere.json'")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("command", [("fetch", "small"), ("import", "brought.json")])
def test_a_cache_that_takes_no_file_is_told_with_the_variable(
    smriti: Smriti, cache: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    real = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.parent == cache:
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    Path("brought.json").write_bytes(CONTENT)
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("smriti.datasets.acquire.os.open", lambda path, *_: refuse(path))
    ended = smriti("data", *command)
    ended.assert_refused(f"'{cache}' cannot be written to: Permission denied", "SMRITI_DATA_DIR")


@pytest.mark.usefixtures("small")
def test_verify_of_a_good_file_is_a_line(smriti: Smriti, cache: Path) -> None:
    path = put(cache, CONTENT)
    ended = smriti("data", "verify")
    assert (ended.status, ended.out) == (0, f"small: good: {path}, 4,000 bytes, sha256 {DIGEST}\n")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("named", [(), ("small",)])
def test_verify_of_an_altered_file_tells_both_digests_and_is_exit_status_1(
    smriti: Smriti, cache: Path, named: tuple[str, ...]
) -> None:
    put(cache, OTHER)
    ended = smriti("data", "verify", *named)
    assert ended.status == 1
    (line,) = ended.out.splitlines()
    assert line.startswith("small: altered: ")
    assert DIGEST in line
    assert OTHER_DIGEST in line


@pytest.mark.usefixtures("small")
def test_an_absent_file_is_a_failure_only_where_it_is_named(smriti: Smriti, cache: Path) -> None:
    every, named = smriti("data", "verify"), smriti("data", "verify", "small")
    assert (every.status, named.status) == (0, 1)
    assert every.out == named.out
    assert every.out.startswith(f"small: absent: {cache / 'small_v1.json'} is not there")
    assert not cache.exists()


@pytest.mark.usefixtures("small")
def test_verify_as_json_has_what_was_found_beside_what_was_expected(smriti: Smriti, cache: Path) -> None:
    absent = smriti("data", "verify", "--json").json["sets"]
    assert [(row["state"], row["found"]) for row in absent] == [("absent", None)]
    path = put(cache, OTHER)
    ended = smriti("data", "verify", "small", "--json")
    assert ended.status == 1
    expected, found = {"bytes": 4000, "sha256": DIGEST}, {"bytes": 5, "sha256": OTHER_DIGEST}
    row = {"name": "small", "state": "altered", "path": str(path), "expected": expected, "found": found}
    assert ended.json == {"sets": [row]}


def test_an_unknown_set_is_not_verified(smriti: Smriti) -> None:
    smriti("data", "verify", "longmemeval-x").assert_refused("'longmemeval-x' is not known", "Did you mean")


def test_synth_says_that_its_file_is_synthetic_and_makes_the_same_one_again(smriti: Smriti, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    ended = smriti("data", "synth", "longmemeval", "--rows", 2, "--seed", 7, "--out", first)
    size, digest = first.stat().st_size, hashlib.sha256(first.read_bytes()).hexdigest()
    told = f"{first}: synthetic, not LongMemEval: 2 rows from seed 7, {size:,} bytes, sha256 {digest}\n"
    assert (ended.status, ended.out) == (0, told)
    again = smriti("data", "synth", "longmemeval", "--rows", 2, "--seed", 7, "--out", second, "--json")
    made = {"path": str(second), "rows": 2, "seed": 7, "bytes": size, "sha256": digest}
    assert again.json == {"synthetic": True, **made}


def test_synth_without_a_file_name_writes_one_that_says_what_it_is(
    smriti: Smriti, left: Callable[[], list[str]]
) -> None:
    assert smriti("data", "synth", "longmemeval", "--rows", 1).status == 0
    assert left() == ["longmemeval-synthetic-1-0.json"]


def test_synth_overwrites_nothing_and_takes_no_pins_name(
    smriti: Smriti, tmp_path: Path, left: Callable[[], list[str]]
) -> None:
    there = tmp_path / "there.json"
    there.write_text("mine")
    for out, told in (
        (there, "is there already"),
        (Path("longmemeval_s_cleaned.json"), "bears the name of longmemeval-s"),
        (Path("nowhere/new.json"), "cannot be written"),
    ):
        smriti("data", "synth", "longmemeval", "--rows", 1, "--out", out).assert_refused(repr(str(out)), told)
    assert there.read_text() == "mine"
    assert left() == []


def test_an_interrupted_synth_leaves_no_part_of_a_file(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch, left: Callable[[], list[str]]
) -> None:
    def interrupt(_amount: Amount, done: int, _total: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Amount, "__call__", interrupt)
    ended = smriti("data", "synth", "longmemeval", "--rows", 3)
    assert (ended.status, ended.out) == (3, "")
    assert left() == []


def test_off_a_terminal_there_is_a_line_a_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Amount("set[1]", "bytes") as amount:
        for done in range(1, 1001):
            amount(done, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"set[1]  {done:,} of 1,000 bytes" for done in range(100, 1001, 100)]


def test_off_a_terminal_an_unknown_whole_is_told_by_steps(capsys: pytest.CaptureFixture[str]) -> None:
    with Amount("set", "bytes") as amount:
        for done in (1, UNKNOWN_STEP, UNKNOWN_STEP + 1, 2 * UNKNOWN_STEP):
            amount(done, None)
    assert capsys.readouterr().err == "set  100,000,000 bytes\nset  200,000,000 bytes\n"
