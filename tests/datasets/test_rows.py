"""A JSON list is read row by row, whatever its layout and wherever the blocks end, or refused in a paragraph."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.datasets import rows
from smriti.datasets.rows import read_json, read_rows
from smriti.errors import UsageError

texts = st.text('ab{}[]",:\\\n é\u2028😀', max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=4)
layouts = st.sampled_from([None, 0, 1, 2, 4, 8, "\t", "    "])
same_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


@same_file
@given(st.lists(objects, min_size=1, max_size=5), layouts, st.booleans(), st.integers(1, 64))
def test_rows_are_what_json_says_in_every_layout_and_at_every_block_size(
    tmp_path: Path, values: list[dict[str, Any]], indent: str | int | None, ascii_only: bool, block: int
) -> None:
    path = written(tmp_path, json.dumps(values, indent=indent, ensure_ascii=ascii_only))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK_BYTES", block)
        read = list(read_rows(path))
    assert [row.value for row in read] == values
    assert [row.number for row in read] == list(range(len(values)))
    content = path.read_bytes()
    for row in read:
        assert json.loads(content[row.offset : row.offset + row.length]) == row.value


@same_file
@given(st.lists(objects, min_size=1, max_size=3), st.lists(layouts, min_size=3, max_size=3), st.integers(1, 64))
def test_a_file_of_mixed_layouts_is_read_all_the_same(
    tmp_path: Path, values: list[dict[str, Any]], indents: list[str | int | None], block: int
) -> None:
    parts = [json.dumps([value], indent=indent)[1:-1] for value, indent in zip(values, indents, strict=False)]
    path = written(tmp_path, " \n[" + " , ".join(parts) + "\t]\r\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK_BYTES", block)
        assert [row.value for row in read_rows(path)] == values


@same_file
@given(st.lists(objects, min_size=1, max_size=3), layouts, st.data())
def test_a_file_that_was_cut_short_anywhere_is_refused(
    tmp_path: Path, values: list[dict[str, Any]], indent: str | int | None, data: st.DataObject
) -> None:
    text = json.dumps(values, indent=indent)
    path = written(tmp_path, text[: data.draw(st.integers(0, len(text) - 1))])
    with pytest.raises(UsageError, match="data file"):
        list(read_rows(path))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n\t ", "at byte 4, the end of the file; expected a list of rows"),
        (b"\xef\xbb\xbf[{}]", "byte order mark"),
        (b"\xff\xfe[\x00", "not UTF-8"),
        (b"  <!DOCTYPE html><html>", "HTML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:", "Git LFS"),
        (b'{"a": 1}', "expected a list of rows"),
        (b"null", "expected a list of rows"),
        (b"[]", "the list is empty"),
        (b"[{}, 7]", "row 1 is '7]'"),
        (b"[{}, [{}]]", "row 1 is"),
        (b"[{},]", "row 1 is"),
        (b"[{} {}]", "expected ',' or ']' after row 0"),
        (b"[{}] x", "'x' after the end of the list"),
        (b'[{"a": 1}, {"a" 1}]', "row 1 is not JSON"),
        (b'[{"a": "\xff"}]', "row 0 is not JSON"),
        (b'[{"a": NaN}]', "row 0 is not JSON"),
        (b'[{"a": [}]', "row 0 is not JSON"),
        (b'[{"a": [1}', "inside row 0"),
        (b'[{"a": [{"b": "}]"', "inside row 0"),
        (b'[{"a": "b', "inside row 0"),
        (b'[{"a": "b\\', "inside row 0"),
        (b"[\n    {\n        }\n    }\n]", "row 0 is not JSON|after row 0"),
    ],
)
def test_what_is_no_list_of_objects_is_refused_with_what_was_found(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told) as raised:
        list(read_rows(path))
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero")):
        with pytest.raises(UsageError, match="is no regular file"):
            list(read_rows(path))


def test_a_directory_and_an_absent_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        list(read_rows(tmp_path))
    with pytest.raises(UsageError, match="No such file"):
        list(read_rows(tmp_path / "absent.json"))


def test_a_row_without_an_end_is_given_up_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 1000)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 100)
    path = written(tmp_path, '[\n    {"a": "' + "x" * 100_000)
    with pytest.raises(UsageError, match="row 0 has no end within 1,000 bytes"):
        list(read_rows(path))


def test_a_whole_file_is_read_or_refused_the_same_way(tmp_path: Path) -> None:
    assert read_json(written(tmp_path, '{"a": [1]}')) == {"a": [1]}
    with pytest.raises(UsageError, match="is not JSON"):
        read_json(written(tmp_path, '{"a": [1}'))
    with pytest.raises(UsageError, match="HTML"):
        read_json(written(tmp_path, "<html>"))


def written(folder: Path, text: str) -> Path:
    path = folder / "rows.json"
    path.write_text(text, encoding="utf-8", newline="")
    return path
