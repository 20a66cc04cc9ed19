"""What of an attachment an agent gets, by what it can take, and what of it is no work of the agent's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti import registry
from smriti.agents.hooks import run_hook
from smriti.errors import MemorySystemError
from smriti.protocols import Store
from smriti.sandbox.none import PlainCage, command_path, make_cage
from smriti.suites.bench.delivery import Delivery, deliver, probe_delivery, without_laid_files
from smriti.types import Attachment, Condition, File, FileTree, Hook
from tests.benches import Acting, RemembersNothing, SystemAround, Watched, fact, tiny_task
from tests.strategies import tree

ON = Condition("on")
EVERYTHING = frozenset({"env", "files", "prefix", "hooks", "mcp"})


@pytest.fixture
def cage(tmp_path: Path) -> PlainCage:
    return make_cage(tmp_path / "cage", command_path(["python3"]))


def delivered(
    cage: PlainCage, attachment: Attachment, channels: frozenset[str] = EVERYTHING, condition: Condition = ON
) -> Delivery:
    """Deliver to an agent that takes `channels`."""
    return deliver(
        attachment,
        condition=condition,
        task=tiny_task(),
        agent=Acting(lambda _job: None, channels),
        cage=cage,
        run_hook=run_hook,
        session_id="a-session",
        seed="a-seed",
    )


def saying(text: str, *, event: str = "UserPromptSubmit") -> Hook:
    """A hook that adds `text` and the session, prompt and environment that it was given."""
    code = f"""
import json, os, sys
call = json.load(sys.stdin)
context = {text!r} and " ".join([{text!r}, call["session_id"], call["prompt"], os.environ["REALM"]])
print(json.dumps({{"hookSpecificOutput": {{"hookEventName": {event!r}, "additionalContext": context}}}}))
"""
    return Hook("UserPromptSubmit", ("python3", "-I", "-c", code))


@pytest.mark.parametrize(
    ("attachment", "channel"),
    [
        (Attachment(), "none"),
        (Attachment(env={"KILL": "1"}), "none"),
        (Attachment(prefix="Cod."), "prefix"),
        (Attachment(files={"AGENTS.md": "Cod."}), "files"),
        (Attachment(mcp_servers={"cod": ("cod-server",)}, files={"AGENTS.md": "Cod."}), "mcp"),
        (Attachment(hooks=(Hook("UserPromptSubmit", ("true",)),)), "hooks"),
        (Attachment(hooks=(Hook("UserPromptSubmit", ("true",)),), files={"AGENTS.md": "Cod."}), "hooks"),
    ],
)
def test_the_word_for_how_is_the_strongest_channel(cage: PlainCage, attachment: Attachment, channel: str) -> None:
    assert delivered(cage, attachment) == Delivery(attachment, channel)


def test_hooks_that_an_agent_has_not_are_run_for_it_in_order(cage: PlainCage) -> None:
    attachment = Attachment(env={"REALM": "project:one"}, hooks=(saying("first"), saying(""), saying("second")))
    result = delivered(cage, attachment, EVERYTHING - {"hooks"})
    assert (result.channel, result.attachment.hooks) == ("prompt", ())
    assert result.attachment.prefix == "\n\n".join(
        f"{text} a-session {tiny_task().task.prompt} project:one" for text in ("first", "second")
    )


def test_hooks_that_add_nothing_leave_the_prompt_as_it_is(cage: PlainCage) -> None:
    attachment = Attachment(env={"REALM": "r"}, hooks=(saying(""),))
    result = delivered(cage, attachment, frozenset({"env"}))
    assert (result.channel, result.attachment.prefix) == ("prompt", "")


@pytest.mark.parametrize(
    ("attachment", "channel"),
    [
        (Attachment(files={"AGENTS.md": "Cod."}), "files"),
        (Attachment(prefix="Cod."), "prefix"),
        (Attachment(mcp_servers={"cod": ("cod-server",)}), "mcp"),
        (Attachment(env={"COD": "1"}), "env"),
    ],
)
def test_what_an_agent_cannot_take_is_refused_by_name_before_anything_is_laid(
    cage: PlainCage, attachment: Attachment, channel: str
) -> None:
    with pytest.raises(MemorySystemError, match=rf"agent 'acting' cannot take a memory system's {channel}$"):
        delivered(cage, attachment, EVERYTHING - {channel})
    assert list(cage.workdir.iterdir()) == []


def test_all_that_an_agent_cannot_take_is_named_at_once(cage: PlainCage) -> None:
    attachment = Attachment(files={"AGENTS.md": "Cod."}, mcp_servers={"cod": ("cod-server",)})
    with pytest.raises(MemorySystemError, match=r"files, mcp$"):
        delivered(cage, attachment, frozenset())


def test_files_are_appended_to_what_is_there(cage: PlainCage) -> None:
    (cage.workdir / "AGENTS.md").write_text("House rules.\n")
    delivered(cage, Attachment(files={"AGENTS.md": "Cod.\n", "deep/er/CLAUDE.md": "Cod.\n"}))
    assert (cage.workdir / "AGENTS.md").read_text() == "House rules.\nCod.\n"
    assert (cage.workdir / "deep/er/CLAUDE.md").read_text() == "Cod.\n"


def test_a_prefix_stays_before_the_text_of_the_hooks(cage: PlainCage) -> None:
    attachment = Attachment(prefix="Cod.", env={"REALM": "r"}, hooks=(saying("first"),))
    assert delivered(cage, attachment, EVERYTHING - {"hooks"}).attachment.prefix.startswith("Cod.\n\nfirst ")


def test_a_hooks_text_that_is_no_unicode_is_refused(cage: PlainCage) -> None:
    attachment = Attachment(env={"REALM": "r"}, hooks=(saying("\ud800"),))
    with pytest.raises(MemorySystemError, match="no Unicode text"):
        delivered(cage, attachment, EVERYTHING - {"hooks"})


# Where nothing may arrive


NOTHING = [Condition("off"), Condition("handed"), Condition("placebo")]
ABLATED = Condition("ablate", "all")
HOOK = Hook("UserPromptSubmit", ("true",))


@pytest.mark.parametrize("condition", NOTHING, ids=str)
@pytest.mark.parametrize(
    "attachment",
    [
        Attachment(prefix="Cod."),
        Attachment(files={"AGENTS.md": "Cod."}),
        Attachment(mcp_servers={"cod": ("cod-server",)}),
        Attachment(hooks=(HOOK,)),
    ],
)
def test_a_memory_system_delivers_nothing_where_memory_is_off(
    cage: PlainCage, attachment: Attachment, condition: Condition
) -> None:
    with pytest.raises(MemorySystemError, match=rf"delivered under {condition}"):
        delivered(cage, attachment, condition=condition)
    assert list(cage.workdir.iterdir()) == []


@pytest.mark.parametrize("attachment", [Attachment(prefix="Cod."), Attachment(files={"AGENTS.md": "Cod."})])
def test_a_memory_system_delivers_nothing_with_every_lane_ablated(cage: PlainCage, attachment: Attachment) -> None:
    with pytest.raises(MemorySystemError, match="delivered under ablate:all"):
        delivered(cage, attachment, condition=ABLATED)


def test_with_every_lane_ablated_a_hook_has_nothing_to_say(cage: PlainCage) -> None:
    silent = Attachment(env={"REALM": "r"}, hooks=(saying(""),))
    assert delivered(cage, silent, EVERYTHING - {"hooks"}, ABLATED).attachment.prefix == ""
    talking = Attachment(env={"REALM": "r"}, hooks=(saying("Cod."),))
    with pytest.raises(MemorySystemError, match="prefix delivered under ablate:all"):
        delivered(cage, talking, EVERYTHING - {"hooks"}, ABLATED)
    assert delivered(cage, talking, EVERYTHING - {"hooks"}, Condition("ablate", "kw")).attachment.prefix


# How it would be delivered


@pytest.mark.parametrize(
    ("memory", "channels", "channel"),
    [
        ("embedded", EVERYTHING, "hooks"),
        ("embedded", EVERYTHING - {"hooks"}, "prompt"),
        ("file", EVERYTHING, "files"),
        ("off", EVERYTHING, "none"),
    ],
)
def test_the_probe_says_how_memory_would_reach_the_agent(
    tmp_path: Path, memory: str, channels: frozenset[str], channel: str
) -> None:
    watched = Watched(registry.load("memory", memory))
    agent = Acting(lambda _job: None, channels)
    assert probe_delivery(watched.system, agent, tmp_path / "probe") == channel
    assert (watched.closed, watched.left) == (1, []), "nothing is left of it"


def test_a_system_that_cannot_be_opened_is_named_before_anything_runs(tmp_path: Path) -> None:
    def refuse(store: Store) -> Store:
        store.close()
        raise ConnectionRefusedError("its server does not answer")

    with pytest.raises(MemorySystemError, match=r"'embedded' cannot be opened.* nothing was run: .*does not answer"):
        probe_delivery(SystemAround(refuse), Acting(lambda _job: None), tmp_path / "probe")


def test_a_system_that_cannot_plant_is_left_to_its_trials(tmp_path: Path) -> None:
    system = SystemAround(RemembersNothing)
    assert probe_delivery(system, Acting(lambda _job: None), tmp_path / "probe") == "hooks"


@pytest.mark.parametrize("kind", ["handed", "placebo"])
def test_notes_in_the_prompt_take_nothing_else_of_the_attachment_away(cage: PlainCage, kind: str) -> None:
    result = delivered(cage, Attachment(env={"KILL": "1"}), condition=Condition.parse(kind))
    assert (result.channel, dict(result.attachment.env)) == ("prefix", {"KILL": "1"})
    assert (fact("alpha") in result.attachment.prefix) is (kind == "handed")


NAMES = st.sampled_from(["AGENTS.md", "CLAUDE.md", "README.md", "src/a.py"])
TREES: st.SearchStrategy[FileTree] = st.dictionaries(
    NAMES, st.builds(File, st.binary(max_size=8), st.booleans()), max_size=4
)


@given(fixture=TREES, files=st.dictionaries(NAMES, st.text(min_size=1, max_size=8), max_size=4), changed=TREES)
def test_what_was_laid_is_taken_back_and_what_the_agent_changed_is_not(
    fixture: FileTree, files: dict[str, str], changed: FileTree
) -> None:
    attachment = Attachment(files=files)
    laid = {**fixture}
    for name, text in files.items():
        before = fixture.get(name, File(b""))
        laid[name] = File(before.content + text.encode(), before.executable)
    assert without_laid_files(laid, attachment, fixture) == fixture
    worked = {**laid, **changed}
    taken = without_laid_files(worked, attachment, fixture)
    for name in worked.keys() | taken.keys():
        expected = fixture.get(name) if name in files and worked.get(name) == laid[name] else worked.get(name)
        assert taken.get(name) == expected


def test_a_laid_file_that_the_agent_removed_is_removed() -> None:
    fixture = tree({"AGENTS.md": "House rules.\n"})
    assert without_laid_files({}, Attachment(files={"AGENTS.md": "Cod.\n"}), fixture) == {}
