"""`smriti-mem serve`: the same verbs over REST and over MCP, by processes that start and end as they say."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from smriti.errors import UsageError
from smriti.memory.embedded import cli, serve
from smriti.memory.embedded.store import MemoryFile
from tests.processes import PATH, eventually

mcp = pytest.importorskip("mcp")
stdio_client = pytest.importorskip("mcp.client.stdio").stdio_client

REALM = "project:gatehouse"
OTHER = "project:lotbook"
COMMAND = (sys.executable, "-I", "-m", "smriti.memory.embedded", "serve")
LONG = (
    "The metrics listener is on port 9318 of every host. " + "It answers no other path than the one for metrics. " * 4
)
UNKNOWN = "0" * 32
VERBS = {
    *("remember", "search", "compact", "expand", "recall", "correct", "update", "forget", "capture", "act"),
    *("actions", "list", "count", "health"),
}


class RefusedError(Exception):
    """A call that was answered by an error: its status over REST, else 0, and its text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server(NamedTuple):
    """A process that serves, and the address in its ready line."""

    process: subprocess.Popen[str]
    url: str


class Servers:
    """Starts servers, each in a home of its own or in one that is given, and ends what is left of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def environment(self, home: Path) -> dict[str, str]:
        return {"PATH": PATH, "HOME": str(self._folder), "SMRITI_MEM_HOME": str(home)}

    def start(self, *arguments: str, home: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=self.environment(home) | dict(env or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def http(self, over: str, home: Path, env: Mapping[str, str] | None = None) -> Server:
        process = self.start(f"--{over}", "127.0.0.1:0", home=home, env=env)
        assert process.stdout
        line = process.stdout.readline()
        said = re.fullmatch(r"smriti-mem: serving (?:REST|MCP) at (http://127\.0\.0\.1:[1-9]\d*(?:/mcp)?)\n", line)
        assert said, f"{line!r}, {process.stderr.read() if process.stderr and not line else ''}"
        return Server(process, said[1])

    def end(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


Call = Callable[..., Any]

HTTP = httpx.Client(trust_env=False, verify=False)
"""One for all calls: each new one would read the machine's certificates."""


def over_rest(url: str) -> Call:
    def call(name: str, /, **fields: object) -> Any:
        if name in ("actions", "list", "count", "health"):
            answer = HTTP.get(f"{url}/{name}", params={key: str(value) for key, value in fields.items()})
        else:
            answer = HTTP.post(f"{url}/{name}", json=fields)
        if answer.status_code != 200:
            raise RefusedError(answer.status_code, answer.json()["error"])
        return answer.json()

    return call


@contextmanager
def connected(server: Any) -> Iterator[Callable[..., Any]]:
    """Opens a client of a server, by its URL or a transport to it, and gives what runs the client's methods."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(mcp.Client(server)) as client:
        yield lambda method, *arguments: portal.call(getattr(client, method), *arguments)


def over_mcp(ask: Callable[..., Any]) -> Call:
    def call(name: str, /, **fields: object) -> Any:
        result = ask("call_tool", name, fields)
        [block] = result.content
        if result.is_error:
            raise RefusedError(0, block.text)
        assert json.loads(block.text) == result.structured_content
        return result.structured_content

    return call


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.end()


@pytest.fixture(scope="module")
def urls(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A REST and an MCP server over one store."""
    home = tmp_path_factory.mktemp("home")
    return {over: servers.http(over, home).url for over in ("rest", "mcp")}


@pytest.fixture(scope="module")
def asks(urls: dict[str, str]) -> Iterator[Callable[..., Any]]:
    with connected(urls["mcp"]) as asks:
        yield asks


@pytest.fixture(scope="module")
def calls(urls: dict[str, str], asks: Callable[..., Any]) -> dict[str, Call]:
    return {"rest": over_rest(urls["rest"]), "mcp": over_mcp(asks)}


@pytest.fixture(params=["rest", "mcp"])
def call(calls: dict[str, Call], request: pytest.FixtureRequest) -> Call:
    return calls[request.param]


@pytest.fixture
def realm(request: pytest.FixtureRequest) -> str:
    """A realm of the test's own, since the servers are shared."""
    return f"project:{request.node.name}"


def ids(answer: Any) -> list[str]:
    return [hit["id"] for hit in answer["hits"]]


def test_every_verb_is_a_tool_with_its_fields(asks: Callable[..., Any]) -> None:
    tools = {tool.name: tool for tool in asks("list_tools").tools}
    assert set(tools) == VERBS
    assert tools["remember"].input_schema["required"] == ["content"]
    assert set(tools["remember"].input_schema["properties"]) == {"content", "realm", "type", "source_id"}
    assert all(tool.description for tool in tools.values())


def test_every_verb_stands_in_the_table_of_the_module() -> None:
    assert set(re.findall(r"^\| (\w+) \| (?:GET|POST) \|", serve.__doc__ or "", re.MULTILINE)) == VERBS


def test_a_memory_is_remembered_found_and_forgotten(call: Call, realm: str) -> None:
    given = call("remember", content="Exports write 640 lots.", realm=realm, type="belief", source_id="m7")["id"]
    [hit] = call("search", query="exports", realm=realm)["hits"]
    assert hit.pop("score") > 0
    expected = {"id": given, "type": "belief", "realm": realm, "source_id": "m7", "content": "Exports write 640 lots."}
    assert hit == expected | {"cut": False}
    assert call("forget", ids=[given]) == {"deleted": [given]}
    assert call("search", query="exports", realm=realm) == {"hits": []}


def test_an_unknown_id_is_an_error_and_nothing_is_forgotten(call: Call, realm: str) -> None:
    kept = call("remember", content="Exports write 640 lots.", realm=realm)["id"]
    wrong: dict[str, dict[str, object]] = {
        "forget": {"ids": [kept, UNKNOWN]},
        "expand": {"id": UNKNOWN},
        "update": {"id": UNKNOWN, "content": "x"},
        "correct": {"id": UNKNOWN, "content": "x", "realm": realm},
        "act": {"title": "x", "memory_ids": [UNKNOWN], "realm": realm},
    }
    for name, fields in wrong.items():
        with pytest.raises(RefusedError, match=UNKNOWN) as refused:
            call(name, **fields)
        assert refused.value.status in (0, 404)
    assert ids(call("search", query="exports", realm=realm)) == [kept]


def test_a_fact_is_corrected_and_updated(call: Call, realm: str) -> None:
    stale = call("remember", content="Exports write 640 lots.", realm=realm)["id"]
    answer = call("correct", id=stale, content="Exports write 700 lots.", realm=realm, source_id="m8")
    assert answer["superseded"] == [stale]
    assert call("update", id=answer["id"], content="Exports write 710 lots.") == {"id": answer["id"]}
    [hit] = call("search", query="exports", realm=realm)["hits"]
    assert (hit["content"], hit["source_id"]) == ("Exports write 710 lots.", "m8")
    assert [memory["id"] for memory in call("list", realm=realm)["memories"]] == [answer["id"]]
    both = {memory["id"]: memory["superseded_by"] for memory in call("list", realm=realm, superseded=True)["memories"]}
    assert both == {stale: answer["id"], answer["id"]: None}


def test_a_compact_hit_expands_to_its_whole_content(call: Call, realm: str) -> None:
    given = call("remember", content=LONG, realm=realm)["id"]
    [hit] = call("compact", query="metrics", realm=realm)["hits"]
    assert (hit["content"], hit["cut"]) == (LONG[:80] + "…", True)
    assert call("expand", id=given)["content"] == LONG


def test_an_observation_is_captured_in_a_layer_of_its_own(call: Call, realm: str) -> None:
    given = call("capture", content="pytest: 3 failed", tool="bash", session_id="s1", realm=realm, source_id="o7")["id"]
    assert call("search", query="pytest", realm=realm) == {"hits": []}
    [hit] = call("search", query="pytest", realm=realm, layer="observations")["hits"]
    assert (hit["id"], hit["type"], hit["source_id"]) == (given, "observation", "o7")
    assert ids(call("recall", query="pytest", realm=realm)) == [given]
    assert call("recall", query="pytest", realm=realm, layer="memories")["matched"] == 0


def test_an_action_is_recorded_with_what_it_follows_from(call: Call, realm: str) -> None:
    cause = call("remember", content="Run make seed.", realm=realm)["id"]
    action = call("act", title="make seed", memory_ids=[cause], realm=realm)["id"]
    assert call("actions", realm=realm) == {
        "actions": [{"id": action, "title": "make seed", "memory_ids": [cause]}],
    }


def test_a_recall_says_what_its_budget_left_out(call: Call, realm: str) -> None:
    call("remember", content=LONG, realm=realm)
    tiny = call("recall", query="metrics", realm=realm, budget=3)
    assert tiny == {"form": "full", "budget": 3, "tokens": 0, "matched": 1, "cut": 1, "hits": [], "text": ""}
    whole = call("recall", query="metrics", realm=realm, form="narrative", layer="memories")
    assert (whole["matched"], whole["cut"]) == (1, 0)
    assert LONG in whole["text"]
    assert whole["tokens"] == -(-len(whole["text"]) // 4) <= whole["budget"] == 2000


def test_counts_are_of_one_project_or_of_all(call: Call, realm: str) -> None:
    before = call("count")
    stale = call("remember", content="Exports write 640 lots.", realm=realm)["id"]
    call("correct", id=stale, content="Exports write 700 lots.", realm=realm)
    call("capture", content="pytest: 3 failed", tool="bash", session_id="s1", realm=realm)
    assert call("count", realm=realm) == {"memories": 1, "superseded": 1, "observations": 1, "actions": 0}
    after = call("count")
    assert {name: after[name] - before[name] for name in after} == call("count", realm=realm)


def test_a_call_that_names_no_realm_is_of_no_project(call: Call, realm: str) -> None:
    word = f"w{zlib.crc32(realm.encode())}"
    given = call("remember", content=f"Everyone knows {word}.")["id"]
    call("remember", content=f"Few know {word}.", realm=OTHER)
    assert ids(call("search", query=word, layer="kw")) == [given]
    assert ids(call("search", query=word, layer="kw", realm=realm)) == [given]
    assert len(ids(call("search", query=word, layer="kw", realm=OTHER))) == 2


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("remember", {}, "content: Field required"),
        ("remember", {"content": ""}, "content: String should have at least 1 character"),
        ("remember", {"content": "x", "type": "lore"}, "type: "),
        ("remember", {"content": "x", "project": "y"}, r"project: Extra inputs .* Its fields are content, realm"),
        ("search", {"query": "x", "k": 0}, "k: "),
        ("search", {"query": "x", "layer": "bm25"}, "layer: "),
        ("recall", {"query": "x", "budget": -1}, "budget: "),
        ("forget", {"ids": []}, "ids: "),
    ],
)
def test_fields_that_are_wrong_are_named(call: Call, name: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(RefusedError, match=message) as refused:
        call(name, **fields)
    assert refused.value.status in (0, 400)


def test_both_answer_alike_in_every_form_and_layer(calls: dict[str, Call], realm: str) -> None:
    calls["rest"]("remember", content=LONG, realm=realm)
    calls["mcp"]("remember", content="Метрики слушают порт 9318. 指標 metrics", realm=realm)
    calls["mcp"]("capture", content="metrics listener ready", tool="bash", session_id="s", realm=realm)

    def answers(call: Call) -> list[Any]:
        found = [
            call("search", query="metrics 指標", realm=realm, layer=layer) for layer in ("memories", "observations")
        ]
        for form in ("full", "compact", "narrative"):
            found += [call("recall", query="metrics", realm=realm, form=form, budget=budget) for budget in (5, 30, 500)]
        return [*found, call("list", realm=realm), call("count", realm=realm), call("health")]

    over_rest, over_mcp = (answers(calls[over]) for over in ("rest", "mcp"))
    assert over_rest == over_mcp
    assert len(over_rest[0]["hits"]) == 2


def test_there_is_no_tool_of_another_name(calls: dict[str, Call]) -> None:
    with pytest.raises(RefusedError, match="there is no tool 'dream'; the tools are remember, search"):
        calls["mcp"]("dream")


@pytest.mark.parametrize(
    ("call", "content", "status", "message"),
    [
        ("GET /dream", "", 404, "no route '/dream'; the routes are /remember"),
        ("GET /remember", "", 405, "GET /remember"),
        ("POST /remember", "{", 400, "expected a JSON object"),
        ("POST /remember", "[" * 100_000, 400, "expected a JSON object"),
        ("POST /remember", "[]", 400, "holds a JSON list"),
    ],
)
def test_what_is_no_call_is_refused_over_rest(
    urls: dict[str, str], call: str, content: str, status: int, message: str
) -> None:
    method, path = call.split()
    answer = HTTP.request(
        method, f"{urls['rest']}{path}", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_what_a_form_of_any_page_can_send_is_refused(urls: dict[str, str]) -> None:
    headers = {"Content-Type": "text/plain"}
    answer = HTTP.post(f"{urls['rest']}/remember", content='{"content": "x"}', headers=headers)
    assert answer.status_code == 415
    assert "is 'text/plain', expected application/json" in answer.json()["error"]


@pytest.mark.parametrize("over", ["rest", "mcp"])
def test_a_page_of_another_host_is_not_answered(urls: dict[str, str], over: str) -> None:
    answer = HTTP.get(urls[over].removesuffix("/mcp") + "/count", headers={"Host": "pages.example:80"})
    assert answer.status_code == 421
    assert "'pages.example:80', expected a loopback address" in answer.json()["error"]


def test_with_a_token_only_who_has_it_is_answered(servers: Servers, tmp_path: Path) -> None:
    env = {"SMRITI_MEM_TOKEN": "sesame", "SMRITI_MEM_REALM": REALM}
    for over in ("rest", "mcp"):
        url = servers.http(over, tmp_path, env).url.removesuffix("/mcp")
        for path in ("/count", "/mcp"):
            for sent in ({}, {"Authorization": "Bearer open"}, {"Authorization": "sesame"}):
                answer = HTTP.get(f"{url}{path}", headers=sent)
                assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        right = {"Authorization": "Bearer sesame"}
        assert HTTP.get(f"{url}/count", headers=right).status_code == (200 if over == "rest" else 404)
        assert HTTP.get(f"{url}/health").status_code == (200 if over == "rest" else 401)
        if over == "rest":
            HTTP.post(f"{url}/remember", json={"content": "Exports write 640 lots."}, headers=right)
            [listed] = HTTP.get(f"{url}/list", headers=right).json()["memories"]
            assert listed["realm"] == REALM


def test_over_stdio_the_tools_answer_and_the_store_is_the_same(servers: Servers, tmp_path: Path) -> None:
    parameters = mcp.StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--mcp", "stdio"], env=servers.environment(tmp_path)
    )
    with connected(stdio_client(parameters)) as ask:
        given = over_mcp(ask)("remember", content="Exports write 640 lots.", realm=REALM)["id"]
    memories = MemoryFile.open(str(tmp_path))
    assert [memory.id for memory in memories.listing(REALM, superseded=False)] == [given]
    memories.close()


@pytest.mark.parametrize(("over", "how"), [("rest", signal.SIGTERM), ("mcp", signal.SIGTERM), ("rest", signal.SIGINT)])
def test_told_to_stop_it_ends_in_peace_and_frees_its_port(
    servers: Servers, tmp_path: Path, over: str, how: signal.Signals
) -> None:
    process, url = servers.http(over, tmp_path)
    port = int(re.findall(r":(\d+)", url)[0])
    kept = socket.create_connection(("127.0.0.1", port))
    process.send_signal(how)
    out, err = process.communicate(timeout=20)
    kept.close()
    assert (process.returncode, out, err) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.db"]
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


def test_a_request_that_never_ends_does_not_keep_it(servers: Servers, tmp_path: Path) -> None:
    process, url = servers.http("rest", tmp_path)
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as hanging:
        hanging.sendall(
            b"POST /remember HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
        )
        assert hanging.recv(100).startswith(b"HTTP/1.1 100 ")
        process.send_signal(signal.SIGTERM)
        assert eventually(lambda: process.poll() is not None)
    assert process.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.db"]


@pytest.mark.parametrize("how", ["eof", "term", "int"])
def test_over_stdio_it_ends_in_peace_when_told_to_or_when_stdin_closes(
    servers: Servers, tmp_path: Path, how: str
) -> None:
    process = servers.start("--mcp", "stdio", home=tmp_path)
    assert process.stderr
    assert process.stderr.readline() == "smriti-mem: serving MCP at stdio\n"
    if how != "eof":
        process.send_signal(signal.SIGTERM if how == "term" else signal.SIGINT)
        assert eventually(lambda: process.poll() is not None)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.db"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of the arguments --rest --mcp is required"),
        (("--rest", "127.0.0.1:0", "--mcp", "stdio"), "not allowed with argument"),
        (("--rest", "9318"), "'9318' is no address; expected HOST:PORT"),
        (("--mcp", "127.0.0.1:x"), "'127.0.0.1:x' is no address"),
        (("--rest", "127.0.0.1:65536"), "is no address"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.setenv("SMRITI_MEM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SMRITI_MEM_TOKEN", raising=False)
    assert cli.main(["serve", *arguments]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert message in printed.err
    assert not (tmp_path / "home").exists()


def test_without_a_token_no_address_is_taken_that_others_reach() -> None:
    with pytest.raises(UsageError, match=r"0\.0\.0\.0:0: others can reach it; set SMRITI_MEM_TOKEN"):
        serve._listener(serve.Address.parse("0.0.0.0:0"), "").close()
    serve._listener(serve.Address.parse("0.0.0.0:0"), "sesame").close()


def test_a_taken_address_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"{address}: cannot be listened on"):
            serve.serve(address, None, {})


def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_PACKAGES", ("mcp", "no_such_package"))
    with pytest.raises(UsageError, match=r"needs no_such_package, .* pip install 'smriti\[mcp\]'"):
        serve.serve("127.0.0.1:0", None, {})
