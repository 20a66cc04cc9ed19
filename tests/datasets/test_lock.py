"""The pins say which bytes are meant, and no other file passes under their names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from smriti.datasets.lock import Identity, Pin, cache_folder, identify, locate, pin_of, pins, verify
from smriti.errors import UsageError
from tests.shared import shared


def test_every_pin_has_an_address_with_its_revision_a_digest_and_a_licence() -> None:
    assert set(pins()) == {"longmemeval-s", "longmemeval-oracle", "longmemeval-m", "locomo10"}
    for pin in pins().values():
        assert pin.url.startswith("https://")
        assert pin.revision in pin.url
        assert pin.url.endswith(pin.file)
        assert pin.licence
    assert [name for name, pin in pins().items() if pin.reported] == ["longmemeval-oracle", "longmemeval-m"]


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'longmemeval_s' is not known\. Did you mean 'longmemeval-s'\?"):
        pin_of("longmemeval_s")


def test_the_cache_is_where_the_variable_says_or_in_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMRITI_DATA_DIR", str(tmp_path / "data"))
    assert cache_folder() == tmp_path / "data"
    monkeypatch.delenv("SMRITI_DATA_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_folder().name == "datasets"
    assert not (tmp_path / "data").exists()


def test_a_set_that_is_not_in_the_cache_is_told_with_both_ways_to_get_it(small_pin: Pin) -> None:
    with pytest.raises(UsageError) as raised:
        locate("small")
    told = str(raised.value)
    for part in ("smriti data fetch small", "smriti data import PATH", small_pin.url, small_pin.sha256):
        assert part in told


def test_verification_tells_good_from_absent_from_altered(
    small_pin: Pin, content: bytes, in_cache: Callable[[bytes], Path]
) -> None:
    assert verify("small").state == "absent"
    path = in_cache(content)
    assert verify("small").state == "good"
    assert locate("small") == path
    path.write_bytes(b"another")
    altered = verify("small")
    assert (altered.state, altered.pin) == ("altered", small_pin)
    assert altered.found == Identity(None, hashlib.sha256(b"another").hexdigest(), 7)


def test_a_file_is_known_by_its_bytes_whatever_its_name(tmp_path: Path, small_pin: Pin, content: bytes) -> None:
    path = tmp_path / "download(1).json"
    path.write_bytes(content)
    assert identify(path) == Identity("small", small_pin.sha256, len(content))


def test_a_file_that_no_pin_knows_is_named_by_its_digest_alone(tmp_path: Path, small_pin: Pin) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(b"mine")
    seen: list[tuple[int, int | None]] = []
    assert identify(path, lambda done, total: seen.append((done, total))).name is None
    assert seen == [(4, 4)]
    assert small_pin.file != path.name


@pytest.mark.parametrize("name", ["small_v1.json", "small.json", "small.txt"])
def test_another_file_under_a_pinned_name_is_refused_with_both_digests(
    tmp_path: Path, small_pin: Pin, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"altered")
    with pytest.raises(UsageError) as raised:
        identify(path)
    told = str(raised.value)
    assert hashlib.sha256(b"altered").hexdigest() in told
    assert small_pin.sha256 in told


def test_the_real_locomo_is_recognised_and_an_altered_one_refused(tmp_path: Path) -> None:
    real = shared("locomo10.json")
    assert identify(real) == Identity("locomo10", pins()["locomo10"].sha256, 2_805_274)
    altered = tmp_path / "locomo10.json"
    altered.write_bytes(real.read_bytes().replace(b"Psychology, counseling", b"mental health, counseling", 1))
    with pytest.raises(UsageError, match=r"expected 2,805,274 bytes, sha256 79fa87e90f04"):
        identify(altered)


def test_a_directory_and_an_absent_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        identify(tmp_path)
    with pytest.raises(UsageError, match="No such file"):
        identify(tmp_path / "absent.json")


def test_without_the_lock_nothing_is_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.resources.PACKAGE", tmp_path / "smriti")
    with pytest.raises(UsageError, match="install smriti from a wheel"):
        pins.__wrapped__()
