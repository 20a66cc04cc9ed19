"""The hook of the embedded memory: what it prints, what it notes, and that it never breaks the agent."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from smriti.errors import UsageError
from smriti.memory.embedded import hook, lanes
from smriti.memory.embedded.hook import Prompt
from smriti.memory.embedded.lanes import LANES, Question, Ranked, Recalled
from smriti.memory.embedded.ledger import injected_ids
from smriti.memory.embedded.store import Draft, MemoryFile, Recorded

REALM = "project:lotbook"
PROMPT = "Add a limit option to the export of lots."


class Ran:
    """A hook call that has ended."""

    def __init__(self, done: subprocess.CompletedProcess[bytes], home: Path) -> None:
        self.status = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr.decode()
        self.ledger = home / "ledger.jsonl"

    @property
    def context(self) -> str:
        output: dict[str, Any] = json.loads(self.stdout)
        assert output["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
        assert output["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        context: str = output["hookSpecificOutput"]["additionalContext"]
        return context

    @property
    def silent(self) -> bool:
        """It printed nothing and noted nothing, and the agent goes on."""
        return self.status == 0 and self.stdout == b"" and not self.ledger.exists()


def call(text: object = PROMPT, **changes: object) -> bytes:
    return json.dumps(
        {"session_id": "s1", "cwd": "/work/lotbook", "prompt": text, "hook_event_name": "UserPromptSubmit"} | changes
    ).encode()


def run(home: Path, received: bytes, environ: Mapping[str, str] | None = None, stdout: int = subprocess.PIPE) -> Ran:
    """Run the hook as an agent does: isolated, in an environment made from nothing."""
    env = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "LANG": "C", "SMRITI_MEM_HOME": str(home)}
    command = [sys.executable, "-I", "-m", "smriti.memory.embedded", "hook"]
    done = subprocess.run(
        command,
        input=received,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**env, **(environ or {})},
        cwd="/",
        check=False,
        timeout=30,
    )
    return Ran(done, home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def plant(home: Path) -> Callable[..., str]:
    def plant(content: str, type_: str = "wisdom", realm: str = REALM) -> str:
        memories = MemoryFile.open(str(home), durable=False)
        [memory_id] = memories.remember([Draft(content, type_, "m")], realm)
        memories.close()
        return memory_id

    return plant


def test_the_memories_that_belong_to_a_prompt_are_printed_and_noted(home: Path, plant: Callable[..., str]) -> None:
    wisdom = plant("Exports write 640 lots.\n  - by default ")
    correction = plant("Exports write 700 lots.", "correction")
    ran = run(home, call())
    assert (ran.status, ran.stderr) == (0, "")
    heading, _, memories = ran.context.partition("\n\n")
    assert heading == "Memories of this project that may bear on the prompt, best first:"
    assert memories == (
        f"[correction {correction}] Exports write 700 lots.\n\n"
        f"[wisdom {wisdom}] Exports write 640 lots.\n  - by default "
    )
    [line] = ran.ledger.read_text().splitlines()
    event = json.loads(line)
    assert event["ids"] == [correction, wisdom]
    assert event["lanes"][wisdom] == ["kw", "sem", "ctx", "hyb"]
    assert injected_ids(str(home), "s1") == [correction, wisdom]


def test_memories_of_other_projects_stand_last_under_a_heading_of_their_own(
    home: Path, plant: Callable[..., str]
) -> None:
    theirs = [plant(f"An export of lots writes {number} at most.", realm=f"project:{number}") for number in (5, 6)]
    own = plant("Exports are nightly.")
    paragraphs = run(home, call()).context.split("\n\n")
    assert paragraphs[1].startswith(f"[wisdom {own}]")
    assert paragraphs[2] == "Memories of other projects, which may not hold here:"
    assert [paragraph.split("]")[0] for paragraph in paragraphs[3:]] == [f"[wisdom {memory_id}" for memory_id in theirs]


def test_what_has_no_project_is_injected_as_the_projects_own(home: Path, plant: Callable[..., str]) -> None:
    everyones = plant("An export of lots writes 5 at most.", realm="")
    context = run(home, call()).context
    assert f"[wisdom {everyones}]" in context
    assert "Memories of other projects" not in context


def test_the_realm_is_the_variable_verbatim_or_the_folder_of_the_session(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    plant("Exports write 700 lots.", realm="no colon")
    ablated = {"SMRITI_MEM_ABLATE_LANES": "xr"}
    assert "640" in run(home, call(), ablated).context
    assert "700" in run(home, call(), ablated | {"SMRITI_MEM_REALM": "no colon"}).context
    assert run(home, call(session_id="s9", cwd="/work/other"), ablated).stdout == b""


def test_a_prompt_that_nothing_belongs_to_is_answered_with_nothing(home: Path, plant: Callable[..., str]) -> None:
    plant("The ferry leaves at nine.")
    ran = run(home, call())
    assert ran.silent
    assert ran.stderr == ""


def test_under_the_kill_switch_nothing_is_printed_and_the_store_is_not_opened(home: Path) -> None:
    home.mkdir()
    (home / "memory.db").write_text("no database: opening it would be noticed")
    ran = run(home, call(), {"SMRITI_MEM_HEADLESS": "1"})
    assert ran.silent
    assert ran.stderr == ""
    assert run(home, call(), {"SMRITI_MEM_HEADLESS": "0"}).stderr != ""


def test_with_all_lanes_ablated_nothing_is_printed_or_noted_and_the_store_is_not_opened(
    home: Path, plant: Callable[..., str]
) -> None:
    plant("Exports write 640 lots.", "correction")
    (home / "memory.db").write_text("no database: opening it would be noticed")
    ran = run(home, call(), {"SMRITI_MEM_ABLATE_LANES": ",".join(LANES)})
    assert ran.silent
    assert ran.stderr == ""


def test_a_lane_that_is_none_stops_the_injection_and_the_ledger_says_why(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    ran = run(home, call(), {"SMRITI_MEM_ABLATE_LANES": "kw,bm25"})
    assert (ran.status, ran.stdout) == (0, b"")
    assert "names 'bm25'; the lanes are kw, sem" in ran.stderr
    event = json.loads(ran.ledger.read_text())
    assert (event["event"], event["session_id"]) == ("refused", "s1")
    assert "'bm25'" in event["reason"]


@pytest.mark.parametrize("ablated", LANES)
def test_an_ablated_lane_is_never_called_and_every_other_is(
    ablated: str, home: Path, plant: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("Exports write 640 lots.", "correction")
    plant("An export of lots writes 5 at most.", realm="project:other")
    called: list[str] = []

    def spied(name: str, lane: Callable[[Question], list[Ranked]]) -> Callable[[Question], list[Ranked]]:
        def spy(question: Question) -> list[Ranked]:
            called.append(name)
            return lane(question)

        return spy

    for name, lane in LANES.items():
        monkeypatch.setitem(lanes.LANES, name, spied(name, lane))
    prompt = Prompt("s1", PROMPT, "/work/lotbook")
    injection = hook.inject(prompt, str(home), {"SMRITI_MEM_ABLATE_LANES": f" {ablated}, "})
    assert sorted(called) == sorted(set(LANES) - {ablated})
    assert injection is not None
    assert all(ablated not in found_by for found_by in injection.lanes.values())


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"not json",
        b"\xff\xfe\xfa",
        b"[]",
        b"[" * 100_000,
        call(None),
        call(session_id=None),
        call(session_id=""),
        call(session_id=7),
        call(hook_event_name="SessionStart"),
    ],
    ids=[
        "nothing",
        "text",
        "bytes",
        "list",
        "deep",
        "no prompt",
        "no session",
        "empty session",
        "a number",
        "other event",
    ],
)
def test_garbage_on_stdin_is_one_line_on_stderr_and_nothing_else(
    received: bytes, home: Path, plant: Callable[..., str]
) -> None:
    plant("Exports write 640 lots.")
    ran = run(home, received)
    assert ran.silent
    assert re.match("smriti-mem hook: (UsageError: .*expected|RecursionError)", ran.stderr)
    assert ran.stderr.count("\n") == 1


def test_a_complaint_is_one_line_whatever_it_quotes(home: Path) -> None:
    assert run(home / "two\nlines", call()).stderr.count("\n") == 1


def test_a_missing_store_is_one_line_on_stderr_and_is_not_made(home: Path) -> None:
    ran = run(home, call())
    assert ran.silent
    assert "there is no memory file" in ran.stderr
    assert ran.stderr.count("\n") == 1
    refused = run(home, call(), {"SMRITI_MEM_ABLATE_LANES": "bm25"})
    assert refused.silent
    assert "names 'bm25'" in refused.stderr
    assert not home.exists()


def test_a_locked_store_is_one_line_on_stderr(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    holder = sqlite3.connect(home / "memory.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    ran = run(home, call())
    holder.close()
    assert ran.silent
    assert "locked" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_what_could_not_be_printed_is_not_noted(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    reading, writing = os.pipe()
    os.close(reading)
    ran = run(home, call(), stdout=writing)
    os.close(writing)
    assert (ran.status, ran.ledger.exists()) == (0, False)
    assert "BrokenPipeError" in ran.stderr


def test_a_ledger_that_cannot_be_written_is_one_line_on_stderr(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    (home / "ledger.jsonl").mkdir()
    ran = run(home, call())
    assert ran.status == 0
    assert "640 lots" in ran.context
    assert "what was printed could not be noted in the ledger" in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("prompt", ['" OR * NEAR( ) -', "\ud800 exports", "naïve 数据 🦦 exports", "exports " * 20_000])
def test_any_prompt_is_answered(prompt: str, home: Path, plant: Callable[..., str]) -> None:
    plant('Exports write "640" lots.')
    ran = run(home, call(prompt))
    assert (ran.status, ran.stderr) == (0, "")


def test_the_hook_starts_without_heavy_modules() -> None:
    """Each would be paid for at every prompt; pathlib, dataclasses and argparse cost 5 to 15 ms each."""
    heavy = (
        "argparse asyncio dataclasses httpx inspect logging orjson pathlib pydantic rich subprocess typer urllib uuid"
    )
    code = f"import smriti.memory.embedded.cli, sys; print(sorted(set(sys.modules) & set({heavy!r}.split())))"
    assert subprocess.check_output([sys.executable, "-I", "-S", "-c", SITE + code]) == b"[]\n"


SITE = f"import sys; sys.path += {[path for path in sys.path if path]!r}; "
"""The paths of this interpreter without what `site` imports on its own account."""


def test_extra_arguments_and_the_json_flag_change_nothing(home: Path, plant: Callable[..., str]) -> None:
    plant("Exports write 640 lots.")
    command = [sys.executable, "-I", "-m", "smriti.memory.embedded", "hook", "--json", "--unknown"]
    done = subprocess.run(command, input=call(), capture_output=True, env={"SMRITI_MEM_HOME": str(home)}, check=True)
    assert b"640 lots" in done.stdout


def hits(*contents: str, realm: str = REALM) -> list[Recalled]:
    return [
        Recalled(Recorded(seq, f"id{seq}", realm, "wisdom", content, "m", 0, None), 1.0, ("kw",))
        for seq, content in enumerate(contents)
    ]


def test_at_most_eight_memories_are_injected(home: Path, plant: Callable[..., str]) -> None:
    for number in range(12):
        plant(f"Exports write {number} lots.")
    injection = hook.inject(Prompt("s1", PROMPT, "/work/lotbook"), str(home), {})
    assert injection is not None
    assert len(injection.lanes) == 8


def test_the_context_has_at_most_8000_characters_and_whole_memories_only() -> None:
    injection = hook.compose(hits("a" * 5000, "b" * 5000, "c" * 2000), REALM)
    assert injection is not None
    assert list(injection.lanes) == ["id0", "id2"]
    assert len(injection.context) <= 8000
    assert "b" * 10 not in injection.context
    assert hook.compose(hits("a" * 8000), REALM) is None


def test_the_context_may_fill_its_limit_exactly() -> None:
    injection = hook.compose(hits(""), REALM)
    assert injection is not None
    room = 8000 - len(injection.context)
    assert hook.compose(hits("a" * room), REALM) is not None
    assert hook.compose(hits("a" * (room + 1)), REALM) is None


@pytest.mark.parametrize(("value", "expected"), [("", set()), ("kw", {"kw"}), (" kw ,,sem,", {"kw", "sem"})])
def test_ablated_lanes_are_a_comma_list(value: str, expected: set[str]) -> None:
    environ: Mapping[str, str] = {"SMRITI_MEM_ABLATE_LANES": value}
    assert hook.ablated_lanes(environ) == expected


@pytest.mark.parametrize("value", ["all", "KW", "kw;sem"])
def test_nothing_but_a_lanes_name_is_taken_for_one(value: str) -> None:
    with pytest.raises(UsageError, match="SMRITI_MEM_ABLATE_LANES names"):
        hook.ablated_lanes({"SMRITI_MEM_ABLATE_LANES": value})
