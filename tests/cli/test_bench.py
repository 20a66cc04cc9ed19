"""`smriti bench` from its flags to its exit status."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from smriti.cli.progress import Progress
from smriti.corpus import load_corpus
from smriti.errors import MemorySystemError
from smriti.receipts.writer import ReceiptWriter
from smriti.suites.bench import BenchSuite
from smriti.types import TrialEvidence, TrialRecord
from tests.benches import command_file
from tests.cli.command_line import Smriti
from tests.receipts.build import BenchReceipt, bench_manifest

Left = Callable[[], list[str]]

QUICK = ("bench", "--trials", 1, "--task", "alpha", "--jobs", 1)
RECEIPT = ("checks", "diffs", "evidence.ndjson", "manifest.json", "scores.ndjson", "summary.json", "transcripts")


def records(receipt: Path) -> list[dict[str, Any]]:
    """The score lines of a receipt."""
    return [json.loads(line) for line in (receipt / "scores.ndjson").read_text().splitlines()]


def verdicts(receipt: Path) -> dict[str, bool | None]:
    """Case → passed."""
    return {row["case"]: row["passed"] for row in records(receipt)}


def interrupt_after(monkeypatch: pytest.MonkeyPatch, trials: int, interrupt: Callable[[], None]) -> None:
    """Let the next run be interrupted once `trials` trials are on the disk."""
    show = Progress.on_record
    shown: list[str] = []

    def on_record(self: Progress, record: TrialRecord) -> None:
        show(self, record)
        shown.append(record.case)
        if len(shown) == trials:
            interrupt()

    monkeypatch.setattr(Progress, "on_record", on_record)


def ctrl_c() -> None:
    raise KeyboardInterrupt


# Refused before anything is run


def test_without_trials_it_says_why_there_is_no_default(smriti: Smriti, left: Left) -> None:
    smriti("bench").assert_refused("--trials is missing", "one trial is a coin flip")
    assert left() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--memory", "embeded"), ("memory system 'embeded' is not known", "Did you mean 'embedded'?")),
        (("--memory", "embedded:x"), ("takes no argument", "'x'")),
        (("--memory", "tests.benches:nothing"), ("memory system tests.benches:nothing", "no object of the name")),
        (("--memory", "no.such:module"), ("memory system no.such:module", "cannot be imported")),
        (("--agent", "rehersal"), ("agent 'rehersal' is not known", "Did you mean 'rehearsal'?")),
        (("--agent", "command"), ("agent 'command' was given no file", "command:FILE.toml")),
        (("--agent", "command:absent.toml"), ("absent.toml", "cannot be read")),
        (("--task", "alhpa"), ("no task 'alhpa'", "did you mean 'alpha'?", "beta")),
        (("--split", "hold-out"), ("split 'hold-out'", "did you mean 'holdout'?")),
        (("--split", "holdout"), ("no task is of split 'holdout'",)),
        (("--conditions", "off,onn"), ("condition 'onn' is not one of", "did you mean 'on'?")),
        (("--conditions", "off,ablate:kv"), ("its lanes are kw", "did you mean 'ablate:kw'?")),
        (("--conditions", "on,on"), ("names on twice",)),
        (("--memory", "file", "--conditions", "off,ablate:all"), ("'file' has no lanes to ablate",)),
        (("--flake", "0.5", "--agent", "oracle"), ("--flake makes the rehearsal agent unreliable", "'oracle'")),
        (("--agent", "rehearsal:flake=2"), ("flake=P", "from 0 to 1")),
        (("--timeout-s", "inf"), ("--timeout-s is inf",)),
        (("--trials", "10000000"), ("--trials 10000000 makes 90000000 trials of 3 tasks", "at most 10000000 in all")),
        (("--trials", "10000000", "--dry-run"), ("at most 10000000 in all",)),
        (("--out", ""), ("empty name",)),
        (("--resume", ""), ("empty name",)),
        (("--memory", "os:getcwd"), ("memory system os:getcwd is of type str, which lacks name",)),
        (("--out", "new", "--resume", "old"), ("give one of them",)),
        (("--resume", "old"), ("old is not a receipt",)),
    ],
)
@pytest.mark.usefixtures("tiny_corpus")
def test_what_cannot_be_used_is_refused_and_leaves_nothing(
    smriti: Smriti, left: Left, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    smriti("bench", "--trials", 1, *arguments).assert_refused(*words)
    assert left() == []


@pytest.mark.parametrize(
    "arguments",
    [("--trials", "0"), ("--trials", "three"), ("--jobs", "0"), ("--flake", "1.5"), ("--trails", "3"), ("extra",)],
)
def test_a_flag_that_is_none_or_has_no_such_value_is_refused(
    smriti: Smriti, left: Left, arguments: tuple[str, ...]
) -> None:
    smriti("bench", "--trials", 1, *arguments).assert_refused(arguments[0])
    assert left() == []


@pytest.mark.usefixtures("tiny_corpus")
def test_a_memory_system_that_cannot_be_opened_leaves_no_empty_receipt(smriti: Smriti, left: Left) -> None:
    ended = smriti(*QUICK, "--memory", "tests.benches:cannot_be_opened")
    ended.assert_refused("cannot be opened", "nothing was run", "server does not answer")
    assert left() == []


@pytest.mark.usefixtures("tiny_corpus")
def test_a_folder_that_is_not_empty_is_never_written_over(smriti: Smriti, left: Left) -> None:
    Path("mine").mkdir()
    Path("mine/notes").write_text("Mine.")
    smriti(*QUICK, "--out", "mine").assert_refused("mine exists and is not empty", "--resume")
    assert left() == ["mine", "mine/notes"]


@pytest.mark.usefixtures("tiny_corpus")
def test_a_file_is_no_receipt_folder(smriti: Smriti, left: Left) -> None:
    Path("mine").write_text("Mine.")
    smriti(*QUICK, "--out", "mine").assert_refused("mine")
    smriti(*QUICK, "--resume", "mine").assert_refused("mine is not a receipt folder")
    assert left() == ["mine"]


# A dry run


@pytest.mark.usefixtures("tiny_corpus")
def test_a_dry_run_prints_every_trial_in_order_and_makes_no_file(smriti: Smriti, left: Left) -> None:
    ended = smriti("bench", "--trials", 2, "--conditions", "off,on,placebo,ablate:kw", "--dry-run")
    *rows, last = ended.out.splitlines()
    assert (ended.status, ended.err) == (0, "")
    assert len(rows) == 3 * 4 * 2
    assert [int(row.split()[0]) for row in rows] == list(range(24))
    assert last == "24 trials planned; nothing was run"
    (on,) = [row for row in rows if " beta/on/t2 " in row]
    assert "plants 1 in project:smriti-beta-" in on
    assert on.endswith("then rehearsal, then python3 -I grader/check.py")
    assert all(("plants 1" in row) == ("/on/" in row or "/ablate:" in row) for row in rows)
    assert left() == []


@pytest.mark.usefixtures("tiny_corpus")
def test_a_dry_run_as_json_is_one_object(smriti: Smriti, left: Left) -> None:
    ended = smriti("bench", "--trials", 1, "--dry-run", "--json")
    assert ended.status == 0
    assert ended.json["planned"] == len(ended.json["trials"]) == 9
    assert {row["case"] for row in ended.json["trials"]} == {
        f"{task}/{condition}/t1" for task in ("alpha", "beta", "gamma") for condition in ("off", "on", "ablate:all")
    }
    assert ended.json["trials"][0]["check"] == ["python3", "-I", "grader/check.py"]
    assert left() == []


@pytest.mark.usefixtures("tiny_corpus")
def test_the_seed_decides_the_order(smriti: Smriti) -> None:
    def order(seed: int) -> list[str]:
        planned = smriti("bench", "--trials", 3, "--seed", seed, "--dry-run", "--json").json["trials"]
        return [row["case"] for row in planned]

    assert order(1) == order(1) != order(2)


# A run


def test_a_run_on_tasks_of_the_corpus_stands_and_its_receipt_verifies(smriti: Smriti, left: Left) -> None:
    tasks = ("csv-null-token", "vendored-worker-cap")
    ended = smriti("bench", "--trials", 1, *(part for task in tasks for part in ("--task", task)))
    assert ended.status == 0, ended.err
    assert ended.out.startswith("REHEARSAL: the agent is scripted; these figures measure the harness")
    assert "6 planned = 6 completed + 0 failed + 0 skipped" in ended.out
    (receipt,) = Path("receipts/bench").iterdir()
    assert f"receipt {receipt}\ncheck it with: smriti verify {receipt}\n" in ended.out
    assert sorted(path.name for path in receipt.iterdir()) == sorted(RECEIPT)
    manifest = bench_manifest(receipt)
    assert receipt.name == manifest.run_id
    assert manifest.selection == {"ids": list(tasks), "split": "all", "selected": 2, "of": len(load_corpus())}
    assert verdicts(receipt)["csv-null-token/off/t1"] is False
    assert all(passed for case, passed in verdicts(receipt).items() if "/on/" in case)
    assert smriti("verify", receipt).status == 0
    assert [path for path in left() if not path.startswith("receipts")] == []


@pytest.mark.usefixtures("tiny_corpus")
def test_json_is_one_object_on_stdout_and_progress_is_on_stderr(smriti: Smriti) -> None:
    ended = smriti(*QUICK, "--json", "--out", "out")
    assert ended.status == 0
    assert set(ended.json) == {"receipt", "stands", "summary"}
    assert (ended.json["receipt"], ended.json["stands"]) == ("out", True)
    assert ended.json["summary"] == json.loads(Path("out/summary.json").read_text())
    assert len(ended.err.splitlines()) == 3


@pytest.mark.usefixtures("tiny_corpus")
def test_without_a_terminal_each_trial_is_a_plain_line(smriti: Smriti) -> None:
    ended = smriti(*QUICK, "--conditions", "off,on", "--agent", "oracle")
    first, second = ended.err.splitlines()
    assert first.startswith("[1/2] alpha/")
    assert second.startswith("[2/2] alpha/")
    assert "  passed  " in first
    assert "\x1b" not in ended.err
    assert "\x1b" not in ended.out


@pytest.mark.usefixtures("tiny_corpus")
def test_a_fault_is_told_in_the_progress_with_its_phase_and_makes_the_exit_status_1(
    smriti: Smriti, tmp_path: Path
) -> None:
    agent = command_file(tmp_path, "import sys; sys.exit('out of ideas')\n")
    ended = smriti(*QUICK, "--conditions", "off", "--agent", f"command:{agent}")
    assert ended.status == 1
    assert "alpha/off/t1  agent_error" in ended.err
    assert "agent: exit status 1: out of ideas" in ended.err
    assert "FAULTS: 1 of 1 trials have no verdict" in ended.out


@pytest.mark.usefixtures("tiny_corpus")
def test_the_folder_of_a_receipt_is_made_with_its_parents(smriti: Smriti) -> None:
    assert smriti(*QUICK, "--out", "far/away/receipt").status == 0
    assert sorted(path.name for path in Path("far/away/receipt").iterdir()) == sorted(RECEIPT)


@pytest.mark.usefixtures("tiny_corpus")
def test_an_empty_folder_may_become_a_receipt(smriti: Smriti) -> None:
    Path("empty").mkdir()
    assert smriti(*QUICK, "--out", "empty").status == 0


@pytest.mark.usefixtures("tiny_corpus")
def test_one_arm_alone_shows_no_table_of_effects(smriti: Smriti) -> None:
    alone = smriti(*QUICK, "--conditions", "off")
    assert alone.status == 0
    assert "by condition" in alone.out
    assert "effects" not in alone.out
    assert "effects" in smriti(*QUICK, "--conditions", "off,on").out


@pytest.mark.usefixtures("tiny_corpus")
def test_the_summary_names_the_ablated_lane(smriti: Smriti) -> None:
    assert "ablation_delta_sr[kw]" in smriti(*QUICK, "--conditions", "off,on,ablate:kw").out


@pytest.mark.usefixtures("tiny_corpus")
def test_memory_that_never_reaches_the_agent_is_said_first_and_is_exit_status_1(smriti: Smriti) -> None:
    ended = smriti(*QUICK, "--memory", "tests.benches:hands_out_bare_realms", "--conditions", "off,on", "--out", "out")
    assert ended.status == 1
    first, second, *_ = ended.out.splitlines()
    assert first.startswith("REHEARSAL: ")
    assert second.startswith("DISTRUST: memory ")
    assert "on-trials" in second
    assert smriti("verify", "out").status == 0, "the receipt is in order: it says what happened"


@pytest.mark.usefixtures("tiny_corpus")
def test_a_hook_that_ignores_the_ablation_is_exit_status_1(smriti: Smriti) -> None:
    ended = smriti(*QUICK, "--task", "beta", "--memory", "tests.benches:ignores_ablation", "--json")
    assert ended.status == 1
    assert ended.json["stands"] is False
    assert [flag for flag in ended.json["summary"]["flags"] if flag.startswith("ablation: ablate_all_gap")]


@pytest.mark.usefixtures("tiny_corpus")
def test_flake_changes_what_passes_and_is_drawn_from_the_seed(smriti: Smriti) -> None:
    def passes(name: str, *arguments: object) -> list[bool | None]:
        run = ("bench", "--trials", 4, "--task", "alpha", "--conditions", "on", "--out", name, *arguments)
        assert smriti(*run).status == 0
        return [passed for _, passed in sorted(verdicts(Path(name)).items())]

    assert passes("steady") == [True] * 4
    first = passes("first", "--flake", 0.5, "--seed", 2)
    assert set(first) == {True, False}
    assert passes("again", "--flake", 0.5, "--seed", 2) == first
    assert passes("other", "--flake", 0.5, "--seed", 7) != first
    assert bench_manifest(Path("first")).config.flake == 0.5


@pytest.mark.usefixtures("tiny_corpus")
def test_the_manifest_says_how_memory_goes_to_the_agent(smriti: Smriti) -> None:
    for memory, delivery in (("embedded", "hooks"), ("file", "files"), ("off", "none")):
        assert smriti(*QUICK, "--memory", memory, "--out", memory).status in {0, 1}
        assert bench_manifest(Path(memory)).delivery == delivery


@pytest.mark.usefixtures("tiny_corpus")
def test_more_jobs_than_cores_are_warned_of(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    run = (*QUICK[:-1], 2, "--conditions", "off", "--agent", "nop")
    assert "warning" not in smriti(*run).err
    monkeypatch.setattr("smriti.cli.bench.cores", lambda: 1)
    ended = smriti(*run)
    assert ended.status == 0
    assert ended.err.startswith("smriti: warning: --jobs 2 on 1 cores: ")
    assert "warning" not in smriti(*run, "--dry-run").err


@pytest.mark.usefixtures("tiny_corpus")
def test_a_store_that_cannot_be_closed_is_a_warning_after_the_summary(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(suite: BenchSuite) -> None:
        close(suite)
        assert "1 planned" in printed.getvalue(), "the summary goes first"
        raise RuntimeError("its server\nhangs")

    printed = io.StringIO()
    close = BenchSuite.close
    monkeypatch.setattr(BenchSuite, "close", fail)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", printed)
        ended = smriti(*QUICK, "--conditions", "off", "--out", "out")
    assert ended.status == 0
    *_, last = ended.err.splitlines()
    assert last == "smriti: warning: the memory system could not be closed: RuntimeError: its server hangs"
    assert smriti("verify", "out").status == 0


# Interrupted and resumed


@pytest.mark.usefixtures("tiny_corpus")
def test_an_interrupt_counts_what_is_on_the_disk(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes when the line is written and nothing in this process knows of it yet."""
    append = ReceiptWriter.append

    def interrupted(self: BenchReceipt, evidence: Sequence[TrialEvidence]) -> list[TrialRecord]:
        records = append(self, evidence)
        self.records.clear()
        raise KeyboardInterrupt(records)

    monkeypatch.setattr(ReceiptWriter, "append", interrupted)
    ended = smriti("bench", "--trials", 1, "--jobs", 1, "--out", "a folder")
    assert ended.status == 3
    assert "interrupted after 1 of 9 cases, which are kept. Go on with: smriti bench --resume 'a folder'\n" in ended.err


@pytest.mark.usefixtures("tiny_corpus")
def test_an_interrupt_after_the_seal_says_that_the_run_is_finished(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smriti.cli.bench.print_summary", lambda *_: ctrl_c())
    ended = smriti(*QUICK, "--out", "out")
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.endswith("smriti: interrupted after the last case; out is finished\n")
    assert smriti("verify", "out").status == 0


@pytest.mark.usefixtures("tiny_corpus")
def test_an_interrupt_stays_one_where_a_store_cannot_be_closed(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(suite: BenchSuite) -> None:
        close(suite)
        raise MemorySystemError("it hangs")

    close = BenchSuite.close
    interrupt_after(monkeypatch, 1, ctrl_c)
    monkeypatch.setattr(BenchSuite, "close", fail)
    ended = smriti(*QUICK, "--out", "out")
    assert ended.status == 3
    *_, hint, last = ended.err.splitlines()
    assert hint.endswith("smriti bench --resume out")
    assert last == "smriti: warning: the memory system could not be closed: MemorySystemError: it hangs"


@pytest.mark.usefixtures("tiny_corpus")
def test_an_interrupt_leaves_a_readable_receipt_and_says_how_to_go_on(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(monkeypatch, 3, ctrl_c)
    ended = smriti("bench", "--trials", 2, "--jobs", 1, "--out", "out")
    assert ended.status == 3
    assert ended.out == ""
    assert "interrupted after 3 of 18 cases, which are kept. Go on with: smriti bench --resume out\n" in ended.err
    assert not Path("out/summary.json").exists()
    assert len(records(Path("out"))) == 3
    verdict = smriti("verify", "out")
    assert verdict.status == 1
    assert "INTERRUPTED" in verdict.out


@pytest.mark.usefixtures("tiny_corpus")
def test_being_told_to_end_is_an_interrupt(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
    ended = smriti("bench", "--trials", 1, "--out", "out")
    assert ended.status == 3
    assert "--resume out" in ended.err


@pytest.mark.usefixtures("tiny_corpus")
def test_a_resumed_run_keeps_its_configuration_and_its_records(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--conditions", "on,off", "--flake", 0.5, "--seed", 4, "--timeout-s", 33, "--max-tokens", 99_999)
    tasks = ("--task", "beta", "--task", "alpha")
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3, ctrl_c)
        assert smriti("bench", "--trials", 2, "--jobs", 1, "--out", "out", *tasks, *asked).status == 3
    before, done = bench_manifest(Path("out")), records(Path("out"))
    ended = smriti("bench", "--resume", "out")
    assert ended.status == 0, ended.err
    assert ended.err.startswith("[4/8] ")
    assert bench_manifest(Path("out")) == before
    assert before.config.model_dump() == {
        "memory": "embedded",
        "agent": "rehearsal",
        "conditions": ("on", "off"),
        "trials": 2,
        "timeout_s": 33.0,
        "max_tokens": 99_999,
        "flake": 0.5,
        "seed": 4,
    }
    assert records(Path("out"))[:3] == done
    assert len(records(Path("out"))) == 8
    assert smriti("verify", "out").status == 0
    whole = ("bench", "--trials", 2, "--out", "undisturbed", *tasks, *asked)
    assert smriti(*whole).status == 0
    assert verdicts(Path("out")) == verdicts(Path("undisturbed"))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--trials", 2), "config.trials: 3 in the receipt, 2 now"),
        (("--seed", 1), "config.seed: 0 in the receipt, 1 now"),
        (("--conditions", "on"), "config.conditions"),
        (("--agent", "oracle"), "config.agent: 'rehearsal' in the receipt, 'oracle' now"),
        (("--memory", "off"), "config.memory"),
        (("--flake", 0.25), "config.flake"),
        (("--task", "beta"), "selection.ids"),
    ],
)
@pytest.mark.usefixtures("tiny_corpus")
def test_a_run_is_not_resumed_as_another_one(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], field: str
) -> None:
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1, ctrl_c)
        run = ("bench", "--trials", 3, "--task", "alpha", "--conditions", "off", "--agent", "rehearsal")
        assert smriti(*run, "--out", "out", "--jobs", 1).status == 3
    smriti("bench", "--resume", "out", *arguments).assert_refused("another configuration", field)
    assert len(records(Path("out"))) == 1


MEMORY = """
import dataclasses
from smriti.memory import off

@dataclasses.dataclass
class Mine(off.OffMemory):
    name = "mine"
"""


@pytest.mark.usefixtures("tiny_corpus")
def test_a_run_is_not_resumed_with_changed_code_of_the_memory_system(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine_r1.py").write_text(MEMORY)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1, ctrl_c)
        assert smriti(*QUICK, "--memory", "mine_r1:Mine", "--out", "out").status == 3
    assert list(bench_manifest(Path("out")).artifacts) == ["memory/mine_r1.py"]
    Path("mine_r1.py").write_text(MEMORY + "# better now\n")
    smriti("bench", "--resume", "out").assert_refused("another configuration", "artifacts.memory/mine_r1.py")
    Path("mine_r1.py").write_text(MEMORY)
    assert smriti("bench", "--resume", "out").status in {0, 1}
    assert smriti("verify", "out").status == 0


@pytest.mark.usefixtures("tiny_corpus")
def test_a_run_is_not_resumed_with_changed_code_of_a_command(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = command_file(tmp_path, "pass\n")
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1, ctrl_c)
        assert smriti(*QUICK, "--agent", f"command:{agent}", "--out", "out").status == 3
    agent.with_name("agent.py").write_text("pass  # better now\n")
    smriti("bench", "--resume", "out").assert_refused("another configuration", "agent.py")
    assert len(records(Path("out"))) == 1


@pytest.mark.usefixtures("tiny_corpus")
def test_what_verify_refuses_is_not_resumed_and_nothing_is_written(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1, ctrl_c)
        assert smriti(*QUICK, "--out", "out").status == 3
    diff = Path("out/diffs", records(Path("out"))[0]["diff_sha256"] + ".gz")
    diff.write_bytes(gzip.compress(b"another diff"))
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    smriti("bench", "--resume", "out").assert_refused(
        "out cannot be resumed",
        "contents: ",
        f"diffs/{diff.name}: does not hold what its name says",
        "Nothing was changed",
    )
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


@pytest.mark.usefixtures("tiny_corpus")
def test_a_finished_run_is_not_resumed(smriti: Smriti) -> None:
    assert smriti(*QUICK, "--out", "out").status == 0
    before = Path("out/summary.json").read_bytes()
    smriti("bench", "--resume", "out").assert_refused("out is finished", "nothing to resume")
    assert Path("out/summary.json").read_bytes() == before


@pytest.mark.usefixtures("tiny_corpus")
def test_a_dry_run_of_a_resumed_run_names_its_realms_and_touches_nothing(
    smriti: Smriti, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(monkeypatch, 1, ctrl_c)
    smriti(*QUICK, "--out", "out")
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    ended = smriti("bench", "--resume", "out", "--dry-run")
    assert ended.status == 0
    assert ended.out.count(bench_manifest(Path("out")).run_id) == 3
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_help_says_the_defaults(smriti: Smriti, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = " ".join(smriti("bench", "--help").out.split())
    for words in ("default: embedded", "default: rehearsal", "default: 600", "No default: one is a coin flip"):
        assert words in shown
