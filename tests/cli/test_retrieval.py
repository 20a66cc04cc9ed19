"""`smriti longmemeval`, `locomo` and `coding-life` from their flags to their exit status."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smriti.cli import retrieval
from smriti.datasets import coding_life, synthetic
from smriti.datasets.lock import Pin
from smriti.datasets.locomo import CATEGORIES
from smriti.receipts.verify import verify
from smriti.receipts.writer import EVIDENCE, MANIFEST, SCORES, SUMMARY, read_manifest
from smriti.types import CodeIdentity, QuestionRecord, RetrievalManifest
from tests.cli.command_line import Ended, Smriti
from tests.processes import alive, eventually
from tests.suites.retrieval import peeping
from tests.test_durability import Running, held_open, whole_lines

Json = dict[str, Any]
Left = Callable[[], list[str]]
Put = Callable[..., Path]
Rows = list[Json]

FILES = (EVIDENCE, MANIFEST, SCORES, SUMMARY)
OF_THE_OCCASION = {
    MANIFEST: {"run_id", "started", "jobs", "host"},
    EVIDENCE: {"run_id", "manifest_sha256", "ingest_ms", "query_ms"},
    SCORES: {"run_id", "evidence_sha256", "ingest_ms", "query_ms"},
}
"""What of a line names the run or its moment."""

ROWS = 9
KEYS = (
    "question_id",
    "question_type",
    "question",
    "answer",
    "question_date",
    "haystack_session_ids",
    "haystack_dates",
    "haystack_sessions",
    "answer_session_ids",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the user to which nothing may be written, and one core."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("smriti.cli.retrieval.cores", lambda: 1)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which is not there yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SMRITI_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Writes bytes, or a value as JSON, to a file beside the folder in which commands run."""

    def put(content: object, name: str = "some.json") -> Path:
        path = tmp_path / "data" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=4).encode())
        return path

    return put


@pytest.fixture
def clean_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package be the unchanged one of a commit."""
    code = CodeIdentity(version="1", commit="0" * 40, dirty=False, sha256="0" * 64)
    monkeypatch.setattr("smriti.suites.retrieval.manifest.code_identity", lambda: code)


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Callable[[str, object], str]:
    """Puts a file in the cache and pins it, and nothing else, by the name; returns its digest."""

    def pin(name: str, content: object) -> str:
        written = json.dumps(content).encode()
        sha256 = hashlib.sha256(written).hexdigest()
        stated = {"revision": "v1", "licence": "none", "terms": "none", "url": "https://example.org/v1"}
        known = {name: Pin(name=name, file=f"{name}_v1.json", sha256=sha256, bytes=len(written), **stated)}
        cache.mkdir()
        (cache / f"{name}_v1.json").write_bytes(written)
        monkeypatch.setattr("smriti.datasets.lock.pins", lambda: known)
        return sha256

    return pin


@pytest.fixture(scope="session")
def synthetic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic LongMemEval of seven rows."""
    path = tmp_path_factory.mktemp("synthetic") / "made.json"
    synthetic.write(path, 7, seed=3)
    return path


# Small sets: every question, document and answer holds a word of its own kind


def lme_row(number: int, **fields: Any) -> Json:
    """A row with seven sessions, of which the third is evidence; the last of `ROWS` rows has no answer."""
    name = f"q{number}" + ("_abs" if number == ROWS - 1 else "")
    ids = [f"other_{number}_{place}" for place in range(7)]
    ids[2] = f"answer_{number}"
    texts = [f"quartzdocument about thing {number * place}" for place in range(7)]
    texts[2] = f"quartzdocument about the zebrafinch{number}, it is velvetanswer{number}"
    return {
        "question_id": name,
        "question_type": ("multi-session", "single-session-user", "temporal-reasoning")[number % 3],
        "question": f"What about the zebrafinch{number}?",
        "answer": f"velvetanswer{number}",
        "question_date": "2023/05/30 (Tue) 02:21",
        "haystack_session_ids": ids,
        "haystack_dates": [f"2023/05/2{place} (Sat) 02:21" for place in range(7)],
        "haystack_sessions": [
            [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}] for text in texts
        ],
        "answer_session_ids": [ids[2]],
    } | fields


def lme() -> Rows:
    return [lme_row(number) for number in range(ROWS)]


def locomo_sample(number: int, **fields: Any) -> Json:
    """A conversation of seven sessions of two turns, with two questions of each category."""
    conversation: Json = {"speaker_a": "First", "speaker_b": "Second"}
    for session in range(1, 8):
        conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        conversation[f"session_{session}"] = [
            {"speaker": "First", "dia_id": f"D{session}:1", "text": f"quartzdocument{session} number {number}"},
            {
                "speaker": "Second",
                "dia_id": f"D{session}:2",
                "text": f"about the zebrafinch{session}",
                "blip_caption": f"a quartzdocument of velvetanswer{session}",
            },
        ]
    qa = [
        {
            "question": f"What {word} of the zebrafinch{category}?",
            "category": category,
            "evidence": [f"D{category}:2"],
            ("adversarial_answer" if category == 5 else "answer"): f"velvetanswer{category}",
        }
        for category in CATEGORIES
        for word in ("came", "went")
    ]
    return {"sample_id": f"conv-{number}", "conversation": conversation, "qa": qa} | fields


def locomo() -> Rows:
    return [locomo_sample(1), locomo_sample(2)]


def put_coding_life(tmp_path: Path) -> Path:
    """A copy of the packaged fixture, to be changed."""
    folder = tmp_path / "data" / "life"
    folder.mkdir(parents=True)
    for name in coding_life.FILES:
        shutil.copy(coding_life.folder() / name, folder / name)
    return folder


SUITES = ("longmemeval", "locomo", "coding-life")


@pytest.fixture
def arguments(put: Put) -> Callable[[str], tuple[object, ...]]:
    """Returns a command that runs a suite on something small."""

    def arguments(suite: str) -> tuple[object, ...]:
        if suite == "coding-life":
            return (suite, "--limit", 12)
        return (suite, "--data", put(lme() if suite == "longmemeval" else locomo(), f"{suite}.json"))

    return arguments


Arguments = Callable[[str], tuple[object, ...]]


# What a receipt holds


def manifest(receipt: Path) -> RetrievalManifest:
    found = read_manifest(receipt)
    assert isinstance(found, RetrievalManifest)
    return found


def lines(receipt: Path, name: str) -> Rows:
    """The lines of a file of rows without what names the occasion."""
    return [without(json.loads(line), OF_THE_OCCASION[name]) for line in (receipt / name).read_text().splitlines()]


def without(row: Json, keys: set[str]) -> Json:
    return {key: value for key, value in row.items() if key not in keys}


def results(receipt: Path) -> Json:
    """Everything in a receipt that does not name its occasion or tell a time."""
    summary = json.loads((receipt / SUMMARY).read_bytes())
    return {
        MANIFEST: without(json.loads((receipt / MANIFEST).read_bytes()), OF_THE_OCCASION[MANIFEST]),
        EVIDENCE: lines(receipt, EVIDENCE),
        SCORES: lines(receipt, SCORES),
        "scores": [score for score in summary["scores"] if "_ms_" not in score["metric"]],
        **{key: summary[key] for key in ("coverage", "flags", "evidence_class")},
    }


def scores(receipt: Path) -> dict[tuple[str, str, str], Json]:
    summary = json.loads((receipt / SUMMARY).read_bytes())
    return {(score["metric"], score["system"], score["group"]): score for score in summary["scores"]}


def ctrl_c(*_: object) -> None:
    raise KeyboardInterrupt


def interrupt_after(monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    """Let the next run be interrupted once `attempts` attempts are on the disk."""
    show = retrieval._Progress.on_record
    shown: list[str] = []

    def on_record(self: retrieval._Progress, record: QuestionRecord) -> None:
        show(self, record)
        shown.append(record.case)
        if len(shown) == attempts:
            raise KeyboardInterrupt

    monkeypatch.setattr(retrieval._Progress, "on_record", on_record)


# A run


@pytest.mark.parametrize("suite", SUITES)
def test_a_run_leaves_a_verified_receipt_under_the_name_of_its_suite(
    smriti: Smriti, left: Left, arguments: Arguments, suite: str
) -> None:
    ended = smriti(*arguments(suite))
    assert ended.status == 0, ended.err
    (run_id,) = [path.name for path in Path("receipts", suite).iterdir()]
    receipt = f"receipts/{suite}/{run_id}"
    assert left() == ["receipts", f"receipts/{suite}", receipt, *(f"{receipt}/{name}" for name in FILES)]
    assert manifest(Path(receipt)).run_id == run_id
    assert ended.out.endswith(f"receipt {receipt}\ncheck it with: smriti verify {receipt}\n")
    verified = smriti("verify", receipt)
    assert verified.status == 0
    assert f"VERIFIED (development)  {receipt}\n" in verified.out


@pytest.mark.parametrize("suite", SUITES)
def test_the_folder_of_a_receipt_is_made_with_its_parents(smriti: Smriti, arguments: Arguments, suite: str) -> None:
    assert smriti(*arguments(suite), "--out", "far/away").status == 0
    assert sorted(path.name for path in Path("far/away").iterdir()) == list(FILES)
    assert smriti("verify", "far/away").status == 0


@pytest.mark.parametrize("suite", SUITES)
def test_json_is_one_object_on_stdout_and_progress_is_on_stderr(
    smriti: Smriti, arguments: Arguments, suite: str
) -> None:
    ended = smriti(*arguments(suite), "--json", "--out", "out")
    assert ended.status == 0
    assert set(ended.json) == {"receipt", "stands", "summary"}
    assert (ended.json["receipt"], ended.json["stands"]) == ("out", True)
    assert ended.json["summary"] == json.loads(Path("out", SUMMARY).read_text())
    told = ended.err.splitlines()
    planned = manifest(Path("out")).planned
    assert told[-1] == f"{suite}  {planned} of {planned} attempts"
    assert 2 <= len(told) <= 10
    assert all(re.fullmatch(rf"{suite}  \d+ of {planned} attempts", line) for line in told)


def test_the_printed_summary_says_what_was_run_and_what_must_be_known_first(
    smriti: Smriti, synthetic_file: Path
) -> None:
    ended = smriti("longmemeval", "--data", synthetic_file, "--k", "5,10", "--out", "out")
    printed = ended.out.splitlines()
    sha256 = hashlib.sha256(synthetic_file.read_bytes()).hexdigest()
    assert [line.partition(":")[0] for line in printed[:3]] == ["DEVELOPMENT", "SYNTHETIC", "SMALL"]
    assert printed[3:7] == [
        "",
        "longmemeval: grep 1, bm25 1",
        f"7 questions of 7 corpora of sha256:{sha256[:12]} (sha256 {sha256[:12]})",
        "form session",
    ]
    assert [line.partition(";")[0] for line in printed if line.startswith("k = ")] == ["k = 5", "k = 10"]
    assert ended.out.count("answerable, with evidence in a user's turn  ") == 4, "a label, not the group's name"
    assert "user-evidence  " not in ended.out
    assert ended.out.count(" ceiling ") == 2
    assert "wall time in ms: diagnostic, of this machine and its load\n" in ended.out
    assert "\n14 planned = 14 completed + 0 failed + 0 skipped; class development\n" in ended.out


def test_a_category_of_locomo_is_printed_with_its_number_and_its_name(smriti: Smriti, put: Put) -> None:
    ended = smriti("locomo", "--data", put(locomo()))
    printed = ended.out.splitlines()
    for number, name in CATEGORIES.items():
        assert [line.startswith(f"{number} {name}  ") for line in printed].count(True) == 2
    assert "category-" not in "".join(line for line in printed if not line.startswith("SMALL: "))
    assert "granularity session, captions no, dates no, all_categories 1,2,3,4" in printed


def test_questions_without_an_answer_are_counted_and_not_scored(smriti: Smriti, put: Put) -> None:
    ended = smriti("longmemeval", "--data", put(lme()), "--memory", "grep", "--out", "out")
    found = scores(Path("out"))
    assert {metric for metric, _, group in found if group == "unanswerable"} == {"attempted", "completed", "failed"}
    assert found["attempted", "grep", "unanswerable"]["value"] == 1
    assert found["recall_all@5", "grep", "all"]["n"] == ROWS - 1
    table = ended.out[ended.out.index("unanswerable: there is nothing to find") :].splitlines()
    assert table[1].split() == ["system", "attempted", "completed", "failed"]
    assert table[3].split() == ["grep", "1", "1", "0"]


def test_the_words_of_a_question_bring_its_evidence_back_and_ranking_by_a_leaked_name_would_not(
    smriti: Smriti, put: Put
) -> None:
    assert smriti("longmemeval", "--data", put(lme()), "--memory", "grep", "--k", 1, "--out", "out").status == 0
    assert scores(Path("out"))["recall_all@1", "grep", "all"]["value"] == 1.0
    rows = lme()
    for row in rows:
        row["question"] = "Unrelated?"
    assert smriti("longmemeval", "--data", put(rows), "--memory", "grep", "--k", 1, "--out", "other").status == 0
    assert scores(Path("other"))["recall_all@1", "grep", "all"]["value"] == 0.0


@pytest.mark.usefixtures("clean_code")
def test_a_whole_pinned_set_by_clean_code_is_of_class_component(
    smriti: Smriti, pinned: Callable[[str, object], str]
) -> None:
    sha256 = pinned("locomo10", locomo())
    assert smriti("locomo", "--out", "whole").status == 0
    found = manifest(Path("whole"))
    assert (found.evidence_class, found.datasets["locomo10"]) == ("component", sha256)
    assert smriti("verify", "whole").status == 0
    selections = (
        ("--limit", 3),
        ("--limit", 99),
        ("--stratify", 1),
        ("--categories", "1,2,3"),
        ("--categories", "1,2,3,4"),
    )
    for number, arguments in enumerate(selections):
        assert smriti("locomo", *arguments, "--out", number).status == 0
        assert manifest(Path(str(number))).evidence_class == "development", arguments
        assert smriti("verify", number).status == 0
    assert smriti("coding-life", "--out", "life").status == 0
    assert manifest(Path("life")).evidence_class == "component"
    assert smriti("verify", "life").status == 0


@pytest.mark.usefixtures("clean_code")
def test_a_synthetic_file_by_clean_code_is_of_class_development_and_a_pinned_one_component(
    smriti: Smriti, synthetic_file: Path, pinned: Callable[[str, object], str], put: Put, cache: Path
) -> None:
    """Whole, both of them: it is the pin alone that makes the difference, however the file is named."""
    rows = lme()
    sha256 = pinned("longmemeval-s", rows)
    in_cache = cache / "longmemeval-s_v1.json"
    other = put(in_cache.read_bytes() + b"\n", "other.json")
    run = ("longmemeval", "--memory", "grep")
    for name, data, expected in (
        ("synthetic", ("--data", synthetic_file), "development"),
        ("other", ("--data", other), "development"),
        ("pinned", (), "component"),
        ("by its name", ("--data", in_cache), "component"),
        ("elsewhere", ("--data", put(in_cache.read_bytes(), "elsewhere.json")), "component"),
    ):
        assert smriti(*run, *data, "--out", name).status == 0
        found = manifest(Path(name))
        assert found.evidence_class == expected, name
        assert found.selection["selected"] == found.selection["of"]
        assert (found.datasets == {"longmemeval-s": sha256}) is (expected == "component")
        assert f"VERIFIED ({expected})" in smriti("verify", name).out


@pytest.mark.usefixtures("clean_code")
def test_a_changed_copy_of_the_fixture_is_of_class_development_and_goes_by_its_digest(
    smriti: Smriti, tmp_path: Path
) -> None:
    folder = put_coding_life(tmp_path)
    assert smriti("coding-life", "--data", folder, "--out", "same").status == 0
    assert manifest(Path("same")).evidence_class == "component"
    assert list(manifest(Path("same")).datasets) == ["coding-life"]
    (folder / "sessions.json").write_bytes((folder / "sessions.json").read_bytes() + b"\n")
    assert smriti("coding-life", "--data", folder, "--out", "other").status == 0
    found = manifest(Path("other"))
    assert found.evidence_class == "development"
    ((name, sha256),) = found.datasets.items()
    assert name == f"sha256:{sha256[:12]}"


# --k


@pytest.mark.parametrize(
    ("given_k", "cutoffs"),
    [
        ((), (5,)),
        (("--k", "10,1,5"), (1, 5, 10)),
        (("--k", "10", "--k", " 5 , 10"), (5, 10)),
        (("--k", "1"), (1,)),
        (("--k", "100"), (100,)),
    ],
)
def test_cutoffs_are_lists_that_may_be_repeated(
    smriti: Smriti, put: Put, given_k: tuple[str, ...], cutoffs: tuple[int, ...]
) -> None:
    ended = smriti("longmemeval", "--data", put(lme()), *given_k, "--out", "out")
    assert ended.status == 0
    assert manifest(Path("out")).config.k == cutoffs
    found = scores(Path("out"))
    for k in cutoffs:
        assert f"k = {k};" in ended.out
        assert found[f"recall_all@{k}", "bm25", "all"]["n"] == ROWS - 1
    assert {metric for metric, _, _ in found if metric.startswith("hit@")} == {f"hit@{k}" for k in cutoffs}
    assert ("SATURATED: k = 100 takes in every document of 9 of 9 corpora" in ended.out) is (100 in cutoffs)


@pytest.mark.parametrize(
    "k", ["0", "101", "five", "", "5,", "-1", "5.0", "²", "1 0", pytest.param("9" * 5000, id="9…")]
)
def test_a_cutoff_that_is_none_is_refused(smriti: Smriti, left: Left, put: Put, k: str) -> None:
    smriti("longmemeval", "--data", put(lme()), "--k", k).assert_refused("--k has ", "whole numbers from 1 to 100")
    assert left() == []


@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_refuses_a_cutoff_and_a_system_that_are_none(smriti: Smriti, left: Left, suite: str) -> None:
    smriti(suite, "--k", "5,101").assert_refused("--k has '101'", "whole numbers from 1 to 100")
    smriti(suite, "--memory", "gerp").assert_refused("memory system 'gerp' is not known", "Did you mean 'grep'?")
    assert left() == []


# --memory


@pytest.mark.parametrize(
    ("given_memory", "systems"),
    [
        ((), ("grep", "bm25")),
        (("--memory", "bm25,grep"), ("bm25", "grep")),
        (("--memory", "embedded", "--memory", "grep , bm25:longmemeval-official"), (
            "embedded", "grep", "bm25:longmemeval-official",
        )),
        (("--memory", "bm25,bm25:longmemeval-official"), ("bm25", "bm25:longmemeval-official")),
    ],
)  # fmt: skip
def test_memory_systems_are_lists_that_may_be_repeated(
    smriti: Smriti, put: Put, given_memory: tuple[str, ...], systems: tuple[str, ...]
) -> None:
    assert smriti("longmemeval", "--data", put(lme()), *given_memory, "--out", "out").status == 0
    found = manifest(Path("out"))
    assert found.config.memory == systems
    assert tuple(system.name for system in found.systems) == systems
    assert found.planned == ROWS * len(systems)
    assert [row["system"] for row in lines(Path("out"), SCORES)] == [name for name in systems for _ in range(ROWS)]


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        ("gerp", ("memory system 'gerp' is not known", "Did you mean 'grep'?", "package.module:object")),
        ("grep,mb25", ("memory system 'mb25' is not known", "Did you mean 'bm25'?")),
        ("grep,grep", ("--memory has 'grep' twice", "different names")),
        ("", ("--memory has an empty name",)),
        ("grep,", ("--memory has an empty name",)),
        ("bm25:official", ("no variant 'official'", "bm25:longmemeval-official")),
        ("no.such:module", ("memory system no.such:module", "cannot be imported")),
        ("tests.benches:nothing", ("no object of the name 'nothing'",)),
        ("os:getcwd", ("memory system os:getcwd is of type str, which lacks name",)),
    ],
)
def test_a_memory_system_that_cannot_be_had_is_refused_before_any_data_is_looked_for(
    smriti: Smriti, left: Left, memory: str, words: tuple[str, ...]
) -> None:
    smriti("longmemeval", "--memory", memory).assert_refused(*words)
    assert left() == []


def test_the_same_system_in_two_flags_is_refused(smriti: Smriti, left: Left) -> None:
    smriti("locomo", "--memory", "bm25", "--memory", "grep,bm25").assert_refused("--memory has 'bm25' twice")
    assert left() == []


MINE = """
from smriti.memory.grep import Grep

class Mine(Grep):
    name = "mine"
"""


def test_a_system_of_the_users_own_is_named_in_the_artifacts_by_its_file(smriti: Smriti, put: Put) -> None:
    Path("mine_q1.py").write_text(MINE)
    run = ("locomo", "--data", put(locomo()), "--memory", "grep,mine_q1:Mine", "--out", "out")
    assert smriti(*run).status == 0
    found = manifest(Path("out"))
    assert found.artifacts == {"memory/mine_q1.py": hashlib.sha256(MINE.encode()).hexdigest()}
    assert [system.name for system in found.systems] == ["grep", "mine"]
    own, grep = scores(Path("out"))["mrr", "mine_q1:Mine", "all"], scores(Path("out"))["mrr", "grep", "all"]
    assert own["value"] == grep["value"]
    assert smriti("verify", "out").status == 0


# Which questions, and how the set is read


@pytest.mark.parametrize(
    ("flags", "asked", "selection"),
    [
        ((), [f"q{number}" for number in range(8)] + ["q8_abs"], (None, None, 9)),
        (("--limit", 4), ["q0", "q1", "q2", "q3"], (None, 4, 4)),
        (("--stratify", 2), ["q0", "q3", "q1", "q4", "q2", "q5"], (2, None, 6)),
        (("--stratify", 2, "--limit", 3), ["q0", "q3", "q1"], (2, 3, 3)),
        (("--limit", 99), [f"q{number}" for number in range(8)] + ["q8_abs"], (None, 99, 9)),
    ],
)
def test_a_selection_is_recorded_and_said(
    smriti: Smriti, put: Put, flags: tuple[object, ...], asked: list[str], selection: tuple[int | None, ...]
) -> None:
    ended = smriti("longmemeval", "--data", put(lme()), *flags, "--out", "out")
    assert ended.status == 0
    found = manifest(Path("out"))
    stratify, limit, selected = selection
    assert found.selection == {"stratify": stratify, "limit": limit, "selected": selected, "of": 9}
    assert [question for corpus in found.corpora for question in corpus.questions] == asked
    assert found.evidence_class == "development"
    told = f"SELECTION: {selected} of the set's 9 questions; these figures are not the set's\n"
    assert (told in ended.out) is (selected != 9)
    assert "SMALL: fewer than 30 questions" in ended.out
    assert f"\n{selected} questions of {selected} corpora of " in ended.out


@pytest.mark.parametrize("flag", ["--limit", "--stratify", "--jobs"])
@pytest.mark.parametrize("value", ["0", "-1", "two", ""])
def test_a_number_below_one_is_refused(smriti: Smriti, left: Left, flag: str, value: str) -> None:
    smriti("coding-life", flag, value).assert_refused(flag)
    assert left() == []


def test_categories_make_up_all_and_the_fifth_only_where_it_is_asked_for_by_name(smriti: Smriti, put: Put) -> None:
    path = put(locomo())

    def run(name: str, *flags: str) -> tuple[RetrievalManifest, dict[str, int], Ended]:
        ended = smriti("locomo", "--data", path, "--memory", "grep", *flags, "--out", name)
        assert ended.status == 0, ended.err
        sizes = {group: score["n"] for (metric, _, group), score in scores(Path(name)).items() if metric == "mrr"}
        return manifest(Path(name)), sizes, ended

    found, sizes, ended = run("plain")
    assert "categories" not in found.config.options
    assert sizes == {"all": 16, "all-repaired": 16} | {f"category-{number}": 4 for number in CATEGORIES}
    assert "ADVERSARIAL" not in ended.out
    found, sizes, ended = run("some", "--categories", "2,1,2")
    assert found.config.options["categories"] == (1, 2)
    assert sizes == {"all": 8, "all-repaired": 8, "category-1": 4, "category-2": 4}
    assert "categories 1,2" in ended.out
    found, sizes, ended = run("fifth", "--categories", "5")
    assert sizes == {"all": 4, "all-repaired": 4, "category-5": 4}
    assert "ADVERSARIAL: category 5 is in `all`, and its evidence is the trap" in ended.out


def test_granularity_captions_and_dates_are_recorded_and_change_what_is_searched(smriti: Smriti, put: Put) -> None:
    rows = locomo()
    for row in rows:
        for question in row["qa"]:
            question["question"] = "velvetanswer2 pm"
    path = put(rows)
    seen: Json = {}
    for name, flags in {
        "plain": (),
        "turn": ("--granularity", "turn"),
        "captions": ("--captions",),
        "dates": ("--granularity", "turn", "--dates"),
    }.items():
        assert smriti("locomo", "--data", path, "--memory", "grep", *flags, "--out", name).status == 0
        found = manifest(Path(name))
        returned = {row["returned"] for row in lines(Path(name), EVIDENCE)}
        seen[name] = (found.config.options, found.corpora[0].documents, returned)
    plain = {"granularity": "session", "captions": False, "dates": False, "all_categories": (1, 2, 3, 4)}
    assert seen == {
        "plain": (plain, 7, {0}),
        "turn": (plain | {"granularity": "turn"}, 14, {0}),
        "captions": (plain | {"captions": True}, 7, {1}),
        "dates": (plain | {"granularity": "turn", "dates": True}, 14, {14}),
    }


def test_the_form_of_a_document_is_recorded_and_changes_what_is_searched(smriti: Smriti, put: Put) -> None:
    rows = lme()
    for row in rows:
        row["question"] = "noted?"
    path = put(rows)
    for form, returned in (("session", 7), ("user-turns", 0)):
        run = ("longmemeval", "--data", path, "--memory", "grep", "--form", form, "--out", form)
        assert smriti(*run).status == 0
        assert manifest(Path(form)).config.options == {"form": form}
        assert {row["returned"] for row in lines(Path(form), EVIDENCE)} == {returned}


def test_a_pinned_set_is_named_by_the_option_and_recorded(smriti: Smriti, pinned: Callable[[str, object], str]) -> None:
    sha256 = pinned("longmemeval-oracle", lme())
    ended = smriti("longmemeval", "--set", "oracle", "--out", "out")
    assert ended.status == 0
    assert manifest(Path("out")).config.options == {"form": "session", "set": "oracle"}
    assert manifest(Path("out")).datasets == {"longmemeval-oracle": sha256}
    assert f"of longmemeval-oracle (sha256 {sha256[:12]})\nform session, set oracle\n" in ended.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("longmemeval", "--set", "s", "--data", "x"), ("--data", "--set", "give one of them")),
        (("longmemeval", "--set", "xl"), ("--set is 'xl'", "s or m or oracle")),
        (("longmemeval", "--form", "turns"), ("--form is 'turns'", "session or user-turns")),
        (("longmemeval", "--granularity", "turn"), ("--granularity",)),
        (("locomo", "--granularity", "turns"), ("--granularity is 'turns'", "session or turn")),
        (("locomo", "--categories", ""), ("--categories has ''", "whole numbers")),
        (("locomo", "--categories", "multi-hop"), ("--categories has 'multi-hop'", "whole numbers")),
        (("locomo", "--categories", "9" * 5000), ("--categories has '9", "whole numbers")),
        (("locomo", "--set", "s"), ("--set",)),
        (("coding-life", "--form", "session"), ("--form",)),
        (("coding-life", "extra"), ("extra",)),
        (("locomo", "--out", "new", "--resume", "old"), ("give one of them",)),
        (("locomo", "--out", ""), ("empty name",)),
        (("locomo", "--resume", ""), ("empty name",)),
        (("locomo", "--resume", "old"), ("old is not a receipt",)),
    ],
)
def test_a_flag_that_cannot_be_used_is_refused_and_leaves_nothing(
    smriti: Smriti, left: Left, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    smriti(*arguments).assert_refused(*words)
    assert left() == []


@pytest.mark.parametrize("categories", ["0", "6", "1,7"])
def test_a_category_that_is_none_is_refused_with_the_names_of_all(
    smriti: Smriti, left: Left, put: Put, categories: str
) -> None:
    ended = smriti("locomo", "--data", put(locomo()), "--categories", categories)
    ended.assert_refused(categories[-1], *(f"{number} {name}" for number, name in CATEGORIES.items()))
    assert left() == []


@pytest.mark.parametrize("suite", SUITES)
def test_help_says_the_defaults(smriti: Smriti, monkeypatch: pytest.MonkeyPatch, suite: str) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = "".join(smriti(suite, "--help").out.split())
    for words in ("default: grep,bm25", "default: 5", "default: receipts/{suite}/<run-id>", "Exit 3: interrupted"):
        assert words.replace(" ", "") in shown


# Bad input


def changed(rows: Rows, path: str, value: object) -> Rows:
    """Return `rows` with the value at a path such as `1.conversation.session_1`; `...` takes it away."""
    rows = copy.deepcopy(rows)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    place: Any = rows
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return rows


Bad = tuple[str, object, tuple[str, ...]]

TURN = {"role": "user", "content": "Other."}
BAD_LME: tuple[Bad, ...] = (
    *((f"3.{key}", ..., ("row 3", f"field {key}", "found nothing")) for key in KEYS),
    ("3", 7, ("row 3",)),
    ("3", [], ("row 3",)),
    ("3.question_id", 7, ("row 3", "field question_id", "found 7")),
    ("3.question_id", "q1", ("row 3", "field question_id", "'q1', as in row 1")),
    ("3.question_id", " ", ("row 3", "field question_id", "some text")),
    ("3.question_type", "all", ("row 3 (question_id 'q3')", "field question_type", "a group of scores")),
    ("3.question", "", ("row 3 (question_id 'q3')", "field question:", "found ''", "some text")),
    ("3.question", None, ("row 3", "field question:", "found None")),
    ("3.answer", ["x"], ("row 3", "field answer", "found ['x']")),
    ("3.question_date", 20230530, ("row 3", "field question_date")),
    ("3.haystack_session_ids", [], ("row 3", "field haystack_session_ids", "at least one")),
    ("3.haystack_session_ids.1", 5, ("row 3", "field haystack_session_ids[1]", "found 5")),
    ("3.haystack_session_ids.1", "answer_3", ("row 3", "haystack_session_ids[2]", "a second time with other turns")),
    ("3.haystack_session_ids.6", ..., ("row 3", "6 ids, 7 dates and 7 sessions")),
    ("3.haystack_dates", "2023", ("row 3", "field haystack_dates", "found '2023'")),
    ("3.haystack_dates.0", ..., ("row 3", "7 ids, 6 dates and 7 sessions")),
    ("3.haystack_sessions", {}, ("row 3", "field haystack_sessions", "found {}")),
    ("3.haystack_sessions.0", ..., ("row 3", "7 ids, 7 dates and 6 sessions")),
    ("3.haystack_sessions.4", "text", ("row 3", "field haystack_sessions[4]", "found 'text'")),
    ("3.haystack_sessions.4.1", "text", ("row 3", "field haystack_sessions[4][1]")),
    ("3.haystack_sessions.4.1.content", None, ("row 3", "field haystack_sessions[4][1].content", "found None")),
    ("3.haystack_sessions.4.1.role", ..., ("row 3", "field haystack_sessions[4][1].role", "found nothing")),
    ("3.answer_session_ids", "answer_3", ("row 3", "field answer_session_ids")),
    ("3.answer_session_ids", [], ("row 3 (question_id 'q3')", "field answer_session_ids", "at least one")),
    ("3.answer_session_ids.0", "elsewhere", ("row 3", "field answer_session_ids[0]", "'elsewhere'", "the haystack")),
)
BAD_LOCOMO: tuple[Bad, ...] = (
    *((f"1.{key}", ..., ("row 1", f"field {key}", "found nothing")) for key in ("sample_id", "conversation", "qa")),
    ("1", "conv-2", ("row 1",)),
    ("1.sample_id", 2, ("row 1", "field sample_id", "found 2")),
    ("1.sample_id", "conv-1", ("row 1", "field sample_id", "'conv-1', as in row 0")),
    ("1.conversation", [], ("row 1", "field conversation", "found []")),
    ("1.conversation", {}, ("row 1", "field conversation", "no session")),
    ("1.conversation.session_3", [], ("row 1", "field conversation.session_3", "a list of turns")),
    ("1.conversation.session_3", "text", ("row 1", "field conversation.session_3", "found 'text'")),
    ("1.conversation.session_3_date_time", ..., ("row 1", "conversation.session_3_date_time", "a date as text")),
    ("1.conversation.session_3.1", 8, ("row 1", "field conversation.session_3[1]")),
    ("1.conversation.session_3.1.text", ..., ("row 1", "field conversation.session_3[1].text", "found nothing")),
    ("1.conversation.session_3.1.speaker", 1, ("row 1", "field conversation.session_3[1].speaker", "found 1")),
    ("1.conversation.session_3.1.dia_id", "D3:1", ("row 1", "session_3[1].dia_id", "'D3:1'", "each once")),
    ("1.conversation.session_3.1.dia_id", "D4:9", ("row 1", "session_3[1].dia_id", "'D4:9'", "D3:<number>")),
    ("1.qa", {}, ("row 1", "field qa", "found {}")),
    ("1.qa.4", None, ("row 1", "field qa[4]", "found None")),
    ("1.qa.4.question", ..., ("row 1", "field qa[4].question", "found nothing")),
    ("1.qa.4.question", " ", ("row 1", "field qa[4].question", "some text")),
    ("1.qa.4.category", 6, ("row 1", "field qa[4].category", "found 6", "from 1 to 5")),
    ("1.qa.4.category", "3", ("row 1", "field qa[4].category", "found '3'")),
    ("1.qa.4.category", True, ("row 1", "field qa[4].category", "found True")),
    ("1.qa.4.evidence", "D3:2", ("row 1", "field qa[4].evidence", "found 'D3:2'")),
    ("1.qa.4.evidence.0", 3, ("row 1", "field qa[4].evidence[0]", "found 3")),
    ("1.qa.4.answer", ..., ("row 1", "field qa[4].answer", "found nothing")),
    ("1.qa.4.answer", [], ("row 1", "field qa[4].answer", "found []")),
)
WHOLE: tuple[tuple[bytes, tuple[str, ...]], ...] = (
    (b"", ("is empty",)),
    (b" \n", ("the end of the file", "a list of rows")),
    (b"[]", ("the list is empty", "at least one row")),
    (b"[1]", ("row 0 is '1", "a JSON object")),
    (b"null", ("at byte 0", "'null'", "a list of rows")),
    (b'{"rows": []}', ("a list of rows",)),
    (b"\xef\xbb\xbf[{}]", ("byte order mark",)),
    ("[{}]".encode("utf-16"), ("is not UTF-8",)),
    (b"<!DOCTYPE html>\n<html><body>Not found</body></html>", ("HTML", "<!DOCTYPE html>")),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", ("Git LFS pointer",)),
)


@pytest.mark.parametrize(("path", "value", "words"), BAD_LME)
def test_a_row_of_longmemeval_that_is_not_as_it_must_be_is_refused_with_row_and_field(
    smriti: Smriti, left: Left, put: Put, *, path: str, value: object, words: tuple[str, ...]
) -> None:
    smriti("longmemeval", "--data", put(changed(lme(), path, value))).assert_refused("some.json", *words)
    assert left() == []


@pytest.mark.parametrize(("path", "value", "words"), BAD_LOCOMO)
def test_a_conversation_of_locomo_that_is_not_as_it_must_be_is_refused_with_row_and_field(
    smriti: Smriti, left: Left, put: Put, *, path: str, value: object, words: tuple[str, ...]
) -> None:
    smriti("locomo", "--data", put(changed(locomo(), path, value))).assert_refused("some.json", *words)
    assert left() == []


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
@pytest.mark.parametrize(("content", "words"), WHOLE)
def test_a_file_that_is_no_list_of_rows_is_refused(
    smriti: Smriti, left: Left, put: Put, *, suite: str, content: bytes, words: tuple[str, ...]
) -> None:
    smriti(suite, "--data", put(content)).assert_refused("some.json", *words)
    assert left() == []


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
@pytest.mark.parametrize("indent", [None, 4])
def test_a_file_that_was_cut_short_or_goes_on_is_refused_with_its_last_row(
    smriti: Smriti, left: Left, put: Put, suite: str, indent: int | None
) -> None:
    rows = lme() if suite == "longmemeval" else locomo()
    content = json.dumps(rows, indent=indent).encode()
    last = len(rows) - 1
    for cut in (1, 2, 60, len(content) // len(rows) // 2):
        ended = smriti(suite, "--data", put(content[:-cut]))
        ended.assert_refused("at byte", "expected", *((f"row {last}",) if cut > 5 else ()))
    smriti(suite, "--data", put(content + b"]")).assert_refused("after the end of the list")
    smriti(suite, "--data", put(content.replace(b"{", b'{"more": NaN, ', 1))).assert_refused("row 0")
    assert left() == []


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
def test_what_is_no_file_is_refused(smriti: Smriti, left: Left, tmp_path: Path, suite: str) -> None:
    smriti(suite, "--data", tmp_path).assert_refused("is a directory", "name the file inside it")
    smriti(suite, "--data", "").assert_refused("is a directory")
    smriti(suite, "--data", tmp_path / "absent.json").assert_refused("absent.json", "No such file")
    assert left() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read anything")
def test_a_file_that_may_not_be_read_is_refused(smriti: Smriti, left: Left, put: Put) -> None:
    path = put(lme())
    path.chmod(0)
    smriti("longmemeval", "--data", path).assert_refused("some.json", "Permission denied")
    assert left() == []


@pytest.mark.parametrize(
    ("suite", "name", "known"),
    [
        (
            "longmemeval",
            "longmemeval_s_cleaned.json",
            "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        ),
        ("longmemeval", "longmemeval-m.json", "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f"),
        ("locomo", "locomo10.json", "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"),
    ],
)
def test_another_file_under_a_pinned_name_is_refused_with_both_digests(
    smriti: Smriti, left: Left, put: Put, cache: Path, *, suite: str, name: str, known: str
) -> None:
    path = put(lme() if suite == "longmemeval" else locomo(), name)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    smriti(suite, "--data", path).assert_refused(name, f"sha256 {sha256}", f"sha256 {known}", "a name of its own")
    shutil.copytree(path.parent, cache)
    which = ("--set", "m") if name.startswith("longmemeval-m") else ()
    if not which:
        smriti(suite).assert_refused(str(cache), f"sha256 {sha256}", f"sha256 {known}")
    assert left() == []
    assert sorted(found.name for found in cache.rglob("*")) == [name], "there is no index of it"


@pytest.mark.parametrize(
    ("arguments", "name", "url", "sha256"),
    [
        (("longmemeval",), "longmemeval-s", "longmemeval_s_cleaned.json", "d6f21ea9"),
        (("longmemeval", "--set", "s"), "longmemeval-s", "longmemeval_s_cleaned.json", "d6f21ea9"),
        (("longmemeval", "--set", "m"), "longmemeval-m", "longmemeval_m_cleaned.json", "9d79e552"),
        (("longmemeval", "--set", "oracle"), "longmemeval-oracle", "longmemeval_oracle.json", "821a2034"),
        (("locomo",), "locomo10", "data/locomo10.json", "79fa87e9"),
    ],
)
def test_a_pinned_set_that_is_not_in_the_cache_is_asked_for_with_address_digest_and_command(
    smriti: Smriti, left: Left, cache: Path, *, arguments: tuple[str, ...], name: str, url: str, sha256: str
) -> None:
    ended = smriti(*arguments)
    ended.assert_refused(f"data set '{name}' is not in the cache", str(cache), f"smriti data fetch {name}")
    assert re.search(rf"https://\S+/{url} \(sha256 {sha256}[0-9a-f]{{56}}\)", ended.err)
    assert "`smriti data import PATH`" in ended.err
    assert left() == []
    assert not cache.exists()


@pytest.mark.parametrize(
    ("file", "path", "value", "words"),
    [
        ("sessions.json", "sessions.2.id", ..., ("sessions[2].id", "found nothing")),
        ("sessions.json", "sessions.2.turns.0.text", 4, ("sessions[2].turns[0].text", "found 4")),
        ("sessions.json", "sessions.2.turns", [], ("row 2", "field turns", "at least one")),
        ("sessions.json", "sessions", [], ("field sessions", "at least one")),
        ("sessions.json", "sessions", {}, ("field sessions", "found {}")),
        ("sessions.json", "version", 2, ("field version", "found 2")),
        ("questions.json", "version", ..., ("field version", "found nothing")),
        ("questions.json", "questions.3.gold", ["nowhere"], ("row 3", "field gold[0]", "'nowhere'")),
        ("questions.json", "questions.3.gold", [], ("row 3", "field gold", "at least one session")),
        ("questions.json", "questions.3.type", "unanswerable", ("row 3", "field gold", "none, as the question is")),
        ("questions.json", "questions.3.type", "all", ("row 3", "field type", "'all'")),
        ("questions.json", "questions.3.text", " ", ("row 3", "field text", "some text")),
    ],
)
def test_a_fixture_that_is_not_as_it_must_be_is_refused_with_row_and_field(
    smriti: Smriti, left: Left, tmp_path: Path, *, file: str, path: str, value: object, words: tuple[str, ...]
) -> None:
    folder = put_coding_life(tmp_path)
    content: Any = json.loads((folder / file).read_bytes())
    (folder / file).write_text(json.dumps(changed(content, path, value)))
    smriti("coding-life", "--data", folder).assert_refused(file, *words)
    assert left() == []


def test_an_id_that_stands_twice_in_a_fixture_is_refused(smriti: Smriti, left: Left, tmp_path: Path) -> None:
    folder = put_coding_life(tmp_path)
    for name, key in (("sessions.json", "sessions"), ("questions.json", "questions")):
        content = json.loads((folder / name).read_bytes())
        doubled = copy.deepcopy(content)
        doubled[key][4]["id"] = content[key][1]["id"]
        (folder / name).write_text(json.dumps(doubled))
        smriti("coding-life", "--data", folder).assert_refused(name, "row 4", "field id", "as in row 1")
        (folder / name).write_text(json.dumps(content))
    assert left() == []


@pytest.mark.parametrize("name", coding_life.FILES)
@pytest.mark.parametrize(
    ("content", "word"),
    [(b"", "is empty"), (b"<html>", "HTML"), (b"\xef\xbb\xbf{}", "BOM"), (b'{"version": 1', "is not JSON"), (None, "")],
)
def test_a_file_of_a_fixture_that_is_none_is_refused(
    smriti: Smriti, left: Left, tmp_path: Path, *, name: str, content: bytes | None, word: str
) -> None:
    folder = put_coding_life(tmp_path)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    smriti("coding-life", "--data", folder).assert_refused(name, word)
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    smriti("coding-life", "--data", folder).assert_refused(name, "is a directory")
    smriti("coding-life", "--data", folder / "none").assert_refused("life/none")
    assert left() == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def spoilt(draw: st.DrawFn, rows: Rows) -> bytes:
    """A file of `rows` in which something is exchanged, taken away, doubled or, as bytes, overwritten."""
    rows = copy.deepcopy(rows)
    for _ in range(draw(st.integers(0, 3))):
        place: Any = rows
        while True:
            keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.integers(0, 4)):
                place = place[key]
                continue
            change = draw(st.sampled_from(["exchange", "remove", "double", "swap"]))
            if change == "exchange":
                place[key] = draw(JSON)
            elif change == "remove":
                del place[key]
            elif isinstance(place, list):
                place.insert(0, copy.deepcopy(place[key]))
            else:
                other = draw(st.sampled_from(keys))
                place[key], place[other] = place[other], place[key]
            break
    content = json.dumps(rows, indent=draw(st.sampled_from([None, 4])), ensure_ascii=draw(st.booleans()))
    spoilt = bytearray(content.encode(errors="surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(spoilt)))
        spoilt[at : at + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    return bytes(spoilt)


@pytest.mark.parametrize(("suite", "rows"), [("longmemeval", lme()[-2:]), ("locomo", locomo())])
def test_a_spoilt_file_is_refused_in_one_paragraph_or_is_a_set_that_can_be_run(
    smriti: Smriti, left: Left, put: Put, suite: str, rows: Rows
) -> None:
    """After a refusal nothing is left behind, and what was run is verified."""
    number = itertools.count()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(content=spoilt(rows))
    def check(content: bytes) -> None:
        before, out = left(), f"out{next(number)}"
        ended = smriti(suite, "--data", put(content), "--out", out)
        if ended.status == 2:
            ended.assert_refused()
            assert left() == before
        else:
            assert ended.status == 0, ended.err
            assert verify(Path(out)).state == "verified", verify(Path(out)).checks

    check()


# A folder that is there, and a system that fails


@pytest.mark.parametrize("suite", SUITES)
def test_a_folder_that_is_not_empty_is_never_written_over(
    smriti: Smriti, left: Left, arguments: Arguments, suite: str
) -> None:
    Path("mine").mkdir()
    Path("mine/notes").write_text("Mine.")
    ended = smriti(*arguments(suite), "--out", "mine")
    ended.assert_refused("mine exists and is not empty", "--resume")
    smriti(*arguments(suite), "--out", "mine/notes").assert_refused("mine/notes")
    assert left() == ["mine", "mine/notes"]
    Path("empty").mkdir()
    assert smriti(*arguments(suite), "--out", "empty").status == 0


FAILS = """
from smriti.errors import MemorySystemError
from smriti.memory.grep import Grep

class Fails(Grep):
    name = "fails"

    def open(self, workspace, replica=None):
        store = super().open(workspace, replica)
        remember, search = store.remember, store.search

        def remembering(memories, realm):
            if any("zebrafinch5" in memory.content or "zebrafinch6" in memory.content for memory in memories):
                raise MemorySystemError("no room\\nleft")
            return remember(memories, realm)

        def searching(query, realm, k, layer=None):
            if any(f"zebrafinch{number}" in query for number in (1, 2, 3, 8)):
                raise ValueError("out of \\x1bideas")
            return search(query, realm, k, layer)

        store.remember, store.search = remembering, searching
        return store
"""


def test_failures_are_told_once_a_phase_count_as_nothing_found_and_make_the_exit_status_1(
    smriti: Smriti, put: Put
) -> None:
    Path("fails_q1.py").write_text(FAILS)
    run = ("longmemeval", "--data", put(lme()), "--memory", "grep,fails_q1:Fails", "--k", 1, "--out", "out")
    ended = smriti(*run)
    assert ended.status == 1
    told = [line for line in ended.err.splitlines() if "failed" in line]
    assert told == [
        "fails_q1:Fails/q1  failed  query: ValueError: out of  ideas  (told once a phase)",
        "fails_q1:Fails/q5  failed  ingest: no room left  (told once a phase)",
    ]
    assert (
        "FAULTS: 6 of 18 attempts failed and count as nothing found (fails_q1:Fails ingest 2, fails_q1:Fails query 4)\n"
        in ended.out
    )
    assert "18 planned = 12 completed + 6 failed + 0 skipped" in ended.out
    found = scores(Path("out"))
    assert found["recall_all@1", "fails_q1:Fails", "all"]["value"] == 3 / 8
    assert found["recall_all@1", "grep", "all"]["value"] == 1.0
    assert found["failed", "fails_q1:Fails", "unanswerable"]["value"] == 1
    assert smriti("verify", "out").status == 0, "the receipt is in order: it says what happened"
    shown = smriti(*run[:-1], "again", "--json")
    assert (shown.status, shown.json["stands"]) == (1, False)


def assert_all_but(receipt: Path, lost: set[str], system: str) -> None:
    """The receipt is in order; `lost` have failed, and every other case has what grep has for its question."""
    assert verify(receipt).state == "verified", verify(receipt).checks
    rows = {row["case"]: row for row in lines(receipt, SCORES)}
    assert len(rows) == manifest(receipt).planned
    assert {case for case, row in rows.items() if row["status"] == "failed"} == lost
    for row in rows.values():
        if row["case"] not in lost:
            assert row["metrics"] == rows[f"grep/{row['question']}"]["metrics"]
    failed = sum(
        value["value"] for (metric, of, _), value in scores(receipt).items() if (metric, of) == ("failed", system)
    )
    assert failed >= len(lost)


AT_ONE_CALL = """
import pathlib
from smriti.memory.grep import Grep

def make():
    with pathlib.Path("calls").open("a") as calls:
        calls.write("called\\n")
    if len(pathlib.Path("calls").read_text().splitlines()) == {call}:
        raise RuntimeError("no more of these")
    return Grep()
"""


@pytest.mark.parametrize(("call", "lost"), [(2, "q0"), (5, "q3")])
def test_a_factory_that_fails_in_the_middle_of_a_run_fails_that_step_and_the_run_goes_on(
    smriti: Smriti, put: Put, call: int, lost: str
) -> None:
    """It is called once before the run, and for each step; the step of LoCoMo has many questions."""
    name = f"at_call_{call}:make"
    Path(f"at_call_{call}.py").write_text(AT_ONE_CALL.format(call=call))
    ended = smriti("longmemeval", "--data", put(lme()), "--memory", f"{name},grep", "--jobs", 1, "--out", "out")
    assert ended.status == 1, ended.err
    assert f"{name}/{lost}  failed  init: memory system {name}: it could not be made: RuntimeError" in ended.err
    assert_all_but(Path("out"), {f"{name}/{lost}"}, name)
    Path("calls").unlink()
    if call == 2:
        assert (
            smriti("locomo", "--data", put(locomo()), "--memory", f"grep,{name}", "--jobs", 1, "--out", "2").status == 1
        )
        asked = manifest(Path("2")).corpora[0].questions
        assert len(asked) == 10
        assert_all_but(Path("2"), {f"{name}/{question}" for question in asked}, name)


ENDS = """
import os, pathlib, signal
from smriti.memory.grep import Grep

class Ends(Grep):
    name = "ends"
    where = None

    def open(self, workspace, replica=None):
        if self.where == "open":
            os._exit(0)
        store = super().open(workspace, replica)
        remember, search = store.remember, store.search

        def remembering(memories, realm):
            if any("zebrafinch5" in memory.content for memory in memories):
                if self.where == "remember":
                    os._exit(0)
                if self.where == "killed" and not pathlib.Path("was-killed").exists():
                    pathlib.Path("was-killed").touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            return remember(memories, realm)

        def searching(query, realm, k, layer=None):
            if self.where == "search" and "zebrafinch5" in query:
                os._exit(0)
            return search(query, realm, k, layer)

        store.remember, store.search = remembering, searching
        return store

def open():
    return at("open")

def remember():
    return at("remember")

def search():
    return at("search")

def killed():
    return at("killed")

def at(where):
    system = Ends()
    system.where = where
    return system
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("where", ["open", "remember", "search"])
def test_a_system_that_ends_its_process_has_failed_there_and_all_else_completes(
    smriti: Smriti, put: Put, where: str, jobs: int
) -> None:
    Path("ends_q1.py").write_text(ENDS)
    name = f"ends_q1:{where}"
    memory = ("--memory", f"grep,{name},bm25")
    ended = smriti("longmemeval", "--data", put(lme()), *memory, "--jobs", jobs, "--k", 1, "--out", "out")
    assert ended.status == 1, ended.err
    rows = {row["case"]: row for row in lines(Path("out"), SCORES)}
    of_rows = [f"q{number}" for number in range(8)] + ["q8_abs"]
    lost = {f"{name}/{question}" for question in (of_rows if where == "open" else ["q5"])}
    assert len(rows) == 3 * ROWS
    assert {case for case, row in rows.items() if row["status"] == "failed"} == lost
    assert {rows[case]["fault"]["phase"] for case in lost} == {"process"}
    assert [row["case"] for row in lines(Path("out"), SCORES)] == [
        f"{system}/{question}" for system in ("grep", name, "bm25") for question in of_rows
    ]
    for row in rows.values():
        if row["system"] == name and row["case"] not in lost:
            assert row["metrics"] == rows[f"grep/{row['question']}"]["metrics"]
    told = [line for line in ended.err.splitlines() if "failed" in line]
    assert len(told) == 1
    assert told[0].startswith(f"{min(lost)}  failed  process: the process that it ran in ended")
    assert f"FAULTS: {len(lost)} of 27 attempts failed and count as nothing found ({name} process" in ended.out
    verified = smriti("verify", "out")
    assert verified.status == 0, verified


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_whose_process_was_killed_once_is_tried_again_and_completes(smriti: Smriti, put: Put, jobs: int) -> None:
    """As the system kills what happens to be largest when there is no memory left."""
    Path("ends_q1.py").write_text(ENDS)
    memory = ("--memory", "grep,ends_q1:killed")
    ended = smriti("longmemeval", "--data", put(lme()), *memory, "--jobs", jobs, "--out", "out")
    assert ended.status == 0, ended.err
    assert Path("was-killed").exists()
    assert_all_but(Path("out"), set(), "ends_q1:killed")


def test_a_data_file_that_changes_in_the_middle_of_a_run_ends_it_with_what_was_done_kept(
    smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(lme())
    content = path.read_bytes()
    show = retrieval._Progress.on_record

    def on_record(self: retrieval._Progress, record: QuestionRecord) -> None:
        show(self, record)
        path.write_bytes(content + b"\n")

    monkeypatch.setattr(retrieval._Progress, "on_record", on_record)
    ended = smriti("longmemeval", "--data", path, "--jobs", 1, "--out", "out")
    assert ended.status == 2
    assert "some.json" in ended.err
    assert "changed after it was first looked at" in ended.err
    assert "Traceback" not in ended.err
    assert verify(Path("out")).state == "interrupted"
    assert 1 <= len(whole_lines(Path("out", SCORES))) < 2 * ROWS


# Gold is not where a system runs


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("suite", SUITES)
def test_a_system_that_looks_for_gold_all_over_its_process_finds_none_and_earns_nothing(
    smriti: Smriti, arguments: Arguments, suite: str, jobs: int
) -> None:
    """That it would find it is shown where it runs in the process of the questions, in test_adversaries.py."""
    Path("peeps_q1.py").write_bytes(Path(peeping.__file__).read_bytes())
    peeping.NOTES.touch()
    memory = ("--memory", "peeps_q1:Plain,peeps_q1:Peeper")
    ended = smriti(*arguments(suite), *memory, "--k", "1,3", "--jobs", jobs, "--out", "out")
    assert ended.status == 0, ended.err
    notes = [line.partition(" found ") for line in peeping.NOTES.read_text().splitlines()]
    assert len(notes) == manifest(Path("out")).planned // 2
    assert {found for _, _, found in notes} == {"[]"}
    pids = {int(pid) for pid, _, _ in notes}
    assert len(pids) == len(manifest(Path("out")).corpora), "each corpus has a process"
    assert os.getpid() not in pids
    of_plain, of_peeper = (
        {(metric, group): score["value"] for (metric, of, group), score in scores(Path("out")).items() if of == system}
        for system in ("peeps_q1:Plain", "peeps_q1:Peeper")
    )
    diagnostic = {key for key in of_plain if "_ms_" in key[0]}
    for key in of_plain.keys() - diagnostic:
        assert of_peeper[key] == of_plain[key], key
    assert of_peeper["recall_all@1", "all"] < 0.5
    assert smriti("verify", "out").status == 0


# The same whatever the number of jobs, and on the second run


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
def test_the_number_of_jobs_changes_nothing_of_a_receipt(smriti: Smriti, arguments: Arguments, suite: str) -> None:
    Path("fails_q2.py").write_text(FAILS)
    run = (*arguments(suite), "--memory", "grep,fails_q2:Fails,bm25", "--k", "1,3", "--json")
    status = {jobs: smriti(*run, "--jobs", jobs, "--out", jobs).status for jobs in (1, 2, 3)}
    assert status == {1: 1, 2: 1, 3: 1}
    assert [manifest(Path(jobs)).jobs for jobs in "123"] == [1, 2, 3]
    alone = results(Path("1"))
    assert len(alone[SCORES]) == manifest(Path("1")).planned
    for jobs in "23":
        assert results(Path(jobs)) == alone
        assert smriti("verify", jobs).status == 0


def test_the_second_run_takes_the_rows_from_the_index_and_has_the_same_results(
    smriti: Smriti, synthetic_file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validated_again(*_: object) -> None:
        raise AssertionError("the file was validated a second time")

    run = ("longmemeval", "--data", synthetic_file, "--jobs", 1)
    assert smriti(*run, "--out", "first").status == 0
    (index,) = (cache / "prepared").iterdir()
    whole = index.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("smriti.datasets.longmemeval.read", validated_again)
        assert smriti(*run, "--out", "second").status == 0
        assert smriti(*run, "--out", "third", "--jobs", 2).status == 0
    assert results(Path("second")) == results(Path("third")) == results(Path("first"))
    for number, damaged in enumerate((b"", whole[:-20], whole.replace(b"temporal", b"tempural", 1), b"\xff" * 90)):
        index.write_bytes(damaged)
        ended = smriti(*run, "--out", number)
        assert ended.status == 0
        assert results(Path(str(number))) == results(Path("first"))
        assert index.read_bytes() == whole, "it is made anew"


def test_an_index_that_cannot_be_kept_is_a_warning(smriti: Smriti, put: Put, cache: Path) -> None:
    cache.write_text("a file where the cache should be")
    ended = smriti("longmemeval", "--data", put(lme()), "--out", "out", "--json")
    assert ended.status == 0
    assert ended.err.startswith("smriti: warning: the prepared index ")
    assert ended.json["stands"] is True


# What a receipt must not hold


@pytest.mark.parametrize("suite", SUITES)
def test_a_receipt_holds_no_path_no_question_no_document_and_no_answer(
    smriti: Smriti, arguments: Arguments, tmp_path: Path, suite: str
) -> None:
    Path("mine_q2.py").write_text(MINE)
    run = (*arguments(suite), "--memory", "grep,bm25,embedded,mine_q2:Mine", "--out", "out", "--k", 100)
    assert smriti(*run).status == 0
    held = b"".join((Path("out") / name).read_bytes() for name in FILES).decode()
    for secret in (
        str(tmp_path),
        str(Path.cwd()),
        str(Path(retrieval.__file__).parents[2]),
        "smriti-store",
        f"{suite}.json",
    ):
        assert secret not in held
    for text in ("zebrafinch", "quartzdocument", "velvetanswer", "Noted", "May, 2023", "2023/05", "answer_", "First"):
        assert text not in held
    if suite == "coding-life":
        (corpus,) = coding_life.read(coding_life.folder()).corpora
        said = [line for document in corpus.documents for line in document.content.splitlines() if len(line) > 25]
        asked = json.loads((coding_life.folder() / "questions.json").read_bytes())["questions"]
        answers = [each["answer"] for each in asked if each["answer"] and len(each["answer"]) > 12]
        for text in (*said, *(each["text"] for each in asked), *answers):
            assert text not in held


# Interrupted and resumed


def test_an_interrupt_leaves_what_was_done_and_the_printed_command_finishes_it(
    smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command names the data file too, which no receipt does."""
    flags = ("--memory", "bm25,grep", "--k", "3,1", "--stratify", 2, "--limit", 5, "--form", "user-turns")
    run = ("longmemeval", "--data", put(lme(), "a file.json"), *flags)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 4)
        ended = smriti(*run, "--out", "a folder")
    assert (ended.status, ended.out) == (3, "")
    *_, last = ended.err.splitlines()
    told = re.fullmatch(r"smriti: interrupted after (\d+) of 10 cases, which are kept\. Go on with: smriti (.+)", last)
    assert told is not None
    assert (int(told[1]), len(whole_lines(Path("a folder", SCORES)))) == (4, 4)
    assert sorted(path.name for path in Path("a folder").iterdir()) == [EVIDENCE, MANIFEST, SCORES]
    assert "INTERRUPTED" in smriti("verify", "a folder").out
    before, done = Path("a folder", MANIFEST).read_bytes(), whole_lines(Path("a folder", SCORES))
    ended = smriti(*shlex.split(told[2]))
    assert ended.status == 0, ended.err
    assert ended.err.startswith("longmemeval  5 of 10 attempts\n") or ended.err.startswith("longmemeval  6 of 10")
    assert Path("a folder", MANIFEST).read_bytes() == before
    assert whole_lines(Path("a folder", SCORES))[:4] == done
    assert verify(Path("a folder")).state == "verified"
    assert smriti(*run, "--out", "undisturbed").status == 0
    assert results(Path("a folder")) == results(Path("undisturbed"))


def test_an_interrupt_after_the_seal_says_that_the_run_is_finished(
    smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smriti.cli.retrieval.print_retrieval_summary", ctrl_c)
    ended = smriti("locomo", "--data", put(locomo()), "--out", "out")
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.endswith("smriti: interrupted after the last case; out is finished\n")
    assert smriti("verify", "out").status == 0


def test_an_interrupt_before_there_is_a_receipt_leaves_nothing(
    smriti: Smriti, left: Left, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smriti.datasets.longmemeval.read", ctrl_c)
    ended = smriti("longmemeval", "--data", put(lme()))
    assert (ended.status, ended.out, ended.err) == (3, "", "smriti: interrupted\n")
    assert left() == []


@pytest.mark.parametrize("suite", ["locomo", "coding-life"])
def test_a_resumed_run_keeps_the_options_of_its_suite(
    smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    options: tuple[object, ...] = ("--granularity", "turn", "--categories", "4,5", "--captions", "--dates")
    run = (suite, *(("--data", put(locomo()), *options) if suite == "locomo" else ("--limit", 9)))
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        ended = smriti(*run, "--out", "out")
    assert ended.status == 3
    assert smriti(*shlex.split(ended.err.rpartition("Go on with: smriti ")[2])).status == 0
    assert verify(Path("out")).state == "verified"
    assert smriti(*run, "--out", "undisturbed").status == 0
    assert results(Path("out")) == results(Path("undisturbed"))


def test_a_pinned_set_is_found_again_without_being_named(
    smriti: Smriti, pinned: Callable[[str, object], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned("longmemeval-m", lme())
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        ended = smriti("longmemeval", "--set", "m", "--out", "out")
    assert ended.err.endswith("Go on with: smriti longmemeval --resume out\n")
    assert smriti("longmemeval", "--resume", "out").status == 0
    assert verify(Path("out")).state == "verified"


@pytest.fixture
def interrupted(smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Leaves an interrupted run of a suite in `out`, and returns the file that it was of."""

    def interrupted(suite: str) -> Path:
        path = put(lme() if suite == "longmemeval" else locomo(), f"{suite}.json")
        with monkeypatch.context() as patch:
            interrupt_after(patch, 2)
            assert (
                smriti(suite, "--data", path, "--limit", {"longmemeval": 8, "locomo": 12}[suite], "--out", "out").status
                == 3
            )
        return path

    return interrupted


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
def test_a_file_that_no_pin_knows_is_asked_for_again(
    smriti: Smriti, interrupted: Callable[[str], Path], suite: str
) -> None:
    path = interrupted(suite)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    ended = smriti(suite, "--resume", "out")
    ended.assert_refused(
        "out was run on a data file that no cache holds",
        f"sha256 {sha256}",
        f"smriti {suite} --resume out --data FILE",
    )
    assert "fetch" not in ended.err
    assert smriti(suite, "--resume", "out", "--data", path).status == 0


@pytest.mark.parametrize("suite", ["longmemeval", "locomo"])
def test_another_file_than_the_one_it_was_run_on_is_refused_with_both_digests(
    smriti: Smriti, interrupted: Callable[[str], Path], suite: str
) -> None:
    path = interrupted(suite)
    other = path.with_name("other.json")
    other.write_bytes(path.read_bytes() + b"\n")
    digests = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (path, other)]
    ended = smriti(suite, "--resume", "out", "--data", other)
    ended.assert_refused("out was run on another data set", *(f"sha256 {digest}" for digest in digests), "--data")
    assert verify(Path("out")).state == "interrupted"


@pytest.mark.parametrize(
    ("suite", "arguments", "field"),
    [
        ("longmemeval", ("--k", 7), "config.k[0]: 5 in the receipt, 7 now"),
        ("longmemeval", ("--k", "5,7"), "config.k: [5] in the receipt, [5, 7] now"),
        ("longmemeval", ("--memory", "grep"), "config.memory: ['grep', 'bm25'] in the receipt, ['grep'] now"),
        ("longmemeval", ("--limit", 7), "config.limit: 8 in the receipt, 7 now"),
        ("longmemeval", ("--stratify", 1), "config.stratify: None in the receipt, 1 now"),
        ("longmemeval", ("--form", "user-turns"), "config.options.form: 'session' in the receipt, 'user-turns' now"),
        ("locomo", ("--granularity", "turn"), "config.options.granularity: 'session' in the receipt, 'turn' now"),
        ("locomo", ("--categories", "1"), "config.options.categories: nothing in the receipt, [1] now"),
        ("locomo", ("--captions",), "config.options.captions: False in the receipt, True now"),
        ("locomo", ("--dates",), "config.options.dates: False in the receipt, True now"),
    ],
)
def test_a_run_is_not_resumed_as_another_one(
    smriti: Smriti, interrupted: Callable[[str], Path], suite: str, arguments: tuple[object, ...], field: str
) -> None:
    """What follows from the difference, such as which questions are asked, is not told as well."""
    path = interrupted(suite)
    before = {file.name: file.read_bytes() for file in Path("out").iterdir()}
    ended = smriti(suite, "--resume", "out", "--data", path, *arguments)
    ended.assert_refused("out was started with another configuration", field)
    assert "corpora" not in ended.err
    assert {file.name: file.read_bytes() for file in Path("out").iterdir()} == before
    assert smriti(suite, "--resume", "out", "--data", path).status == 0


def test_a_run_is_not_resumed_with_changed_code_of_the_memory_system(
    smriti: Smriti, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine_q3.py").write_text(MINE)
    path = put(lme())
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1)
        run = ("longmemeval", "--data", path, "--memory", "mine_q3:Mine", "--out", "out")
        assert smriti(*run).status == 3
    Path("mine_q3.py").write_text(MINE + "# better now\n")
    again = ("longmemeval", "--resume", "out", "--data", path)
    smriti(*again).assert_refused("another configuration", "artifacts.memory/mine_q3.py")
    Path("mine_q3.py").write_text(MINE)
    assert smriti(*again).status == 0


def test_a_receipt_of_another_suite_is_not_resumed(
    smriti: Smriti, interrupted: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted("locomo")
    smriti("longmemeval", "--resume", "out").assert_refused("out is a run of locomo, not of longmemeval")
    smriti("bench", "--resume", "out").assert_refused("out is a receipt of suite 'locomo'")
    monkeypatch.setattr("smriti.cli.progress.Progress.on_record", ctrl_c)
    bench = ("bench", "--trials", 1, "--task", "page-size-superseded", "--memory", "off", "--agent", "nop")
    assert smriti(*bench, "--conditions", "off", "--out", "bench").status == 3
    smriti("locomo", "--resume", "bench").assert_refused("bench is a receipt of suite 'bench'", "that command")


def test_a_finished_run_is_not_resumed_whatever_it_was_run_on(smriti: Smriti, arguments: Arguments) -> None:
    for suite in SUITES:
        assert smriti(*arguments(suite), "--out", suite).status == 0
        before = Path(suite, SUMMARY).read_bytes()
        smriti(suite, "--resume", suite).assert_refused(f"{suite} is finished", "nothing to resume")
        assert Path(suite, SUMMARY).read_bytes() == before


def test_what_verify_refuses_is_not_resumed_and_nothing_is_written(
    smriti: Smriti, interrupted: Callable[[str], Path]
) -> None:
    path = interrupted("longmemeval")
    scored = Path("out", SCORES)
    scored.write_bytes(scored.read_bytes().replace(b'"hit@5":1.0', b'"hit@5":0.0', 1))
    before = {file.name: file.read_bytes() for file in Path("out").iterdir()}
    again = ("longmemeval", "--resume", "out", "--data", path)
    smriti(*again).assert_refused("out cannot be resumed", "smriti verify", "Nothing was changed")
    assert {file.name: file.read_bytes() for file in Path("out").iterdir()} == before


# Interrupted and killed with processes at work

WAITS = """
import os, pathlib, time
from smriti.memory.grep import Grep

root = pathlib.Path({root!r})

class Waits(Grep):
    name = "waits"

    def open(self, workspace, replica=None):
        store = super().open(workspace, replica)
        remember = store.remember

        def waiting(memories, realm):
            if not (root / "go").exists() and any("Wait here." in memory.content for memory in memories):
                (workspace / "something").write_text("to be cleaned up")
                os.open(root / "alive", os.O_WRONLY)
                (root / f"waiting-{{os.getpid()}}").touch()
                while not (root / "go").exists():
                    time.sleep(0.01)
            return remember(memories, realm)

        store.remember = waiting
        return store
"""


def waiting_run(tmp_path: Path, put: Put) -> tuple[Running, Path]:
    """Start a run of two jobs that wait from the fourth row on, after grep has ended; return it and its receipt."""
    rows = lme()
    for row in rows[3:]:
        row["haystack_sessions"][0][0]["content"] = "Wait here."
    root = tmp_path / "run"
    root.mkdir()
    (root / "waits.py").write_text(WAITS.format(root=str(tmp_path)))
    arguments = ("--memory", "grep,waits:Waits", "--jobs", "2", "--out", "receipt")
    run = Running(root, "longmemeval", "--data", put(rows), *arguments)
    assert eventually(lambda: len(list(tmp_path.glob("waiting-*"))) == 2 or run.ended)
    assert eventually(lambda: len(whole_lines(root / "receipt" / SCORES)) == ROWS + 3 or run.ended), run.stderr
    assert not run.ended, run.stderr
    return run, root / "receipt"


def workers(tmp_path: Path) -> list[int]:
    return [int(file.name.partition("-")[2]) for file in tmp_path.glob("waiting-*")]


def assert_finished(tmp_path: Path, receipt: Path, arguments: Sequence[str]) -> None:
    """The arguments take the run up and end it, with every row once."""
    before = whole_lines(receipt / SCORES)
    assert verify(receipt).state == "interrupted"
    (tmp_path / "go").touch()
    resumed = Running(tmp_path / "run", *arguments)
    assert resumed.end() == 0, resumed.stderr
    verdict = verify(receipt)
    assert (verdict.state, verdict.resumed) == ("verified", 1), verdict.checks
    after = whole_lines(receipt / SCORES)
    assert after[: len(before)] == before
    assert len(after) == len({json.loads(line)["case"] for line in after}) == 2 * ROWS
    assert not list((tmp_path / "run/tmp").iterdir())


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_every_process_and_leaves_a_receipt_that_the_printed_command_finishes(
    tmp_path: Path, put: Put, kind: signal.Signals
) -> None:
    with held_open(tmp_path / "alive") as still:
        run, receipt = waiting_run(tmp_path, put)
        assert still()
        assert run.end(kind) == 3, run.stderr
        assert not still()
    assert not any(map(alive, workers(tmp_path)))
    assert not list((tmp_path / "run/tmp").iterdir()), "no temporary folder is left"
    assert "Traceback" not in run.stderr
    told = re.search(
        r"^smriti: interrupted after 12 of 18 cases, .+ Go on with: smriti (.+)\n", run.stderr, re.MULTILINE
    )
    assert told is not None, run.stderr
    assert_finished(tmp_path, receipt, shlex.split(told[1]))


def test_a_run_that_is_killed_leaves_no_process_and_a_receipt_that_can_be_resumed(tmp_path: Path, put: Put) -> None:
    with held_open(tmp_path / "alive") as still:
        run, receipt = waiting_run(tmp_path, put)
        assert run.end(signal.SIGKILL) == -signal.SIGKILL
        assert eventually(lambda: not still())
    assert eventually(lambda: not any(map(alive, workers(tmp_path))))
    shutil.rmtree(tmp_path / "run/tmp")  # of what was killed, nobody can clean up
    data = str(tmp_path / "data/some.json")
    assert_finished(tmp_path, receipt, ("longmemeval", "--resume", "receipt", "--data", data))
