"""The `openai-vector` memory, against a server on this machine."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import openai_vector
from smriti.memory._embedding import EmbeddingStore
from smriti.memory.openai_vector import OpenAIVectorMemory, Service, ServiceEmbedder
from smriti.types import Attachment, Condition, Memory

REALM = "project:gatehouse"
KEY = "sk-secret-0123456789"

Answer = tuple[int, Any]
"""Status, and a body as JSON or as it stands."""


@dataclass
class Server:
    """Answers as `answers` says, one after the other, then with the vectors of `vector`."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)
    """Path, Authorization and body."""
    vector: Callable[[str], list[float]] = lambda text: [float(len(text)), 1.0]
    pauses: list[float] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> Answer:
        if self.answers:
            return self.answers.pop(0)
        rows = [{"index": index, "embedding": self.vector(text)} for index, text in enumerate(body["input"])]
        return 200, {"data": rows}

    def service(self, **changes: Any) -> Service:
        return Service(**{"model": "m", "base_url": self.url, "key": KEY, "sleep": self.pauses.append, **changes})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, self.headers["Authorization"], body))
            status, answer = state.answer(body)
            if status == 0:
                self.close_connection = True
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **state.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def store(server: Server) -> Iterator[EmbeddingStore]:
    opened = EmbeddingStore("openai-vector", ServiceEmbedder(server.service()))
    yield opened
    opened.close()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return monkeypatch


def memories(*contents: str) -> list[Memory]:
    return [
        Memory(content=content, type="wisdom", role="convention", source_id=f"m{number}")
        for number, content in enumerate(contents)
    ]


def rows(*vectors: list[Any]) -> Answer:
    return 200, {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


# Asking


def test_what_is_asked_is_a_post_of_model_and_texts_with_the_key(server: Server, store: EmbeddingStore) -> None:
    store.remember(memories("The gate is red.", "Überall 🦦 \x00"), REALM)
    [(path, key, body)] = server.requests
    assert (path, key) == ("/v1/embeddings", f"Bearer {KEY}")
    assert body == {"model": "m", "input": ["The gate is red.", "Überall 🦦 \x00"], "encoding_format": "float"}


def test_memories_are_ranked_by_cosine(server: Server, store: EmbeddingStore) -> None:
    server.vector = lambda text: {"east": [2, 0.0], "north": [0.0, 9], "?": [5.0, 1]}[text]
    store.remember(memories("north", "east"), REALM)
    hits = store.search("?", REALM, 10)
    assert [(hit.content, hit.source_ids) for hit in hits] == [("east", ("m1",)), ("north", ("m0",))]
    assert [hit.score for hit in hits] == pytest.approx([5 / 26**0.5, 1 / 26**0.5], abs=1e-6)


def test_at_most_64_texts_go_in_one_request_and_their_order_is_kept(server: Server, store: EmbeddingStore) -> None:
    contents = [f"{'x' * number}." for number in range(130)]
    store.remember(memories(*contents), REALM)
    assert [body["input"] for _, _, body in server.requests] == [contents[:64], contents[64:128], contents[128:]]
    server.vector = lambda _: [-1.0, 130.0]  # the nearest is the shortest
    assert [hit.content for hit in store.search("?", REALM, 130)] == contents


def test_only_the_first_8000_characters_of_a_text_are_sent(server: Server, store: EmbeddingStore) -> None:
    [id_] = store.remember(memories("ß" * 8_000 + "never sent"), REALM)
    [hit] = store.search("q" * 9_000, REALM, 1)
    assert [body["input"] for _, _, body in server.requests] == [["ß" * 8_000], ["q" * 8_000]]
    assert (hit.id, hit.content) == (id_, "ß" * 8_000 + "never sent")


def test_a_lone_surrogate_is_sent_as_a_question_mark(server: Server, store: EmbeddingStore) -> None:
    store.remember(memories("gate"), REALM)
    store.search("gate \ud800", REALM, 1)
    assert server.requests[-1][2]["input"] == ["gate ?"]


def test_remembering_nothing_asks_nothing(server: Server, store: EmbeddingStore) -> None:
    assert store.remember([], REALM) == []
    assert server.requests == []


# Trying again


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_fault_of_the_moment_is_tried_again_after_growing_pauses(
    server: Server, store: EmbeddingStore, status: int
) -> None:
    server.answers = [(status, {"error": {"message": "later"}})] * 4
    assert store.remember(memories("gate"), REALM) == ["openai-vector-0"]
    assert len(server.requests) == 5
    assert server.pauses == [0.5, 1, 2, 4]


def test_a_broken_connection_is_tried_again(server: Server, store: EmbeddingStore) -> None:
    server.answers = [(0, None)]
    store.remember(memories("gate"), REALM)
    assert (len(server.requests), server.pauses) == (2, [0.5])


def test_after_five_attempts_it_gives_up_and_says_what_was_said_last(server: Server, store: EmbeddingStore) -> None:
    server.answers = [(503, {"error": "overloaded"})] * 9
    with pytest.raises(MemorySystemError, match=r'model \'m\': HTTP 503: {"error": "overloaded"} \(tried 5 times\)'):
        store.remember(memories("gate"), REALM)
    assert len(server.requests) == 5
    server.answers = []
    assert store.search("gate", REALM, 10) == [], "nothing was remembered"


@pytest.mark.parametrize(
    ("asked", "pause"), [("7", 7), ("0.1", 0.5), ("3600", 30), ("nan", 0.5), ("inf", 30), ("-1", 0.5), ("soon", 0.5)]
)
def test_a_pause_that_the_service_asks_for_is_made_within_bounds(
    server: Server, store: EmbeddingStore, asked: str, pause: float
) -> None:
    server.headers, server.answers = {"Retry-After": asked}, [(429, {})]
    store.remember(memories("gate"), REALM)
    assert server.pauses == [pause]


def test_a_service_that_is_not_there_is_an_error_that_names_it(server: Server) -> None:
    embedder = ServiceEmbedder(server.service(base_url="http://127.0.0.1:9/v1"))  # the port of discard
    with pytest.raises(MemorySystemError, match=r"127\.0\.0\.1:9, model 'm': ConnectError: .* \(tried 5 times\)"):
        embedder.query("gate")
    embedder.close()


@pytest.mark.parametrize("status", [301, 400, 404])
def test_any_other_refusal_is_an_error_at_once(server: Server, store: EmbeddingStore, status: int) -> None:
    server.answers, server.headers = [(status, {"error": "no such model"})], {"Location": f"{server.url}/elsewhere"}
    with pytest.raises(MemorySystemError, match=f"HTTP {status}: .*no such model"):
        store.remember(memories("gate"), REALM)
    assert (len(server.requests), server.pauses) == (1, [])


# Malformed answers


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((200, b"<html>"), "is no JSON: <html>"),
        ((200, b"\xff\xfe\x00"), "is no JSON"),
        ((200, b"[" * 100_000), "nested too deeply|is no JSON"),
        ((200, []), "no list 'data' of objects"),
        ((200, {"data": {}}), "no list 'data' of objects"),
        ((200, {"data": [[1.0], [2.0]]}), "no list 'data' of objects"),
        (rows([1.0]), "1 embeddings came back for 2 texts"),
        (rows([1.0], [1.0], [1.0]), "3 embeddings came back for 2 texts"),
        ((200, {"data": [{"index": 1, "embedding": [1]}, {"index": 0, "embedding": [1]}]}), "0 has the index 1"),
        ((200, {"data": [{"index": False, "embedding": [1]}] * 2}), "0 has the index False"),
        ((200, {"data": [{"embedding": [1]}] * 2}), "0 has the index None"),
        ((200, {"data": [{"index": 0, "embedding": "AAAA"}] * 2}), "0 is no list of numbers"),
        (rows([1.0], []), "1 is no list of numbers"),
        (rows(["1.0"], [1.0]), "0 is no list of numbers"),
        (rows([True], [1.0]), "0 is no list of numbers"),
        (rows([[1.0]], [1.0]), "0 is no list of numbers"),
        (rows([1.0], [float("nan")]), "1 is zero, or holds a number that is not finite"),
        (rows([1.0, float("-inf")], [1.0, 2.0]), "0 is zero, or holds a number that is not finite"),
        (rows([10**400], [1.0]), "0 is zero, or holds a number that is not finite"),
        (rows([0.0, 0], [1.0, 2.0]), "0 is zero"),
        (rows([1.0, 2.0], [1.0]), "1 has 1 numbers, those before it 2"),
        (rows([1e200, 1e200], [1.0, 1.0]), "not finite, or is zero"),
    ],
)
def test_a_malformed_answer_is_an_error_and_nothing_is_remembered(
    server: Server, store: EmbeddingStore, answer: Answer, problem: str
) -> None:
    server.answers = [answer]
    with pytest.raises(MemorySystemError, match=problem):
        store.remember(memories("gate", "quay"), REALM)
    assert (len(server.requests), server.pauses) == (1, [])
    assert store.search("gate", REALM, 10) == []


def test_a_query_of_another_dimension_than_the_memories_is_an_error(server: Server, store: EmbeddingStore) -> None:
    server.answers = [rows([1.0, 2.0]), rows([1.0])]
    store.remember(memories("gate"), REALM)
    with pytest.raises(MemorySystemError, match="0 has 1 numbers, those before it 2"):
        store.search("gate", REALM, 10)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_is_named_by_its_variable(
    server: Server, store: EmbeddingStore, status: int
) -> None:
    server.answers = [(status, {})]
    with pytest.raises(MemorySystemError, match=f"HTTP {status}: it does not accept the key in OPENAI_API_KEY"):
        store.remember(memories("gate"), REALM)


# The key


@pytest.mark.parametrize(
    "answer",
    [
        (400, {"error": f"you sent {KEY}"}),
        (401, {"error": f"bad key {KEY[:12]}*****"}),
        (403, {"error": f"bad key {KEY[:12]}*****"}),
        (500, f"{'.' * 380} {KEY}".encode()),
        (200, f"{'<' * 60}{KEY}".encode()),
        (200, {"data": [{"index": f"{'.' * 30}{KEY}", "embedding": [1]}]}),
    ],
)
def test_the_key_is_in_no_error_nor_a_part_of_it(server: Server, store: EmbeddingStore, answer: Answer) -> None:
    server.answers = [answer] * 5
    with pytest.raises(MemorySystemError) as raised:
        store.remember(memories("gate"), REALM)
    assert KEY[:6] not in str(raised.value)


@pytest.mark.usefixtures("environment")
def test_the_key_is_in_no_repr_identity_or_log(server: Server, caplog: pytest.LogCaptureFixture, tmp_path: Any) -> None:
    caplog.set_level(logging.DEBUG)
    system = openai_vector.create(f"m@{server.url}")
    store = system.open(tmp_path)
    store.remember(memories("gate"), REALM)
    shown = [repr(system), repr(store), repr(store._embedder), repr(server.service()), str(system.identity())]
    assert server.requests[0][1] == f"Bearer {KEY}"
    assert KEY not in "".join([*shown, system.name, caplog.text])
    assert list(tmp_path.iterdir()) == []
    store.close()


@pytest.mark.parametrize("key", ["", "  "])
def test_without_a_key_it_cannot_be_made(environment: pytest.MonkeyPatch, key: str) -> None:
    environment.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        openai_vector.create(None)
    environment.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        openai_vector.create(None)


@pytest.mark.parametrize("key", ["sk-se\ncret", "sk-sé-cret", "sk-se cret", "sk-se\x00cret"[:5] + "\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(environment: pytest.MonkeyPatch, key: str) -> None:
    environment.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds characters that no key has") as raised:
        openai_vector.create(None)
    assert "sk-" not in str(raised.value)


def test_white_space_around_the_key_is_not_part_of_it(server: Server, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("OPENAI_API_KEY", f" {KEY}\n")
    environment.setenv("OPENAI_BASE_URL", server.url)
    store = openai_vector.create(None).open(None)  # type: ignore[arg-type]
    store.remember(memories("gate"), REALM)
    assert server.requests[0][1] == f"Bearer {KEY}"
    store.close()


# Making it


def made(argument: str | None) -> tuple[str, str]:
    service = openai_vector.create(argument)._service
    return service.model, service.base_url


def test_without_an_argument_it_is_openais_small_model(environment: pytest.MonkeyPatch) -> None:
    assert made(None) == ("text-embedding-3-small", "https://api.openai.com/v1")
    environment.setenv("OPENAI_BASE_URL", "")
    assert made(None) == ("text-embedding-3-small", "https://api.openai.com/v1")


@pytest.mark.parametrize(
    ("argument", "model", "base_url"),
    [
        ("m", "m", "http://localhost:8080/v1"),
        ("a/b:c@q4", "a/b:c@q4", "http://localhost:8080/v1"),
        ("m@http://127.0.0.1:1234/v1/", "m", "http://127.0.0.1:1234/v1"),
        ("m@q4@https://host/v1", "m@q4", "https://host/v1"),
        ("@http://127.0.0.1:1234/v1", "text-embedding-3-small", "http://127.0.0.1:1234/v1"),
    ],
)
def test_the_argument_names_model_and_address_and_wins_over_the_environment(
    environment: pytest.MonkeyPatch, argument: str, model: str, base_url: str
) -> None:
    environment.setenv("OPENAI_BASE_URL", "http://localhost:8080/v1/")
    assert made(argument) == (model, base_url)


@pytest.mark.parametrize("argument", ["@", "@host/v1", "http://host/v1", "m@ftp://host"])
@pytest.mark.usefixtures("environment")
def test_an_argument_that_is_neither_model_nor_address_is_refused(argument: str) -> None:
    with pytest.raises(UsageError, match="takes MODEL, MODEL@BASE_URL or @BASE_URL, found"):
        openai_vector.create(argument)


@pytest.mark.parametrize(
    "url", ["http://", "http://me:hunter2@host/v1", "https://host/v1?key=hunter2", "http://host:hunter2/"]
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused_without_showing_it(
    environment: pytest.MonkeyPatch, url: str
) -> None:
    with pytest.raises(UsageError, match="the base URL of its argument") as raised:
        openai_vector.create(f"@{url}")
    assert "hunter2" not in str(raised.value)
    environment.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(UsageError, match="the base URL of OPENAI_BASE_URL") as raised:
        openai_vector.create(None)
    assert "hunter2" not in str(raised.value)


def test_the_environment_is_read_only_when_the_system_is_made(environment: pytest.MonkeyPatch) -> None:
    system = openai_vector.create(None)
    environment.delenv("OPENAI_API_KEY")
    assert system._service.key == KEY
    assert isinstance(openai_vector.OpenAIVectorMemory(system._service), OpenAIVectorMemory)


@pytest.mark.usefixtures("environment")
def test_the_identity_names_model_host_unless_default_and_bound() -> None:
    identity = openai_vector.create(None).identity()
    assert (identity.name, identity.version) == ("openai-vector", "1")
    assert (identity.detail["host"], identity.detail["dimension"]) == (None, None)
    assert (identity.detail["model"], identity.detail["max_characters"]) == ("text-embedding-3-small", 8_000)
    other = openai_vector.create("m@http://127.0.0.1:1234/v1/folder").identity()
    assert other.name == "openai-vector:m@127.0.0.1:1234"
    assert (other.detail["model"], other.detail["host"]) == ("m", "127.0.0.1:1234")
    assert "folder" not in str(other)


@pytest.mark.usefixtures("environment")
def test_an_identity_is_the_same_before_and_after_use(server: Server, tmp_path: Any) -> None:
    system = openai_vector.create(f"@{server.url}")
    before = system.identity()
    store = system.open(tmp_path)
    store.remember(memories("gate"), REALM)
    store.close()
    assert system.identity() == before


@pytest.mark.usefixtures("environment")
def test_a_replica_is_refused_and_nothing_is_ever_attached(server: Server, tmp_path: Any) -> None:
    system = openai_vector.create(f"@{server.url}")
    with pytest.raises(MemorySystemError, match="no stored form to replicate"):
        system.open(tmp_path, tmp_path / "replica")
    store = system.open(tmp_path)
    assert store.attach(REALM, Condition.parse("on")) == Attachment()
    store.close()
