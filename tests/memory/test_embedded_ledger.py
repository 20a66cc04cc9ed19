"""The ledger of the embedded memory."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from smriti.errors import MemorySystemError
from smriti.memory.embedded import ledger


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path)


def lines(home: str) -> list[bytes]:
    return (Path(home) / "ledger.jsonl").read_bytes().splitlines(keepends=True)


def test_an_injection_is_one_line_with_ids_lanes_time_and_session(home: str) -> None:
    ledger.append_injected(home, "s1", {"b": ("kw", "sem"), "a": ("xr",)})
    [line] = lines(home)
    event = json.loads(line)
    assert line.endswith(b"\n")
    assert event.pop("ts") > 1_700_000_000_000
    assert event == {
        "event": "injected",
        "ids": ["b", "a"],
        "lanes": {"b": ["kw", "sem"], "a": ["xr"]},
        "session_id": "s1",
    }


def test_ids_come_in_the_order_first_seen_and_from_their_session_alone(home: str) -> None:
    ledger.append_injected(home, "s1", {"b": (), "a": ()})
    ledger.append_injected(home, "s2", {"x": ()})
    ledger.append_refused(home, "s1", "a lane that is none")
    ledger.append_injected(home, "s1", {"a": (), "c": ()})
    assert ledger.injected_ids(home, "s1") == ["b", "a", "c"]


def test_a_session_without_an_event_and_a_missing_ledger_give_no_ids(home: str) -> None:
    assert ledger.injected_ids(home, "s1") == []
    ledger.append_injected(home, "s2", {"x": ()})
    assert ledger.injected_ids(home, "s1") == []


@pytest.mark.parametrize(
    "broken", [b'{"event": "inj', b"[]", b"{}", b"", b'{"event": "injected", "ids": "a"}', b"\xff"]
)
def test_a_broken_line_is_left_out_at_the_end_and_an_error_before_it(home: str, broken: bytes) -> None:
    ledger.append_injected(home, "s1", {"a": ()})
    path = Path(home) / "ledger.jsonl"
    path.write_bytes(path.read_bytes() + broken + b"\n")
    assert ledger.injected_ids(home, "s1") == ["a"]
    ledger.append_injected(home, "s1", {"b": ()})
    with pytest.raises(MemorySystemError, match="line 2"):
        ledger.injected_ids(home, "s1")


def test_lines_written_at_once_never_mix(home: str) -> None:
    def append(session_id: str) -> None:
        for number in range(50):
            ledger.append_injected(home, session_id, {f"{session_id}-{number}": ("kw",) * 200})

    threads = [threading.Thread(target=append, args=(f"s{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ledger.injected_ids(home, f"s{n}") == [f"s{n}-{m}" for m in range(50)] for n in range(4))
