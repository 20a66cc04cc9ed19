"""An errata overlay is read whole or refused with the entry and field, and those that come with smriti are sound."""

from __future__ import annotations

import contextlib
import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.datasets import errata
from smriti.datasets.lock import pins
from smriti.errors import UsageError

DATA = b"[]"
HEAD = {
    "schema": '"smriti.errata/1"',
    "data": '"made-up"',
    "data_sha256": f'"{hashlib.sha256(DATA).hexdigest()}"',
    "source": '"https://audit.invalid"',
    "revision": '"1"',
    "licence": '"CC0"',
}
FIRST = '{ question = "c/q0", cited = ["D1:1; D1:2"], corrected = ["D1:1", "D1:2"] }'
SECOND = '{ question = "c/q1", cited = ["D1:1"], corrected = [] }'
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def test_an_overlay_is_read_as_it_stands_and_known_by_its_digest(tmp_path: Path) -> None:
    path = overlay(tmp_path, FIRST, SECOND)
    read = errata.read(path)
    assert list(read.entries) == ["c/q0", "c/q1"]
    assert read.entries["c/q0"].cited == ("D1:1; D1:2",)
    assert read.overlay.source == "https://audit.invalid"
    content = path.read_bytes()
    assert read.identity.name == "errata/overlay"
    assert (read.identity.sha256, read.identity.bytes) == (hashlib.sha256(content).hexdigest(), len(content))


def test_a_question_without_an_entry_is_not_corrected_and_one_may_be_corrected_to_nothing(tmp_path: Path) -> None:
    read = errata.read(overlay(tmp_path, FIRST, SECOND))
    known = {"D1:1", "D1:2"}
    assert read.corrected("c/q0", ["D1:1; D1:2"], known) == ("D1:1", "D1:2")
    assert read.corrected("c/q1", ["D1:1"], known) == ()
    assert read.corrected("c/q2", ["D1:1"], known) is None


def test_an_overlay_applies_to_the_bytes_that_it_names_and_to_no_others(tmp_path: Path) -> None:
    read = errata.read(overlay(tmp_path, FIRST))
    data = tmp_path / "data.json"
    data.write_bytes(DATA)
    read.check_data(data)
    data.write_bytes(DATA + b"\n")
    found, expected = hashlib.sha256(DATA + b"\n").hexdigest(), hashlib.sha256(DATA).hexdigest()
    with pytest.raises(UsageError, match=f"data.json.*found sha256 {found}; expected {expected}, which is made-up"):
        read.check_data(data)


@pytest.mark.parametrize("key", HEAD)
def test_a_head_without_one_of_its_keys_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match=f"overlay.toml' cannot be used: field {key}: found nothing; expected a value"):
        errata.read(overlay(tmp_path, FIRST, without=key))


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ({"schema": '"smriti.errata/2"'}, "field schema: found 'smriti.errata/2'; expected 'smriti.errata/1'"),
        ({"data": '""'}, "field data: found ''"),
        ({"data_sha256": '"79FA"'}, "field data_sha256: found '79FA'"),
        ({"data_sha256": "79"}, "field data_sha256: found 79"),
        ({"answers": "1"}, "field answers: found 1; expected no such key: the file has none of that name"),
    ],
)
def test_a_head_with_a_wrong_value_is_refused(tmp_path: Path, head: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        errata.read(overlay(tmp_path, FIRST, **head))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ('{ question = "c/q1", cited = ["D1:1"] }', "entry 1 (c/q1), field corrected: found nothing"),
        ('{ cited = ["D1:1"], corrected = [] }', "entry 1, field question: found nothing"),
        ('{ question = "", cited = [], corrected = ["D1:1"] }', "entry 1 (), field question: found ''"),
        ('{ question = "c/q1", cited = "D1:1", corrected = [] }', "entry 1 (c/q1), field cited: found 'D1:1'"),
        ('{ question = "c/q1", cited = [], corrected = ["D1:1", 2] }', "entry 1 (c/q1), field corrected[1]: found 2"),
        (
            '{ question = "c/q1", cited = [], corrected = ["D1:1"], answer = "x" }',
            "entry 1 (c/q1), field answer: found 'x'; expected no such key: an entry has none of that name",
        ),
        ('"c/q1"', "entry 1: found 'c/q1'"),
        (FIRST, "entry 1 (c/q0), field question: found 'c/q0'; expected one entry for each question"),
        (
            '{ question = "c/q1", cited = [], corrected = ["D1:1", "D1:1"] }',
            "entry 1 (c/q1), field corrected: found ['D1:1', 'D1:1']; expected each id once",
        ),
        (
            '{ question = "c/q1", cited = ["D1:1", "D1:2"], corrected = ["D1:2", "D1:1"] }',
            "entry 1 (c/q1), field corrected: found ['D1:2', 'D1:1']; expected other evidence than is cited",
        ),
    ],
)
def test_what_is_wrong_with_an_entry_is_told_with_its_number_and_question(
    tmp_path: Path, entry: str, told: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        errata.read(overlay(tmp_path, FIRST, entry))


@pytest.mark.parametrize(
    ("entries", "told"),
    [("entries = []", "field entries: found []"), ("entries = 5", "found 5"), ("", "field entries: found nothing")],
)
def test_an_overlay_without_entries_is_refused(tmp_path: Path, entries: str, told: str) -> None:
    path = tmp_path / "overlay.toml"
    path.write_text("\n".join([*(f"{key} = {value}" for key, value in HEAD.items()), entries]), encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(told)):
        errata.read(path)


@pytest.mark.parametrize(
    ("content", "told"), [(b"[[", "is no TOML"), (b"\xff\xfe", "is no TOML"), (b"", "field schema: found nothing")]
)
def test_a_file_that_is_no_overlay_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "overlay.toml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        errata.read(path)


def test_an_absent_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(UsageError, match=r"cannot be read: .*; expected a TOML file"):
            errata.read(path)


@same_folder
@given(st.text(max_size=60) | st.sampled_from([FIRST, SECOND, "{}", "[]", "1979-05-27", "nan"]))
def test_whatever_stands_for_an_entry_is_read_or_refused_and_never_breaks(tmp_path: Path, entry: str) -> None:
    path = overlay(tmp_path, FIRST, entry)
    with contextlib.suppress(UsageError):
        assert "c/q0" in errata.read(path).entries


def test_the_overlays_are_inside_the_package_or_else_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.resources.PACKAGE", tmp_path / "smriti")
    with pytest.raises(UsageError, match="install smriti from a wheel"):
        errata.shipped("0" * 64)
    beside, packaged = tmp_path / "eval" / "errata", tmp_path / "smriti" / "eval" / "errata"
    beside.mkdir(parents=True)
    assert errata.folder() == beside
    packaged.mkdir(parents=True)
    assert errata.folder() == packaged
    path = overlay(packaged, FIRST)
    overlay(packaged, SECOND, name="another.toml", data_sha256=f'"{"1" * 64}"')
    found = errata.shipped(hashlib.sha256(DATA).hexdigest())
    assert found is not None
    assert found.path == path
    assert errata.shipped("0" * 64) is None


def test_each_overlay_that_comes_with_smriti_is_for_a_pinned_file_of_its_own() -> None:
    overlays = [errata.read(path).overlay for path in errata.folder().glob("*.toml")]
    assert "locomo10" in {overlay.data for overlay in overlays}
    assert len({overlay.data for overlay in overlays}) == len(overlays)
    assert all(overlay.data_sha256 == pins()[overlay.data].sha256 for overlay in overlays)


def test_the_locomo_overlay_holds_ids_alone() -> None:
    read = errata.read(errata.folder() / "locomo10.toml")
    assert len(read.entries) == 96
    for entry in read.entries.values():
        assert re.fullmatch(r"conv-[0-9]+/q(0|[1-9][0-9]*)", entry.question)
        assert all(re.fullmatch(r"[D0-9:; ]+", cited) for cited in entry.cited)
        assert all(re.fullmatch(r"D[1-9][0-9]*:[1-9][0-9]*", turn_id) for turn_id in entry.corrected)


def overlay(folder: Path, *entries: str, name: str = "overlay.toml", without: str = "", **head: str) -> Path:
    """Write an overlay of the entries; `head` changes keys of its head, and `without` names one to leave out."""
    lines = [f"{key} = {value}" for key, value in (HEAD | head).items() if key != without]
    path = folder / name
    path.write_text("\n".join([*lines, f"entries = [{', '.join(entries)}]"]), encoding="utf-8")
    return path
