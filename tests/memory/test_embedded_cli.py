"""The command `smriti-mem`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from smriti.memory.embedded.cli import main


class Command:
    """Runs smriti-mem in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> str:
        assert main(arguments) == 0
        captured = self._capsys.readouterr()
        assert captured.err == ""
        return captured.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))

    def refused(self, *arguments: str) -> str:
        """What stands on stderr of a command that exits 2: one paragraph."""
        assert main(arguments) == 2
        captured = self._capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("smriti-mem: ")
        assert captured.err.count("\n") == 1
        return captured.err


@pytest.fixture
def smriti_mem(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("SMRITI_MEM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SMRITI_MEM_REALM", raising=False)
    (tmp_path / "lotbook").mkdir()
    monkeypatch.chdir(tmp_path / "lotbook")
    return Command(capsys)


def test_what_is_remembered_is_recalled_in_the_folders_realm(smriti_mem: Command) -> None:
    memory_id = smriti_mem("remember", "Exports write 640 lots.").strip()
    assert smriti_mem("recall", "exports") == f"[wisdom {memory_id}] Exports write 640 lots.\n"
    [listed] = smriti_mem.json("list")["memories"]
    assert (listed["id"], listed["realm"], listed["source_id"]) == (memory_id, "project:lotbook", "smriti-mem")


def test_recall_as_json_gives_score_and_lanes(smriti_mem: Command) -> None:
    memory_id = smriti_mem.json("remember", "Exports write 640 lots.", "--type", "belief", "--source", "m7")["id"]
    [result] = smriti_mem.json("recall", "exports")["results"]
    assert (result["id"], result["type"], result["source_id"]) == (memory_id, "belief", "m7")
    assert result["lanes"] == ["kw", "sem", "ctx", "hyb"]
    assert result["score"] > 0
    [result] = smriti_mem.json("recall", "exports", "--lane", "kw")["results"]
    assert result["lanes"] == ["kw"]
    assert smriti_mem.json("recall", "exports", "--lane", "corr")["results"] == []


def test_recall_prints_k_paragraphs_at_most_and_nothing_for_no_match(smriti_mem: Command) -> None:
    for number in range(3):
        smriti_mem("remember", f"Exports write {number} lots.")
    assert smriti_mem("recall", "exports", "-k", "2").count("\n\n[wisdom ") == 1
    assert smriti_mem("recall", "ferry") == ""


def test_a_named_realm_is_taken_verbatim(smriti_mem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    smriti_mem("remember", "Exports write 640 lots.", "--realm", "no colon")
    assert smriti_mem("list") == ""
    monkeypatch.setenv("SMRITI_MEM_REALM", "no colon")
    assert "640" in smriti_mem("list")


def test_a_superseded_memory_is_listed_only_with_all(smriti_mem: Command) -> None:
    stale = smriti_mem("remember", "Exports write 640 lots.").strip()
    new = smriti_mem("remember", "Exports write 700 lots.", "--type", "correction", "--supersedes", stale).strip()
    assert smriti_mem("recall", "exports").startswith(f"[correction {new}]")
    assert stale not in smriti_mem("recall", "exports") + smriti_mem("list")
    assert f"[wisdom {stale} superseded by {new}] Exports" in smriti_mem("list", "--all")


def test_forget_removes_by_exact_id(smriti_mem: Command) -> None:
    ids = [smriti_mem("remember", f"Exports write {number} lots.").strip() for number in range(3)]
    assert smriti_mem("forget", ids[0]) == ""
    assert smriti_mem.json("forget", ids[1]) == {"forgotten": [ids[1]]}
    assert [memory["id"] for memory in smriti_mem.json("list")["memories"]] == [ids[2]]


def test_a_memory_is_read_from_stdin(smriti_mem: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  Two\n\nparagraphs \n"))
    smriti_mem("remember", "-")
    assert smriti_mem.json("list")["memories"][0]["content"] == "  Two\n\nparagraphs \n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "COMMAND"),
        (("dream",), "invalid choice: 'dream'"),
        (("remember",), "TEXT"),
        (("remember", ""), "is empty"),
        (("remember", "x", "--type", "lore"), "invalid choice: 'lore'"),
        (("remember", "x", "--supersedes", "nobody"), "only a memory of type correction"),
        (("remember", "x", "--type", "correction", "--supersedes", "nobody"), "no memory 'nobody'"),
        (("recall", "x", "-k", "0"), "-k is 0"),
        (("recall", "x", "-k", "many"), "invalid int value"),
        (("recall", "x", "--lane", "bm25"), "invalid choice: 'bm25'"),
        (("forget",), "ID"),
        (("forget", "nobody"), "no memory has the id 'nobody'"),
        (("list", "more"), "unrecognized arguments: more"),
    ],
)
def test_bad_usage_exits_2_with_one_paragraph(smriti_mem: Command, arguments: tuple[str, ...], message: str) -> None:
    assert message in smriti_mem.refused(*arguments)


@pytest.mark.parametrize("arguments", [("--help",), ("hook", "--help")])
def test_help_is_printed(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    assert "usage: smriti-mem" in capsys.readouterr().out
