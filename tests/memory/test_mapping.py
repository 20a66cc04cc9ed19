"""The mapping file, and what every mapped system promises, by each way to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._mapped import mapping, paths
from smriti.memory._mapped.fill import filled
from smriti.memory._mapped.store import MappedStore
from smriti.memory._mapped.words import cut, keywords, project_of
from smriti.types import Action, Condition, Hit
from tests.memory.servers.opened import REALM, REST, SERVERS, STDIO, TEXT, WAYS, Way, memory, server_pids
from tests.processes import alive, eventually, open_descriptors, pid_in

each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
both_kinds = pytest.mark.parametrize("way", [STDIO, REST], ids=lambda way: way.name)
SOON = (("call_s = 5", "call_s = 0.7"),)


@pytest.fixture(scope="module", params=WAYS, ids=lambda way: way.name)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MappedStore]:
    way: Way = request.param
    with way.opened(tmp_path_factory.mktemp("notes")) as opened:
        yield opened


@pytest.fixture
def store(shared: MappedStore) -> Iterator[MappedStore]:
    """A store that is empty at the beginning of each test."""
    yield shared
    shared.forget(list(shared._planted._by_id))


# What a mapped system promises.


def test_what_was_remembered_is_found_with_its_text_and_source(store: MappedStore) -> None:
    ids = store.remember([memory("We saw a heron.", "m7"), memory("We saw a newt.", "m8")], REALM)
    assert store.search("heron", REALM, 5) == [Hit(ids[0], "We saw a heron.", 1.0, ("m7",))]


def test_answers_that_are_text_alone_serve_as_well(tmp_path: Path) -> None:
    with TEXT.opened(tmp_path) as store:
        ids = store.remember([memory("We saw a heron.", "m7"), memory("We saw a newt.", "m8")], REALM)
        assert store.search("heron", REALM, 5) == [Hit(ids[0], "We saw a heron.", 1.0, ("m7",))]
        store.forget(ids)
        assert store.count() == 0


def test_the_source_is_kept_outside_of_what_the_system_holds(tmp_path: Path) -> None:
    with STDIO.opened(tmp_path) as store:
        store.remember([memory("We saw a heron.", "source-7")], REALM)
        assert "source-7" not in (tmp_path / "notes" / "state" / "notes.json").read_text()


def test_a_realm_shows_nothing_of_another(store: MappedStore) -> None:
    [mine] = store.remember([memory("The gate closes at nine.")], REALM)
    [theirs] = store.remember([memory("The gate closes at ten.")], f"{REALM}0")
    assert [hit.id for hit in store.search("gate", REALM, 5)] == [mine]
    assert [hit.id for hit in store.search("gate", f"{REALM}0", 5)] == [theirs]


def test_a_query_that_matches_nothing_finds_nothing(store: MappedStore) -> None:
    assert store.search("zzyzx", REALM, 5) == []


def test_forget_removes_exactly_the_ids_given(store: MappedStore) -> None:
    ids = store.remember([memory(f"Rule {n}.", f"m{n}") for n in range(4)], REALM)
    store.forget([ids[1], ids[2]])
    assert {hit.id for hit in store.search("rule", REALM, 9)} == {ids[0], ids[3]}


def test_forgetting_an_unknown_id_is_an_error_that_names_it_and_forgets_nothing(store: MappedStore) -> None:
    [known] = store.remember([memory("Rule.")], REALM)
    with pytest.raises(MemorySystemError, match=r"no memory has the id '77'"):
        store.forget([known, "77"])
    assert store.count() == 1


def test_a_restart_keeps_what_was_remembered_and_what_was_forgotten(store: MappedStore) -> None:
    kept, gone = store.remember([memory("The gate closes at nine."), memory("The gate is red.")], REALM)
    store.forget([gone])
    before = server_pids(store._place.root)
    assert before
    store.restart()
    assert [hit.id for hit in store.search("gate", REALM, 5)] == [kept]
    assert not set(before) & set(server_pids(store._place.root))


def test_a_workspace_that_is_opened_again_knows_its_sources(tmp_path: Path) -> None:
    with STDIO.opened(tmp_path) as store:
        store.remember([memory("The gate closes at nine.", "m9")], REALM)
    with STDIO.opened(tmp_path) as store:
        assert [hit.source_ids for hit in store.search("gate", REALM, 5)] == [("m9",)]


def test_closing_leaves_no_process_and_no_descriptor(tmp_path: Path) -> None:
    for way in WAYS:  # once, so that what is loaded on first use is not counted
        with way.opened(tmp_path / way.name) as store:
            store.search("gate", REALM, 5)
    before = open_descriptors(), threading.active_count()
    for way in WAYS:
        with way.opened(tmp_path / way.name) as store:
            store.search("gate", REALM, 5)
            assert server_pids(tmp_path)
        store.close()
        assert server_pids(tmp_path) == []
    assert eventually(lambda: (open_descriptors(), threading.active_count()) == before)


def test_a_correction_takes_the_place_of_what_it_corrects(store: MappedStore) -> None:
    [old, other] = store.remember([memory("The gate is red."), memory("The gate is tall.", "m2")], REALM)
    new = store.correct(old, memory("The gate is blue.", "m3"), REALM)
    assert {hit.id: hit.source_ids for hit in store.search("gate", REALM, 5)} == {other: ("m2",), new: ("m3",)}


def test_an_update_is_found_by_what_it_says_now(store: MappedStore) -> None:
    [id_] = store.remember([memory("The gate is red.")], REALM)
    assert store.update(id_, "The door is blue.") == id_
    assert store.search("red", REALM, 5) == []
    assert store.search("door", REALM, 5)[0].source_ids == ("m1",)


def test_a_compact_hit_expands_to_the_whole_text(store: MappedStore) -> None:
    [id_] = store.remember([memory("The gate is red, and closes at nine.")], REALM)
    assert store.compact("gate", REALM, 5) == [Hit(id_, "The gate is red, and", 1.0, ("m1",))]
    assert store.expand(id_) == "The gate is red, and closes at nine."


def test_an_action_is_recorded_with_its_memories(store: MappedStore) -> None:
    [id_] = store.remember([memory("The gate is red.")], REALM)
    assert store.act("Paint it.", [id_], REALM) == "a0"
    assert store.actions(REALM) == [Action(id="a0", title="Paint it.", memory_ids=(id_,))]


def test_what_a_mapping_lacks_is_named(store: MappedStore) -> None:
    with pytest.raises(MemorySystemError, match=r"its mapping has no recall"):
        store.recall("gate", REALM, "full", 10)
    with pytest.raises(MemorySystemError, match=r"has no layer 'deep'; its layers are: none"):
        store.search("gate", REALM, 5, "deep")


@pytest.mark.parametrize("content", ["Überall: “ß”, 数据库 स्मृति 🦦", 'quote " {content} {id}\n\ttabs', "gate " * 2_000])
def test_content_comes_back_whole(store: MappedStore, content: str) -> None:
    store.remember([memory(content)], REALM)
    assert store.search(content, REALM, 1)[0].content == content


def test_writers_side_by_side_lose_nothing(store: MappedStore) -> None:
    ids: list[str] = []

    def write(writer: int) -> None:
        for n in range(3):
            ids.extend(store.remember([memory(f"Rule {n} of {writer}.", f"m{writer}-{n}")], REALM))

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(set(ids)) == store.count() == 12


def test_under_off_nothing_is_attached_and_under_on_it_says_that_it_cannot(tmp_path: Path) -> None:
    with STDIO.opened(tmp_path) as store:
        assert not store.attach(REALM, Condition.parse("off")).mcp_servers
        with pytest.raises(MemorySystemError, match=r"condition on of realm"):
            store.attach(REALM, Condition.parse("on"))


def test_capabilities_follow_from_the_verbs_and_the_list(tmp_path: Path) -> None:
    verbs = {"supersede", "update", "expand", "actions", "projects", "provenance", "restart"}
    assert STDIO.system(tmp_path).capabilities == verbs | {"mcp"}
    assert REST.system(tmp_path).capabilities == verbs | {"rest"}


def test_an_identity_tells_one_mapping_from_another(tmp_path: Path) -> None:
    identity = STDIO.system(tmp_path).identity()
    assert (identity.name, identity.version, identity.detail["note"]) == (
        "mcp:notes",
        "1.2",
        "a small system for tests",
    )
    assert identity != STDIO.system(tmp_path, "", ("note_count", "note_number")).identity()


def test_a_replica_is_copied_and_left_as_it_is(tmp_path: Path) -> None:
    frozen = tmp_path / "frozen"
    frozen.mkdir()
    note = {"text": "The gate is red.", "project": ""}
    state = json.dumps({"next": 2, "notes": {"1": note}, "actions": []})
    (frozen / "notes.json").write_text(state)
    store = STDIO.system(tmp_path).open(tmp_path, frozen)
    try:
        assert store.search("gate", "", 5) == [Hit("1", "The gate is red.", 1.0, ())]
        store.remember([memory("The gate is tall.")], REALM)
    finally:
        store.close()
    assert (frozen / "notes.json").read_text() == state


def test_a_server_gets_nothing_of_the_users_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "mine")
    with STDIO.opened(tmp_path):
        envs = [Path(f"/proc/{pid}/environ").read_bytes() for pid in server_pids(tmp_path)]
    assert envs
    for env in envs:
        assert b"SOME_API_KEY" not in env
        assert f"HOME={tmp_path}".encode() in env


# What a system gets wrong.


@each_way
@pytest.mark.parametrize("verb", ["remember", "search", "forget", "get"])
def test_a_server_that_dies_in_a_verb_is_named_with_its_last_words(way: Way, verb: str, tmp_path: Path) -> None:
    with way.opened(tmp_path, f"die:{verb}") as store, pytest.raises(MemorySystemError) as caught:
        _every_verb(store)
    assert f"{verb} " in str(caught.value)
    assert "exit status 7" in str(caught.value)
    assert "Traceback: notes fell over" in str(caught.value)
    assert server_pids(tmp_path) == []


@each_way
@pytest.mark.parametrize("verb", ["remember", "forget"])
def test_a_server_that_hangs_is_named_and_ended(way: Way, verb: str, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, f"hang:{verb}", *SOON, ("settle_s", "stop_s = 0.1\nsettle_s")) as store,
        pytest.raises(MemorySystemError, match=rf"{verb} got no (whole )?answer in 0.7 s; the server is running"),
    ):
        _every_verb(store)
    assert server_pids(tmp_path) == []


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_an_answer_that_is_garbage_is_named(way: Way, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, "garbage:search", *SOON) as store,
        pytest.raises(MemorySystemError, match=r"search (answered no hits|failed|got no answer)"),
    ):
        store.search("gate", REALM, 5)


def test_a_line_that_is_no_message_is_quoted(tmp_path: Path) -> None:
    with (
        STDIO.opened(tmp_path, "garbage:search", *SOON) as store,
        pytest.raises(MemorySystemError, match=r"no message is '%% this is no answer %%'"),
    ):
        store.search("gate", REALM, 5)


@each_way
def test_a_write_that_is_refused_in_plain_text_is_an_error(way: Way, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, "refuse:remember") as store,
        pytest.raises(MemorySystemError, match=r"remember was refused: 'Error: the quota of notes is used up'"),
    ):
        store.remember([memory("Rule.")], REALM)


@both_kinds
def test_a_tool_or_route_that_fails_is_an_error_with_what_it_says(way: Way, tmp_path: Path) -> None:
    edit = (
        'arguments = { text = "{content}", project = "{project}", kind = "{type}" }',
        'arguments = { x = "{content}" }',
    )
    with (
        way.opened(tmp_path, "", edit) as store,
        pytest.raises(MemorySystemError, match=r"remember was refused \((the tool says that it failed|HTTP 400)\)"),
    ):
        store.remember([memory("Rule.")], REALM)


@both_kinds
def test_a_confirmed_write_that_is_lost_is_named_by_its_source(way: Way, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, "lose") as store,
        pytest.raises(MemorySystemError, match=r"2 of 2 are not found after 0.4 s: lost are the sources 'm4', 'm5'"),
    ):
        store.remember([memory("Rule.", "m4"), memory("Rule two.", "m5")], REALM)


@both_kinds
def test_a_write_that_silently_replaces_another_does_not_add_up(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "supersede") as store:
        store.remember([memory("Rule.", "m4")], REALM)
        with pytest.raises(MemorySystemError, match=r"remember confirmed 1 writes, but the count went from 1 to 1"):
            store.remember([memory("Rule two.", "m5")], REALM)


@both_kinds
def test_a_write_that_says_what_it_replaced_names_the_lost_source(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "supersede-said") as store:
        store.remember([memory("Rule.", "m4")], REALM)
        with pytest.raises(
            MemorySystemError, match=r"remember of source 'm5' replaced '1' \(sources \['m4'\]\) unasked"
        ):
            store.remember([memory("Rule two.", "m5")], REALM)


@both_kinds
def test_an_id_that_was_given_before_is_a_lost_write(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "same-id") as store:
        store.remember([memory("Rule.", "m4")], REALM)
        with pytest.raises(MemorySystemError, match=r"the id '1', which was given before: source 'm5' is lost"):
            store.remember([memory("Rule two.", "m5")], REALM)


@both_kinds
def test_a_write_without_an_id_is_a_lost_write(way: Way, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, "", ('id = "note.id"\nsuperseded', 'id = "memory.id"\nsuperseded')) as store,
        pytest.raises(MemorySystemError, match=r"remember gave no id at 'memory.id'; source 'm1' is lost: .*note"),
    ):
        store.remember([memory("Rule.")], REALM)


@both_kinds
@pytest.mark.parametrize("with_get", [True, False])
def test_a_lie_about_forgetting_is_found_out_by_id_or_by_search(way: Way, with_get: bool, tmp_path: Path) -> None:
    with way.opened(tmp_path, "lie") as store:
        if not with_get:
            store._interface = store._interface.model_copy(update={"get": None})
        [id_] = store.remember([memory("Rule.")], REALM)
        with pytest.raises(MemorySystemError, match=r"forget of '1' was confirmed, but it is still found after 0.4 s"):
            store.forget([id_])


def test_what_is_only_hidden_from_searches_is_not_forgotten(tmp_path: Path) -> None:
    with STDIO.opened(tmp_path, "hide") as store:
        [id_] = store.remember([memory("Rule.")], REALM)
        with pytest.raises(MemorySystemError, match=r"forget of '1' was confirmed, but it is still found"):
            store.forget([id_])


@both_kinds
def test_a_lie_about_correcting_and_updating_is_found_out(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "lie") as store:
        [id_] = store.remember([memory("Rule.")], REALM)
        with pytest.raises(
            MemorySystemError, match=r"correct of '1' gave '2', but a search still finds what it replaces"
        ):
            store.correct(id_, memory("Rule two.", "m2"), REALM)
        with pytest.raises(MemorySystemError, match=r"update of '1' is not found by its new text"):
            store.update(id_, "Rule three.")


def test_a_forget_that_deletes_nothing_is_named(tmp_path: Path) -> None:
    with STDIO.opened(tmp_path, "", ('deleted = "deleted"', 'deleted = "gone"')) as store:
        [id_] = store.remember([memory("Rule.")], REALM)
        with pytest.raises(MemorySystemError, match=r"forget of '1' deleted None, expected 1"):
            store.forget([id_])


@both_kinds
def test_an_id_that_nobody_planted_has_no_sources(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "foreign") as store:
        store.remember([memory("Rule.")], REALM)
        assert [hit.source_ids for hit in store.search("rule", REALM, 5)] == [("m1",), ()]


@both_kinds
def test_a_hit_without_an_id_is_an_error(way: Way, tmp_path: Path) -> None:
    with (
        way.opened(tmp_path, "no-id") as store,
        pytest.raises(MemorySystemError, match=r"search returned a hit without an id at 'id': .*This has no id"),
    ):
        store.search("rule", REALM, 5)


def test_what_takes_its_time_to_be_found_is_waited_for(tmp_path: Path) -> None:
    no_get = ('[mcp.get]\ntool = "note_get"', '[mcp.expand]\ntool = "note_get"')
    no_expand = (
        '[mcp.expand]\ntool = "note_get"\narguments = { id = "{id}" }\ncontent = { regex = \'"text": "([^"]*)"\' }\n',
        "",
    )
    with STDIO.opened(tmp_path, "slow", no_expand, no_get, ("settle_s = 0.4", "settle_s = 5")) as store:
        store.remember([memory("Rule.")], REALM)
        assert store.search("rule", REALM, 5)


@each_way
def test_what_a_server_leaves_outside_of_its_group_is_ended_with_it(way: Way, tmp_path: Path) -> None:
    with way.opened(tmp_path, "orphan:count") as store:
        store.count()
        orphan = pid_in(tmp_path / "notes" / "state" / "notes.json.orphan")
        assert alive(orphan)
    assert eventually(lambda: not alive(orphan))


def test_a_server_ends_when_smriti_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.memory.servers.opened import REST\n"
        "with REST.opened(Path(sys.argv[1])): print('open', flush=True); time.sleep(3600)"
    )
    checkout = SERVERS.parents[2]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(checkout)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=checkout, env=env, stdout=subprocess.PIPE
    ) as smriti:
        assert smriti.stdout is not None
        assert smriti.stdout.readline() == b"open\n"
        assert server_pids(tmp_path)
        smriti.send_signal(signal.SIGKILL)
        smriti.wait()
        assert eventually(lambda: server_pids(tmp_path) == [])


@each_way
def test_a_server_that_does_not_start_is_named_with_its_last_words(way: Way, tmp_path: Path) -> None:
    with pytest.raises(MemorySystemError, match=r"start .*exit status 1; .*ends with \"KeyError: 'NOTES_FILE'\""):
        way.system(tmp_path, "", ("NOTES_FILE =", "NOTES =")).open(tmp_path)
    assert server_pids(tmp_path) == []


def test_a_system_that_is_not_installed_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMRITI_SYSTEMS", str(tmp_path / "systems"))
    with pytest.raises(MemorySystemError, match=r"notes/bin/no-such.* is not there.*SMRITI_SYSTEMS"):
        STDIO.system(tmp_path, "", ('"{python}"', '"{prefix}/bin/no-such"')).open(tmp_path)


def test_what_prepares_a_system_is_run_once_in_a_new_workspace(tmp_path: Path) -> None:
    script = "from pathlib import Path; p = Path('runs'); p.write_text(p.read_text() + 'x' if p.exists() else 'x')"
    before = ("call_s = 5", f'call_s = 5\nbefore = [["{{python}}", "-c", "{script}"]]')
    for _ in range(2):
        with STDIO.opened(tmp_path, "", before):
            assert (tmp_path / "notes" / "state" / "runs").read_text() == "x"
    failing = ("call_s = 5", 'call_s = 5\nbefore = [["{python}", "-c", "raise SystemExit(\'no palace\')"]]')
    with pytest.raises(MemorySystemError, match=r"ended with exit status 1: no palace"):
        STDIO.system(tmp_path, "", failing).open(tmp_path / "other")


def test_setup_calls_are_made_once_in_a_new_workspace(tmp_path: Path) -> None:
    setup = ("call_s = 5", 'call_s = 5\nsetup = [{ tool = "note_remember", arguments = { text = "Set up." } }]')
    for _ in range(2):
        with STDIO.opened(tmp_path, "", setup) as store:
            assert store.count() == 1


def test_hits_of_single_keywords_are_ranked_by_how_many_find_them(tmp_path: Path) -> None:
    per = ('score = "score"', 'score = "score"\nper = "keyword"')
    with STDIO.opened(tmp_path, "", per) as store:
        ids = store.remember([memory("A red door."), memory("The red gate.", "m2"), memory("A wall.", "m3")], REALM)
        assert [hit.id for hit in store.search("Is the gate red?", REALM, 5)] == [ids[1], ids[0]]


def test_a_system_without_projects_is_filtered_by_what_was_planted_where(tmp_path: Path) -> None:
    keep = (
        'limit = "{k}", project = "{project}" }\nhits = "results"',
        'limit = "{k}" }\nkeep = "realm"\nhits = "results"',
    )
    with STDIO.opened(tmp_path, "", keep) as store:
        store.remember([memory(f"The gate closes at {n}.", f"m{n}") for n in range(20)], "project:other")
        [mine] = store.remember([memory("The gate is red.")], REALM)
        assert [hit.id for hit in store.search("gate closes", REALM, 1)] == [mine]


# The file.


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{content}", "{contents}", r"mcp.remember has the placeholder \{contents\}, expected one of .*content"),
        ('tool = "note_search"\n', "", "mcp.search has no tool"),
        ('hits = "results"\n', "", "mcp.search.hits: Field required"),
        ('hits = "results"', 'hits = "results[x]"', r"mcp.search.hits is 'results\[x\]', expected a path"),
        ("^No notes found", "(", "mcp.search has the regular expression"),
        ("call_s", "calls_s", "mcp.calls_s: Extra inputs"),
        ("{python}", "{pyhton}", r"mcp has the placeholder \{pyhton\}"),
        ('id = "note.id"\n', "", "mcp.remember has no id"),
        ("[mcp", "[htp", "htp: Extra inputs"),
        ("= {", "= [{", "is no TOML"),
    ],
)
def test_a_broken_mapping_is_refused_with_what_is_wrong(old: str, new: str, said: str) -> None:
    text = (SERVERS / "notes.toml").read_text()
    with pytest.raises(UsageError, match=said):
        mapping.parse("mcp", "notes.toml", text.replace(old, new).encode())


def test_a_mapping_of_another_kind_or_name_is_refused_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no table \[command\]"):
        mapping.parse("command", "notes.toml", (SERVERS / "notes.toml").read_bytes())
    with pytest.raises(UsageError, match=r"'mcp:nothing' is not known, expected one of .*server-memory"):
        mapping.read("mcp", "nothing")
    with pytest.raises(UsageError, match=r"was given no mapping"):
        mapping.read("mcp", None)
    with pytest.raises(UsageError, match=r"cannot be read: No such file"):
        mapping.read("mcp", str(tmp_path / "none.toml"))


@pytest.mark.parametrize("path", sorted(mapping.folder().glob("*.toml")), ids=lambda path: path.stem)
def test_each_mapping_that_comes_with_smriti_can_be_read_and_has_its_pins(path: Path) -> None:
    kinds = [kind for kind in ("mcp", "http") if f"[{kind}]" in path.read_text()]
    assert kinds
    for kind in kinds:
        read = mapping.read(kind, path.stem)  # type: ignore[arg-type]  # one of the kinds
        assert read.mapping.name == path.stem
        assert read.mapping.version == "{smriti}" or read.mapping.packages[0].version == read.mapping.version


def test_a_placeholder_alone_keeps_its_kind_and_without_a_value_is_left_out() -> None:
    values = {"k": 5, "ids": ["a"], "project": None, "content": "{k}"}
    template = {
        "limit": "{k}",
        "ids": "{ids}",
        "p": "{project}",
        "in": [{"t": "<{content}>"}],
        "n": 1,
        "s": "p={project}",
    }
    assert filled(template, values) == {"limit": 5, "ids": ["a"], "in": [{"t": "<{k}>"}], "n": 1, "s": "p="}


def test_a_path_leads_through_keys_indexes_and_every_item() -> None:
    document = {"a": [{"b": 1}, {"b": 2}], "x.y": {"z": 0}}
    found = [paths.find(document, path) for path in ("a[-1].b", "a[].b", '["x.y"].z', "a[7].b", "a.b", "x[]")]
    assert found == [2, [1, 2], 0, None, None, None]


def test_each_realm_has_a_project_of_its_own() -> None:
    realms = [
        "project:a",
        "a",
        "project:A",
        "project:a b",
        "project:a-b",
        "π:ß",
        "%",
        "project:",
        "project:" + "x" * 90,
    ]
    projects = [project_of(realm) for realm in realms]
    assert projects[0] == "a"
    assert len(set(projects)) == len(realms)
    assert all(project and project.isascii() and len(project) < 64 for project in projects)
    assert project_of("") is None


def test_keywords_and_cuts_of_a_query() -> None:
    assert keywords("Is the gate, THE gate red?") == ["the", "gate", "red"]
    assert keywords("a b") == ["a b"]
    assert cut("one two three", 9) == "one two"
    assert cut("x" * 10, 4) == "xxxx"
    assert cut("short", None) == "short"


def _every_verb(store: MappedStore) -> None:
    [old] = store.remember([memory("The gate is red.")], REALM)
    store.search("gate", REALM, 5)
    new = store.correct(old, memory("The gate is blue.", "m2"), REALM)
    store.forget([new])
