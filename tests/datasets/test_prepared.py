"""A prepared index gives the reading of the source, or is made anew: never another reading, never an error."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.datasets import longmemeval, prepared
from smriti.datasets.lock import identify
from smriti.datasets.longmemeval import FileState, Form
from smriti.datasets.prepared import Prepared
from smriti.datasets.rows import Row, read_rows
from smriti.errors import UsageError
from smriti.types import DatasetReading, Document
from tests.strategies import longmemeval_rows

FORMS: tuple[Form, ...] = ("session", "user-turns")

same_cache = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)


@pytest.fixture
def path(tmp_path: Path, cache: Path) -> Path:
    """A small file, and a cache that is not there yet."""
    del cache
    return written(tmp_path, [row("q1"), row("q2_abs")])


@same_cache
@given(rows=longmemeval_rows(), form=st.sampled_from(FORMS))
def test_the_index_and_the_source_give_the_same_reading(
    tmp_path: Path, cache: Path, rows: list[dict[str, Any]], form: Form
) -> None:
    shutil.rmtree(cache, ignore_errors=True)
    path = written(tmp_path, rows)
    expected = longmemeval.read(path, form)
    for origin in ("source", "index"):
        found = taken(path, form)
        assert (found.origin, found.unkept) == (origin, None)
        assert found.reading == expected
        assert documents(found.reading) == documents(expected)


def test_with_an_index_no_row_is_validated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = taken(path)
    monkeypatch.setattr(longmemeval, "read_rows", lambda path: pytest.fail(f"{path} was read"))
    assert taken(path).reading == first.reading


def test_the_index_holds_no_transcript_and_no_answer(tmp_path: Path, cache: Path) -> None:
    taken(written(tmp_path, [row("q1", answer="vermilion")]))
    content = only_index(cache).read_bytes()
    for word in (b"vermilion", b"It is red", b"Noted", b"has_answer", b"answer_1", b"2023/05/20"):
        assert word not in content


def test_a_reading_from_the_index_can_be_sent_to_another_process_without_its_text(tmp_path: Path, cache: Path) -> None:
    del cache
    path = written(tmp_path, [row("q1", words=10_000)])
    taken(path)
    reading = taken(path).reading
    sent = pickle.dumps(reading)
    assert len(sent) < 3000
    assert pickle.loads(sent) == reading
    assert documents(pickle.loads(sent)) == documents(reading)


def test_each_form_has_an_index_of_its_own(path: Path, cache: Path) -> None:
    assert [taken(path, form).origin for form in (*FORMS, *FORMS)] == ["source", "source", "index", "index"]
    assert len(indexes(cache)) == 2


def test_the_same_bytes_elsewhere_have_the_same_index_and_their_own_path(path: Path, tmp_path: Path) -> None:
    taken(path)
    elsewhere = tmp_path / "elsewhere.json"
    shutil.copyfile(path, elsewhere)
    found = taken(elsewhere)
    path.unlink()
    assert found.origin == "index"
    assert documents(found.reading) == documents(longmemeval.read(elsewhere))


def test_another_file_of_the_same_name_and_size_has_another_index(path: Path, tmp_path: Path, cache: Path) -> None:
    before = documents(taken(path).reading)
    size = path.stat().st_size
    altered = written(tmp_path, [row("q1", colour="Tan"), row("q2_abs")])
    assert altered.stat().st_size == size
    found = taken(altered)
    assert found.origin == "source"
    assert documents(found.reading) == documents(longmemeval.read(altered)) != before
    assert len(indexes(cache)) == 2


# An index that is not what it should be


def cut(index: Path) -> None:
    index.write_bytes(index.read_bytes()[: index.stat().st_size // 2])


def emptied(index: Path) -> None:
    index.write_bytes(b"")


def lengthened(index: Path) -> None:
    index.write_bytes(index.read_bytes() + b"\n")


def garbage(index: Path) -> None:
    index.write_bytes(bytes(range(256)) * 10)


def other_gold(index: Path) -> None:
    digest, content = index.read_bytes().split(b"\n", 1)
    (gold,) = json.loads(content)["rows"][0][4]["gold"]
    index.write_bytes(digest + b"\n" + content.replace(gold.encode(), b"0" * len(gold)))


def other_form(index: Path) -> None:
    resealed(index, lambda stated: stated["key"].update(form="user-turns"))


def other_source(index: Path) -> None:
    resealed(index, lambda stated: stated["key"].update(source_sha256="0" * 64))


def other_reader(index: Path) -> None:
    resealed(index, lambda stated: stated["key"].update(reader="0" * 64))


def without_counts(index: Path) -> None:
    resealed(index, lambda stated: stated.pop("counts"))


def with_more(index: Path) -> None:
    resealed(index, lambda stated: stated.update(transcripts=[]))


def other_json(index: Path) -> None:
    index.write_bytes(sealed(b"[]"))


def no_json(index: Path) -> None:
    index.write_bytes(sealed(b"\xff{"))


def dangling(index: Path) -> None:
    index.unlink()
    index.symlink_to("nowhere")


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        emptied,
        lengthened,
        garbage,
        other_gold,
        other_form,
        other_source,
        other_reader,
        without_counts,
        with_more,
        other_json,
        no_json,
        dangling,
    ],
)
def test_an_index_that_is_not_whole_or_not_of_this_is_made_anew(
    path: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    taken(path)
    whole = only_index(cache).read_bytes()
    damage(only_index(cache))
    found = taken(path)
    assert (found.origin, found.unkept) == ("source", None)
    assert found.reading == longmemeval.read(path)
    assert only_index(cache).read_bytes() == whole
    assert taken(path).origin == "index"


@same_cache
@given(data=st.data())
def test_no_altered_byte_of_an_index_alters_a_reading(path: Path, cache: Path, data: st.DataObject) -> None:
    taken(path)
    index = only_index(cache)
    content = bytearray(index.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    index.write_bytes(content)
    found = taken(path)
    assert found.origin == "source"
    assert found.reading == longmemeval.read(path)


def test_an_index_that_may_not_be_read_is_made_anew(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken(path)
    index = only_index(cache)
    index.chmod(0)
    if os.access(index, os.R_OK):  # the superuser's reading has to be refused in another way
        read_bytes = Path.read_bytes
        monkeypatch.setattr(Path, "read_bytes", lambda self: refused() if self == index else read_bytes(self))
    found = taken(path)
    monkeypatch.undo()
    assert (found.origin, found.unkept) == ("source", None)
    assert found.reading == longmemeval.read(path)
    assert os.access(index, os.R_OK)


def test_a_pipe_in_the_place_of_an_index_is_not_waited_for(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken(path)
    index, read_bytes = only_index(cache), Path.read_bytes
    index.unlink()
    os.mkfifo(index)
    monkeypatch.setattr(
        Path, "read_bytes", lambda self: pytest.fail(f"{self} was read") if self == index else read_bytes(self)
    )
    assert taken(path).origin == "source"
    monkeypatch.undo()
    assert index.is_file()


def test_a_directory_in_the_place_of_an_index_stays_and_is_told_of(path: Path, cache: Path) -> None:
    taken(path)
    index = only_index(cache)
    index.unlink()
    index.mkdir()
    found = taken(path)
    assert found.reading == longmemeval.read(path)
    assert found.unkept is not None
    assert str(index) in found.unkept
    assert [index] == indexes(cache)


@pytest.mark.parametrize("folder", ["cache", "cache/prepared"])
def test_where_nothing_can_be_written_the_source_is_read_and_the_reason_told(
    path: Path, tmp_path: Path, folder: str
) -> None:
    (tmp_path / folder).parent.mkdir(exist_ok=True)
    (tmp_path / folder).write_text("a file where a folder should be")
    for _ in range(2):
        found = taken(path)
        assert found.origin == "source"
        assert found.reading == longmemeval.read(path)
        assert found.unkept is not None
        assert "cannot be written" in found.unkept
        assert "SMRITI_DATA_DIR" in found.unkept
        assert "\n" not in found.unkept


def test_a_disk_that_fills_up_is_told_of_and_nothing_is_left_half_written(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    found = taken(path)
    assert found.reading == longmemeval.read(path)
    assert found.unkept is not None
    assert "No space left on device" in found.unkept
    assert indexes(cache) == []


def test_of_two_that_write_at_once_neither_disturbs_the_other(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, inner = Path.replace, list[Prepared]()

    def interrupted(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        inner.append(taken(path))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    outer = taken(path)
    assert [(found.origin, found.unkept) for found in (outer, *inner)] == [("source", None)] * 2
    assert len(indexes(cache)) == 1
    assert taken(path).origin == "index"


def test_a_changed_reader_never_takes_an_old_index_and_replaces_it(
    path: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "reader.py"
    monkeypatch.setattr(prepared, "_READER", (*prepared._READER, code))
    origins = []
    for content in ("1", "1", "2", "2"):
        code.write_text(content)
        origins.append(taken(path).origin)
    monkeypatch.setattr("pydantic.VERSION", "another")
    origins.append(taken(path).origin)
    assert origins == ["source", "index", "source", "index", "source"]
    assert len(indexes(cache)) == 1


def test_the_reader_is_all_code_that_a_reading_passes_through() -> None:
    names = {file.name for file in prepared._READER if file.is_file()}
    assert {"longmemeval.py", "rows.py", "fields.py", "prepared.py"} < names
    assert any("class Question:" in file.read_text() for file in prepared._READER)


# A source that is not what was hashed


@pytest.mark.parametrize("indexed", [False, True])
def test_a_file_that_changed_since_its_digest_was_taken_is_refused(path: Path, cache: Path, indexed: bool) -> None:
    if indexed:
        taken(path)
    state, sha256 = FileState.of(path), identify(path).sha256
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        prepared.read(path, sha256, state)
    assert len(indexes(cache)) == int(indexed)


def test_a_file_that_changes_before_its_first_row_is_validated_is_refused_and_not_indexed(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changing(*_: object) -> None:
        path.write_bytes(path.read_bytes() + b"\n")

    monkeypatch.setattr(prepared, "_found", changing)
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        taken(path)
    assert indexes(cache) == []


def test_a_file_that_changes_while_it_is_validated_is_refused_and_not_indexed(
    path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(read_rows(path))

    def changing(path: Path) -> list[Row]:
        path.write_bytes(path.read_bytes() + b"\n")
        return rows

    monkeypatch.setattr(longmemeval, "read_rows", changing)
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        taken(path)
    assert indexes(cache) == []


def test_a_file_that_changes_after_the_index_was_taken_is_not_read_on(path: Path) -> None:
    taken(path)
    (corpus, _) = taken(path).reading.corpora
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="changed after it was first looked at"):
        tuple(corpus.documents)


def test_a_malformed_file_is_refused_as_without_a_cache_and_leaves_nothing_in_it(tmp_path: Path, cache: Path) -> None:
    path = written(tmp_path, [row("q1"), row("q1")])
    with pytest.raises(UsageError) as expected:
        longmemeval.read(path)
    with pytest.raises(UsageError) as raised:
        taken(path)
    assert str(raised.value) == str(expected.value)
    assert not cache.exists()


def row(question_id: str, *, answer: str = "red", colour: str = "red", words: int = 1) -> dict[str, Any]:
    """A row with two sessions, the first of which holds the evidence."""
    evidence = {"role": "user", "content": f"It is {colour}." * words, "has_answer": True}
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "Which colour?",
        "answer": answer,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_session_ids": ["answer_1", "ultrachat_2"],
        "haystack_sessions": [
            [evidence, {"role": "assistant", "content": "Noted."}],
            [{"role": "user", "content": "Hello."}],
        ],
        "answer_session_ids": ["answer_1"],
    }


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.json"
    path.write_text(json.dumps(rows, indent=4), encoding="utf-8")
    return path


def taken(path: Path, form: Form = "session") -> Prepared:
    """Read as a command does: the state, then the digest, then the rows."""
    state = FileState.of(path)
    return prepared.read(path, identify(path).sha256, state, form)


def documents(reading: DatasetReading) -> list[tuple[Document, ...]]:
    return [tuple(corpus.documents) for corpus in reading.corpora]


def indexes(cache: Path) -> list[Path]:
    """Everything in the folder of indexes, whatever it is."""
    return sorted(cache.glob("prepared/*")) + sorted(cache.glob("prepared/.*"))


def only_index(cache: Path) -> Path:
    (index,) = indexes(cache)
    return index


def resealed(index: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what an index states, under a digest that is right."""
    stated = json.loads(index.read_bytes().split(b"\n", 1)[1])
    change(stated)
    index.write_bytes(sealed(json.dumps(stated).encode()))


def sealed(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def refused() -> bytes:
    raise PermissionError(13, "Permission denied")
