"""What a run left behind is shown readably and within bounds, and what is left out is said."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from smriti.receipts.report import shown
from smriti.receipts.report.view import Listing

SIZE = shown.MOST_CHARACTERS


def _lines(*events: object) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def _length(listing: Listing) -> int:
    return sum(len(entry.head) + len(entry.body) for entry in listing.entries)


def test_an_event_is_headed_by_what_it_is_and_its_text_keeps_its_lines() -> None:
    (entry,) = shown.transcript("T", _lines({"type": "assistant", "turn": 2, "text": "one\ntwo"})).entries
    assert (entry.head, entry.body) == ("assistant · turn 2", "one\ntwo")


def test_other_fields_are_written_as_json_with_their_names_and_none_is_lost() -> None:
    event = {"type": "tool_use", "tool": "edit", "input": {"path": "a.py", "content": "x = 1\ny = 2\n"}, "ok": True}
    (entry,) = shown.transcript("T", _lines(event)).entries
    assert entry.head == "tool_use · edit"
    assert entry.body.splitlines() == ["input:", 'path: "a.py"', "content:", "x = 1", "y = 2", "", "ok: true"]


def test_a_line_that_is_no_json_object_is_shown_as_it_stands() -> None:
    found = shown.transcript("T", b'plain words\n[1, 2]\n{"broken\n\n\xff\n')
    assert [entry.body for entry in found.entries] == ["plain words", "[1, 2]", '{"broken', "\ufffd"]


def test_json_that_is_too_deep_or_too_big_a_number_is_shown_as_it_stands() -> None:
    deep, big = '{"a":' * 100_000, '{"a": ' + "9" * 5_000 + "}"
    found = shown.transcript("T", f"{deep}\n{big}\n".encode())
    assert all(entry.head == "" for entry in found.entries)
    assert found.entries[0].body.startswith('{"a":')
    assert found.entries[1].body == big


def test_of_a_long_transcript_the_ends_are_shown_and_the_rest_is_counted() -> None:
    found = shown.transcript("T", _lines(*({"type": "event", "turn": n, "text": "x" * 500} for n in range(1000))))
    assert _length(found) <= SIZE
    heads = [entry.head for entry in found.entries]
    assert heads[0] == "event · turn 0"
    assert heads[-1] == "event · turn 999"
    left_out = 1000 - (len(heads) - 1)
    assert f"{left_out} events left out" in heads
    assert found.left_out.startswith(f"{left_out} of 1000 events, of {left_out * 500:,} characters")


def test_of_a_long_text_in_an_event_the_ends_are_shown_and_the_rest_is_counted() -> None:
    text = "a" * 10_000 + "b" * 10_000
    (entry,) = shown.transcript("T", _lines({"type": "user", "text": text})).entries
    half = shown.MOST_IN_EVENT // 2
    assert entry.body == f"{'a' * half}\n[… {20_000 - 2 * half:,} characters left out …]\n{'b' * half}"


def test_an_event_of_very_many_fields_is_bounded_too() -> None:
    event = {f"field{n}": "x" * 5_000 for n in range(100)}
    (entry,) = shown.transcript("T", _lines(event)).entries
    assert len(entry.body) < 3 * shown.MOST_IN_EVENT
    assert entry.body.startswith("field0:")
    assert "characters left out" in entry.body


def test_of_a_long_output_the_ends_are_shown_and_the_rest_is_counted() -> None:
    found = shown.text("Check output", b"a" * SIZE + b"b" * SIZE)
    first, last = (entry.body for entry in found.entries)
    assert set(first) == {"a"}
    assert set(last) == {"b"}
    assert len(first) + len(last) == SIZE
    assert found.left_out == f"{SIZE:,} of {2 * SIZE:,} characters are left out of the middle"


def test_nothing_is_left_out_of_what_is_short() -> None:
    found = shown.text("Diff", b"+ one\n- two\n", diff=True)
    assert [entry.body for entry in found.entries] == ["+ one\n- two\n"]
    assert found.left_out == ""


def test_what_is_empty_and_what_is_not_there_are_told_apart() -> None:
    assert shown.text("Diff", b"").left_out == "empty"
    assert (
        shown.text("Diff", None).left_out
        == shown.transcript("T", None).left_out
        == "none: the trial did not come so far"
    )


@given(
    st.binary(max_size=300)
    | st.lists(st.dictionaries(st.text(), st.text() | st.none() | st.lists(st.floats()))).map(
        lambda found: _lines(*found)
    )
)
def test_no_transcript_is_too_strange_to_be_shown(content: bytes) -> None:
    found = shown.transcript("T", content)
    assert len(found.entries) == sum(bool(line.strip()) for line in content.decode("utf-8", "replace").split("\n"))
