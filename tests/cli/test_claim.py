"""`smriti claim` and `smriti claim check`: what receipts support, in words, in JSON and as an exit status."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from smriti.cli.summary import print_summary
from smriti.metrics import intervals
from smriti.receipts.sealed import read_sealed
from smriti.receipts.verify import verify
from smriti.receipts.writer import SCORES
from smriti.types import BenchManifest
from tests.benches import run_bench, tiny_task
from tests.cli.command_line import Smriti
from tests.receipts.claimable import bench, bench_manifest, retrieval

pytestmark = pytest.mark.usefixtures("all_known")


@pytest.fixture(autouse=True)
def _intervals_of_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 100)


@pytest.fixture
def good(smriti: Smriti) -> Path:
    """A receipt that supports a claim, in the folder where commands run."""
    del smriti
    return bench(Path("receipts/bench/good"))


@pytest.fixture
def rehearsal(tmp_path: Path) -> Path:
    return run_bench(tmp_path, [tiny_task()]).directory


def test_a_claim_is_written_to_stdout(smriti: Smriti, good: Path) -> None:
    ended = smriti("claim", good)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("# Claim\n")
    assert smriti("claim", "make", good).out == ended.out


def test_a_claim_in_json_is_one_object(smriti: Smriti, good: Path) -> None:
    ended = smriti("claim", good, "--json", "--title", "Mine")
    assert ended.status == 0
    assert ended.json["unmet"] == ended.json["files"] == []
    assert ended.json["claim"]["schema"] == "smriti.claim/1"
    assert ended.json["claim"]["title"] == "Mine"


def test_flags_may_stand_before_the_folders(smriti: Smriti, good: Path) -> None:
    assert smriti("claim", "--json", good).json["claim"]


def test_out_writes_both_files_and_names_them(smriti: Smriti, good: Path) -> None:
    ended = smriti("claim", good, "--out", "a/b")
    assert (ended.status, ended.out) == (0, "a/b/claim.md\na/b/claim.json\n")
    assert Path("a/b/claim.md").read_text() == smriti("claim", good).out
    assert json.loads(Path("a/b/claim.json").read_text()) == smriti("claim", good, "--json").json["claim"]
    assert smriti("claim", good, "--out", "a/b", "--json").json["files"] == ["a/b/claim.md", "a/b/claim.json"]


def test_another_claim_is_not_written_over(smriti: Smriti, good: Path) -> None:
    smriti("claim", good, "--out", "out")
    before = Path("out/claim.md").read_text()
    smriti("claim", good, "--out", "out", "--title", "Other").assert_refused("claim.md is there and is another")
    assert Path("out/claim.md").read_text() == before


def test_a_claim_is_never_written_into_a_receipt(smriti: Smriti, good: Path) -> None:
    for out in (good, good / "claims"):
        smriti("claim", good, "--out", out).assert_refused("lies in receipt", "nothing may be added")
    assert verify(good).state == "verified"


def test_a_rehearsal_is_refused_with_every_gate_and_nothing_is_written(
    smriti: Smriti, good: Path, rehearsal: Path
) -> None:
    ended = smriti("claim", rehearsal, good, "--out", "out")
    assert (ended.status, ended.err) == (1, "")
    assert f"{rehearsal}: class: found rehearsal; expected measured" in ended.out
    assert f"{rehearsal}: trials: found" in ended.out
    assert f"{rehearsal}: tasks: found 1 attempted; expected at least 10" in ended.out
    count = len(ended.out.splitlines()) - 1
    assert ended.out.endswith(f"NO CLAIM: {count} gates are not met\n")
    assert str(good) not in ended.out
    assert not Path("out").exists()


def test_gates_in_json_say_what_was_found_and_expected(smriti: Smriti, good: Path) -> None:
    scores = good / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    ended = smriti("claim", good, "--json")
    assert ended.status == 1
    assert ended.json["claim"] is None
    (gate,) = ended.json["unmet"]
    assert (gate["receipt"], gate["name"], set(gate)) == (
        str(good),
        "verified",
        {"receipt", "name", "found", "expected"},
    )


@pytest.mark.parametrize("title", ["", " ", "two\nlines", "x" * 121, "a\x1b[31m"])
def test_a_title_is_one_short_line(smriti: Smriti, good: Path, title: str) -> None:
    smriti("claim", good, "--title", title).assert_refused("--title is")


def test_what_is_not_there_or_named_twice_is_unusable(smriti: Smriti, good: Path) -> None:
    smriti("claim", good, "nowhere").assert_refused("nowhere is not there", "nothing was claimed")
    smriti("claim", good, f"./{good}").assert_refused("is named twice")


def test_without_a_folder_the_help_is_shown(smriti: Smriti) -> None:
    ended = smriti("claim")
    assert ended.status == 2
    assert "smriti claim check" in ended.out + ended.err
    assert "check" in smriti("claim", "--help").out


# check


def write(text: str, name: str = "README.md") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def test_a_claim_that_was_written_is_found_right(smriti: Smriti, good: Path) -> None:
    smriti("claim", good, retrieval(Path("receipts/two")), "--out", "out")
    ended = smriti("claim", "check", "out/claim.md")
    assert (ended.status, ended.err) == (0, "")
    assert re.fullmatch(
        r"out/claim.md: \d{3} figures and 0 lines of output compared; "
        r"receipts: 2 \(component, measured\), problems: 0\n",
        ended.out,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("| class | measured |", "| class | component |"),
        (": no difference shown", ": better"),
        (" is +0.000", " is +0.500"),
        (" tasks × ", "0 tasks × "),
        (" it says nothing.", " it says everything."),
        ("sha256 of its summary.json ", "sha256 of its summary.json 0"),
        (", clean |", ", dirty |"),
    ],
)
def test_no_word_of_a_claim_can_be_changed(smriti: Smriti, good: Path, before: str, after: str) -> None:
    other = bench(Path("receipts/other"), bench_manifest(run_id="other"))
    assert smriti("claim", good, other, "--compare", good, other, "--out", "out").status == 0
    assert smriti("claim", "check", "out/claim.md").status == 0
    text = Path("out/claim.md").read_text()
    assert before in text
    Path("out/claim.md").write_text(text.replace(before, after, 1))
    ended = smriti("claim", "check", "out/claim.md")
    assert ended.status == 1
    assert "in the text" in ended.out
    Path("out/claim.md").write_text(text)
    stated = Path("out/claim.json").read_text()
    Path("out/claim.json").write_text(stated.replace('"verdict": "no difference shown"', '"verdict": "better"'))
    assert smriti("claim", "check", "out/claim.md").status == 1
    for text_without in (text.replace("<!-- claim: claim.json -->\n\n", ""), "# Mine\n\nIt is best.\n"):
        Path("out/claim.md").write_text(text_without)
        ended = smriti("claim", "check", "out/claim.md")
        assert ended.status == 1
        assert "out/claim.md:1: a claim without its mark" in ended.out
    Path("out/other.md").write_text(text.replace("<!-- claim: claim.json -->\n\n", ""))
    assert "a claim without its mark" in smriti("claim", "check", "out/other.md").out
    Path("out/claim.md").write_text(text)
    Path("out/claim.json").unlink()
    ended = smriti("claim", "check", "out/claim.md")
    assert "claim.json beside it cannot be read" in ended.out


@pytest.mark.parametrize(
    "title",
    [
        "mine improves everything",
        "99 % of all",
        "Twice: 2 x",
        "It beats bm25",
        "0.9 at last",
        "ninety nine percent",
        "nine in ten, per cent",
        "tenfold",
        "half of what it took",
        "\uff10\uff0e\uff19 and more",  # fullwidth 0.9
        "\uff42\uff45\uff53\uff54 of all",  # fullwidth best
    ],
)
def test_a_title_claims_nothing(smriti: Smriti, good: Path, title: str) -> None:
    smriti("claim", good, "--title", title).assert_refused("claims something by itself")


def test_a_figure_that_differs_is_exit_status_1_and_told_with_its_line(smriti: Smriti, good: Path) -> None:
    write(f"Title\n\nIt is [0.9](receipt:{good}#sr/on).")
    ended = smriti("claim", "check", "README.md")
    assert ended.status == 1
    assert "README.md:3: sr/on/all of run: '0.9' in the text, 1.0 [" in ended.out
    assert ended.out.endswith("1 figures and 0 lines of output compared; receipts: 1 (measured), problems: 1\n")


def test_a_text_that_names_no_receipt_is_no_pass(smriti: Smriti, good: Path) -> None:
    write("It is 0.9.")
    ended = smriti("claim", "check", "README.md")
    assert ended.status == 1
    assert "names no receipt: nothing was checked" in ended.out
    write(f"[1](receipt:{good}#sr/on)", "good.md")
    assert smriti("claim", "check", "good.md").status == 0
    assert smriti("claim", "check", "good.md", "README.md").status == 1


def test_a_receipt_that_is_not_there_is_a_failure_unless_that_is_allowed(smriti: Smriti, good: Path) -> None:
    write(f"[1](receipt:none#sr/on) [1](receipt:{good}#sr/on)")
    for flags, status in ((), 1), (("--missing-ok",), 0):
        ended = smriti("claim", "check", "README.md", *flags)
        assert ended.status == status
        assert "README.md:1: receipt none is not there" in ended.out
        assert ended.out.endswith("problems: 0, not there: 1\n")
    write(f"[1](receipt:none#sr/on) [0.9](receipt:{good}#sr/on)")
    assert smriti("claim", "check", "README.md", "--missing-ok").status == 1


def test_run_ids_are_looked_for_below_the_roots_that_are_given(smriti: Smriti, good: Path) -> None:
    write("[1](receipt:run#sr/on)")
    assert smriti("claim", "check", "README.md").status == 0
    good.parents[1].rename("elsewhere")
    assert smriti("claim", "check", "README.md").status == 1
    assert smriti("claim", "check", "README.md", "--receipts", "elsewhere").status == 0
    smriti("claim", "check", "README.md", "--receipts", "nowhere").assert_refused("nowhere is not there")


@pytest.mark.parametrize("colours", [False, True])
def test_a_summary_as_it_was_printed_is_right_and_a_changed_digit_in_it_is_found(
    smriti: Smriti, rehearsal: Path, monkeypatch: pytest.MonkeyPatch, colours: bool
) -> None:
    """Whatever the terminal of the checker is like."""
    receipt = read_sealed(rehearsal)
    assert isinstance(receipt.manifest, BenchManifest)
    shown_as = Path("receipts/bench") / receipt.manifest.run_id
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_summary(receipt.manifest, receipt.summary, shown_as)
    verdict = smriti("verify", rehearsal).out.replace(str(rehearsal), str(shown_as)).partition("Verified means")[0]
    text = f"<!-- summary -->\n<!-- receipt: {rehearsal} -->\n```text\n{printed.getvalue()}{verdict}```\n"
    if colours:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "40")
    write(text)
    ended = smriti("claim", "check", "README.md")
    assert (ended.status, ended.out.count("\n")) == (0, 1), ended.out
    changed = re.sub(r"(delta_sr \(ΔSR\) +)1\.000", r"\g<1>0.999", text)
    assert changed != text
    write(changed)
    ended = smriti("claim", "check", "README.md")
    assert (ended.status, ended.out.count("\n")) == (1, 2), ended.out
    assert "0.999" in ended.out


def test_check_in_json_is_one_object_a_file(smriti: Smriti, good: Path) -> None:
    write(f"[0.9](receipt:{good}#sr/on)\n[1](receipt:none#sr/on)")
    ended = smriti("claim", "check", "README.md", "--json")
    assert ended.status == 1
    (file,) = ended.json["files"]
    assert (file["path"], file["figures"], file["output_lines"]) == ("README.md", 1, 0)
    assert [(problem["line"], problem["missing"]) for problem in file["problems"]] == [(1, False), (2, True)]
    assert [(receipt["name"], receipt["evidence_class"]) for receipt in file["receipts"]] == [(str(good), "measured")]


def test_a_file_that_cannot_be_read_is_unusable(smriti: Smriti) -> None:
    smriti("claim", "check", "nothing.md").assert_refused("nothing.md: cannot be read", "expected a Markdown file")
    Path("bytes.md").write_bytes(b"\xff")
    smriti("claim", "check", "bytes.md").assert_refused("bytes.md: not UTF-8 at byte 0")


def test_a_folder_that_is_called_check_can_be_claimed_from(smriti: Smriti) -> None:
    bench(Path("check"), bench_manifest())
    assert smriti("claim", "./check").status == 0
