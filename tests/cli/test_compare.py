"""`smriti compare`: the verdict on two receipts in words, in JSON and as an exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import Smriti
from tests.receipts.comparisons import bench, bench_manifest, passes, retrieval, retrieval_manifest

pytestmark = pytest.mark.usefixtures("all_known")

HALF = passes({"off": 0.5, "on": 0.5})
MOST = passes({"off": 0.5, "on": 1.0})


@pytest.fixture
def two(smriti: Smriti) -> Any:
    """Makes the receipts `a` and `b` of the bench in the folder in which commands run."""
    del smriti

    def two(of_a: dict[str, Any] | None = None, of_b: dict[str, Any] | None = None, ends: Any = MOST) -> None:
        bench(Path("a"), HALF, bench_manifest(**(of_a or {})))
        bench(Path("b"), ends, bench_manifest(**(of_b or {})))

    return two


@pytest.fixture
def found(smriti: Smriti) -> None:
    """Makes the receipts `r` and `s` of a retrieval suite, each with the systems grep and bm25."""
    del smriti
    for name in "rs":
        made = retrieval_manifest(memory=("grep", "bm25"))
        retrieval(Path(name), lambda system, n: 1 if system == "bm25" or n % 2 else 9, made)


def test_a_comparison_says_the_verdict_before_the_figures(smriti: Smriti, two: Any) -> None:
    two()
    ended = smriti("compare", "a", "b")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.index("BETTER: B is better than A: sr(on) of B − A is +0.500") < ended.out.index("pairs of trials")
    assert "bench: B against the baseline A; differences are B − A" in ended.out
    for words in ("sr(on)", "delta_sr(on)", "check", "only B passed", "B / A"):
        assert words in ended.out
    assert max(map(len, ended.out.partition("success (")[2].splitlines())) <= 110


def test_the_baseline_can_be_the_second(smriti: Smriti, two: Any) -> None:
    two()
    assert "WORSE: A is worse than B: sr(on) of A − B is -0.500" in smriti("compare", "a", "b", "--baseline", "B").out
    smriti("compare", "a", "b", "--baseline", "a").assert_refused("--baseline is 'a', expected A or B")


def test_rehearsals_are_told_to_be_first_of_all_and_are_never_better(smriti: Smriti, two: Any) -> None:
    two({"evidence_class": "rehearsal"}, {"evidence_class": "rehearsal"})
    out = smriti("compare", "a", "b").out
    assert out.startswith(
        "REHEARSAL: the agent is scripted; these figures measure the harness and not a memory system\n"
    )
    assert "HIGHER: sr(on) differs between two rehearsals" in out
    assert "better" not in out.lower()


def test_json_is_one_object_with_every_figure(smriti: Smriti, two: Any) -> None:
    two(of_b={"sandbox": "bubblewrap"})
    ended = smriti("compare", "a", "b", "--allow", "sandbox", "--json")
    assert ended.status == 0
    (comparison,) = ended.json["comparisons"]
    assert comparison["verdict"]["word"] == "better"
    assert comparison["allowed"] == [{"field": "sandbox", "a": "none", "b": "bubblewrap"}]
    assert (comparison["baseline"]["label"], comparison["candidate"]["label"]) == ("A", "B")
    assert len(comparison["baseline"]["sha256"]) == 64
    (headline,) = [each for each in comparison["contrasts"] if each["role"] == "headline"]
    assert (headline["value"], headline["n"], headline["shown"]) == (0.5, 36, "higher")
    assert headline["interval"]["method"] == "task-clustered bootstrap"


def test_what_was_let_pass_stands_in_the_output(smriti: Smriti, two: Any) -> None:
    two(of_b={"sandbox": "bubblewrap"})
    smriti("compare", "a", "b").assert_refused(
        "a (A) and b (B) cannot be compared", "sandbox: none in A, bubblewrap in B"
    )
    assert "ALLOWED: sandbox: none in A, bubblewrap in B\n" in smriti("compare", "a", "b", "--allow", "sandbox").out
    smriti("compare", "a", "b", "--allow", "sandbx").assert_refused("did you mean 'sandbox'?")


def test_a_receipt_that_does_not_stand_is_exit_status_1(smriti: Smriti, two: Any) -> None:
    two(ends=lambda task, *case: "infra_error" if task == 0 else MOST(task, *case))
    ended = smriti("compare", "a", "b")
    assert ended.status == 1
    assert "NO VERDICT: failures: B: 3 of 36 attempts" in ended.out
    assert smriti("compare", "a", "b", "--json").status == 1


def test_too_small_a_design_is_no_failure(smriti: Smriti, two: Any) -> None:
    two({"tasks": 9}, {"tasks": 9})
    ended = smriti("compare", "a", "b")
    assert ended.status == 0
    assert "NO VERDICT: few tasks: 9 are paired" in ended.out


def test_another_condition_can_make_the_headline(smriti: Smriti, two: Any) -> None:
    two()
    assert "sr(off) of B − A is +0.000" in smriti("compare", "a", "b", "--condition", "off").out
    smriti("compare", "a", "b", "--condition", "file").assert_refused("conditions: off, on (file is needed) in A")


def test_what_does_not_verify_is_unusable(smriti: Smriti, two: Any) -> None:
    two()
    scores = Path("b/scores.ndjson")
    scores.write_text(scores.read_text().replace('"passed":false', '"passed":true'))
    smriti("compare", "a", "b").assert_refused("b does not verify: ")
    (Path("a") / "summary.json").unlink()
    smriti("compare", "a", "b").assert_refused("a was interrupted")
    smriti("compare", "nowhere", "b").assert_refused("nowhere is not there, expected a receipt folder")
    smriti("compare", "", "b").assert_refused("is not there")


@pytest.mark.usefixtures("found")
def test_a_system_of_a_retrieval_receipt_is_picked_by_name(smriti: Smriti) -> None:
    out = smriti("compare", "r:grep", "r:bm25").out
    assert "BETTER: B is better than A: recall_all@5 of B − A is +0.500" in out
    assert "by type (Holm over these 12 tests)" in out
    smriti("compare", "r:grp", "r:bm25").assert_refused(
        "r has no system 'grp', it has grep, bm25; did you mean 'grep'?"
    )
    smriti("compare", "r:grep", "r").assert_refused("r holds 2 systems (grep, bm25)", "Pick one, such as r:grep")
    smriti("compare", "r:grep", "r:grep").assert_refused("the same system grep of one receipt")


@pytest.mark.usefixtures("found")
def test_the_same_systems_in_both_are_each_compared_with_itself(smriti: Smriti) -> None:
    ended = smriti("compare", "r", "s")
    assert ended.status == 0
    assert ended.out.count("NO DIFFERENCE SHOWN") == 2
    compared = smriti("compare", "r", "s", "--json").json["comparisons"]
    assert [(each["baseline"]["system"], each["candidate"]["system"]) for each in compared] == [
        ("grep", "grep"),
        ("bm25", "bm25"),
    ]


def test_a_system_may_have_a_colon_in_its_name_and_so_may_a_folder(smriti: Smriti) -> None:
    made = retrieval_manifest(memory=("vector:k=1", "grep"))
    retrieval(Path("at 10:30"), lambda system, n: 1 if system != "grep" or n % 2 else 9, made)
    out = smriti("compare", "at 10:30:grep", "at 10:30:vector:k=1").out
    assert "BETTER: B is better than A" in out


@pytest.mark.usefixtures("found")
def test_what_is_of_one_kind_of_suite_is_refused_of_the_other(smriti: Smriti, two: Any) -> None:
    two()
    smriti("compare", "a:embedded", "b").assert_refused("a:embedded picks a system", "Give a")
    smriti("compare", "r:grep", "s:grep", "--condition", "on").assert_refused("--condition on is of the bench")


# noise


def test_noise_shows_bands_and_changed_cases(smriti: Smriti, two: Any) -> None:
    two()
    ended = smriti("noise", "a", "b")
    assert (ended.status, ended.err) == (0, "")
    assert "bench: 2 runs of one configuration" in ended.out
    stated = smriti("noise", "a", "b", "--json").json
    (sr,) = [band for band in stated["bands"] if (band["metric"], band["condition"]) == ("sr", "on")]
    assert (sr["low"], sr["high"], sr["mean"]) == (0.5, 1.0, 0.75)
    assert [(each["condition"], each["share"]) for each in stated["changed"]] == [("off", 0.0), ("on", 0.5)]


def test_noise_refuses_what_is_no_repeat(smriti: Smriti, two: Any) -> None:
    two(of_b={"sandbox": "bubblewrap"})
    smriti("noise", "a", "b").assert_refused("a (A) is not repeated by all others (B)", "sandbox: none in A")
    smriti("noise", "a").assert_refused("1 receipt given, expected at least 2")
    smriti("noise", "a", "nowhere").assert_refused("nowhere is not there")
    assert smriti("noise", "a", "b", "--allow", "sandbox").status == 0
