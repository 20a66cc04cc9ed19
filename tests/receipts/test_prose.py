"""Figures in prose that name a receipt are the receipt's, to the digit."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.metrics import intervals
from smriti.receipts.check import Check
from smriti.receipts.cited import Stated, unlike
from smriti.receipts.claim import MARK, Claim, make_claim, markdown
from smriti.receipts.prose import Prose, check_prose
from smriti.receipts.sealed import SealedReceipt
from smriti.receipts.verify import Verdict
from smriti.receipts.writer import SCORES, SUMMARY
from smriti.types import Interval, Status, TrialCase
from tests.receipts.claimable import bench, bench_manifest, retrieval, retrieval_manifest


def ending(case: TrialCase) -> Status:
    """sr is 26/36 under on and 12/36 under off: figures with many digits."""
    return "passed" if case.trial == 1 or (case.condition == "on" and case.task_id < "t07") else "failed"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `receipts/bench/one`, `receipts/two`, a tampered one and one that was interrupted."""
    folder = tmp_path_factory.mktemp("repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "RESAMPLES", 100)
        bench(folder / "receipts" / "bench" / "one", bench_manifest(run_id="run-one"), ending)
        retrieval(folder / "receipts" / "two", retrieval_manifest(run_id="run-two"))
        bench(folder / "receipts" / "tampered", bench_manifest(run_id="run-tampered"), ending)
        bench(folder / "receipts" / "cut", bench_manifest(run_id="run-cut"), ending, sealed=False)
    scores = folder / "receipts" / "tampered" / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    return folder


@pytest.fixture(autouse=True)
def _intervals_of_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 100)


def render(receipt: SealedReceipt, folder: Path) -> tuple[list[str], list[str]]:
    summary = ["SUMMARY", "", f"run {receipt.manifest.run_id}", "sr  0.722", f"receipt {folder}"]
    return summary, ["ok  manifest: good", "not checked  tasks: not here", f"VERIFIED  {folder}"]


def check(root: Path, text: str) -> Prose:
    return check_prose(root / "README.md", text, [root / "receipts"], render)


def digest(root: Path, receipt: str = "bench/one") -> str:
    return hashlib.sha256((root / "receipts" / receipt / SUMMARY).read_bytes()).hexdigest()


def problems(root: Path, text: str) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in check(root, text).problems]


def problem(root: Path, text: str) -> str:
    (only,) = problems(root, text)
    return only


# Links


@pytest.mark.parametrize(
    "text",
    [
        "0.722",
        "0.7222",
        "0.7",
        "+0.722",
        "72.2 %",
        "72%",
        "72.2 % [56, 84] %",
        "n = 36",
        "n 36",
        "0.722, n = 36",
        "0.722 [0.560, 0.842]",
        "[0.560, 0.842]",
        "[56.0 %, 84.2 %]",
        "0.722\n[0.560, 0.842], n = 36",
    ],
)
def test_a_figure_that_is_the_receipts_to_the_digits_written_is_right(root: Path, text: str) -> None:
    prose = check(root, f"It is [{text}](receipt:run-one#sr/on/all).")
    assert prose.problems == []
    assert prose.figures == 1


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "0.723",
        "0.7223",
        "0.8",
        "-0.722",
        "−0.722",
        "0.722 %",
        "73 %",
        "72.2",
        "0.722, n = 35",
        "0.722 [0.561, 0.842]",
        "0.722 [0.560, 0.843]",
        "0.722 [56.0, 84.2]",
    ],
)
def test_a_changed_digit_is_found_and_what_the_receipt_says_is_told(root: Path, text: str) -> None:
    told = problem(root, f"\nIt is [{text}](receipt:run-one#sr/on/all).")
    assert told.startswith(f"2: sr/on/all of run-one: {text!r} in the text, 0.7222222222222222 [0.5")


@pytest.mark.parametrize("text", ["about 0.722", "0.722 (good)", "three", "", "0.722 0.560", "%", "0,722"])
def test_what_is_no_figure_is_said_to_be_none(root: Path, text: str) -> None:
    assert problems(root, f"[{text}](receipt:run-one#sr/on/all)")


def test_thousands_may_be_set_apart(root: Path) -> None:
    assert problems(root, "[100](receipt:run-one#tokens/on) [1,000](receipt:run-one#tokens/on)") == [
        "1: tokens/on/all of run-one: '1,000' in the text, 100.0 no interval, n = 36 in the receipt"
    ]


def test_a_figure_with_no_such_metric_condition_or_group_is_found_and_the_nearest_is_named(root: Path) -> None:
    assert problem(root, "[1](receipt:run-one#delta_rs/on)").endswith("no such metric (did you mean 'delta_sr'?)")
    assert problem(root, "[1](receipt:run-one#sr/of)").endswith("no such condition (did you mean 'off'?)")
    assert problem(root, "[1](receipt:run-one#sr/on/t99)").endswith("no such group (did you mean 't09'?)")
    assert problem(root, "[1](receipt:run-two#mrr/frist)").endswith("no such system (did you mean 'first'?)")
    assert problem(root, "[1](receipt:run-one#coverage/plan)").endswith("no such count (did you mean 'planned'?)")


@pytest.mark.parametrize("target", ["", "#", "#sr", "#sr/on/all/more"])
def test_a_link_that_names_no_figure_is_found(root: Path, target: str) -> None:
    assert "names no figure, expected METRIC/CONDITION" in problem(root, f"[1](receipt:run-one{target})")


def test_counts_of_the_coverage_can_be_named(root: Path) -> None:
    assert check(root, "[72](receipt:run-one#coverage/planned)").problems == []
    assert "'71' in the text, 72.0 in the receipt" in problem(root, "[71](receipt:run-one#coverage/completed)")


def test_figures_of_retrieval_are_named_by_system_and_group(root: Path) -> None:
    prose = check(root, "[0.5](receipt:run-two#recall_all@1/first), [1](receipt:run-two#hit@2/second/plain%20facts)")
    assert (prose.problems, prose.figures) == ([], 2)


def test_a_metric_with_brackets_in_its_name_can_be_named(root: Path) -> None:
    assert check(root, "[0.7500](receipt:run-two#ceiling%5Brecall@1%5D/first)").problems == []
    assert check(root, "[0.75](receipt:run-two#ceiling[recall@1]/first)").problems == []


@pytest.mark.parametrize(
    "text",
    [
        "`[9](receipt:run-one#sr/on)`",
        "``a ` [9](receipt:run-one#sr/on)``",
        "```\n[9](receipt:run-one#sr/on)\n```",
        "~~~\n[9](receipt:run-one#sr/on)\n```\n[9](receipt:run-one#sr/on)\n~~~",
        "[9](https://example.org/receipt:run-one#sr/on)",
        "the receipt: 9",
        "`<!-- receipt: run-one -->` is how",
    ],
)
def test_what_shows_how_it_is_done_or_names_no_receipt_is_not_looked_at(root: Path, text: str) -> None:
    prose = check(root, text)
    assert (prose.problems, prose.figures, prose.receipts) == ([], 0, {})


@pytest.mark.parametrize(
    "text",
    [
        '<a href="receipt:run-one#sr/on">9</a>',
        '<a href="&#114;eceipt:run-one#sr/on">9</a>',
        "<div>\n<A\tHREF = rece&#9;ipt:run-one#sr/on>9</a></div>",
        "<pre>\n\n<a href='receipt&colon;run-one#sr/on'>9</a></pre>",
        "<!--> <a href=receipt:run-one#sr/on>9</a> -->",
        "<div>\n[9](receipt:run-one#sr/on)\n</div>",
        '[9](receipt:run-one#sr/on "title")',
        "[9](RECEIPT:run-one#sr/on)",
        "[9](%72eceipt:run-one#sr/on)",
        "[9](receipt:run one#sr/on)",
        r"\[9](receipt:run-one#sr/on)",
        "![9](receipt:run-one#sr/on)",
        "![[9](receipt:run-one#sr/on)](picture.png)",
        "text[^1]\n\n[^1]: [9](receipt:run-one#sr/on)",
        "[^1]: https://example.org\n[^1]: https://example.org '[9](receipt:run-one#sr/on)'",
        "[" * 101 + "9" + "]" * 101 + "(receipt:run-one#sr/on)",
    ],
)
def test_a_link_that_cannot_be_read_is_no_pass(root: Path, text: str) -> None:
    assert {told.partition(": ")[2].partition(",")[0] for told in problems(root, text)} == {
        "a link that cannot be read"
    }


@pytest.mark.parametrize(
    "text",
    [
        "[FIGURE](<receipt:run-one#sr/on>)",
        "[FIGURE][r]\n\n[r]: receipt:run-one#sr/on",
        "[FIGURE]\n\n[figure]: receipt:run-one#sr/on",
        "[FIGURE](&#114;eceipt:run-one#sr/on)",
        r"[FIGURE](receipt\:run-one#sr/on)",
        "[FIGURE](receipt:run&#45;one#sr/on)",
        "[**FIGURE**](receipt:run-one#sr/on)",
        "[`FIGURE`](receipt:run-one#sr/on)",
        "*[FIGURE](receipt:run-one#sr/on)*",
        "# [FIGURE](receipt:run-one#sr/on)",
        "> - [FIGURE](\n  receipt:run-one#sr/on)",
        "| a |\n|---|\n| [FIGURE](receipt:run-one#sr/on) |",
    ],
)
def test_a_link_is_what_a_reader_is_shown_as_one(root: Path, text: str) -> None:
    prose = check(root, text.replace("FIGURE", "0.722").replace("figure", "0.722"))
    assert (prose.problems, prose.figures) == ([], 1)
    assert "'0.999' in the text" in problem(root, text.replace("FIGURE", "0.999").replace("figure", "0.999"))


FALSE = "[0.999](receipt:run-one#sr/on)"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (rf"\`{FALSE}\`", 1),
        (f"- a ` b\n- {FALSE} `", 2),
        (f"# a ` b\n{FALSE} `", 2),
        (f"a ` b\n\n{FALSE} `", 3),
        (f"| a ` | {FALSE} ` |\n|---|---|", 1),
        (f"| a | b |\n|---|---|\n| ` | {FALSE} ` |", 3),
        (f"- ```\n  code\n{FALSE}", 3),
        (f"> ```\n{FALSE}\n\n```\n```", 2),
        (f"<!--\n```\n-->\n{FALSE}\n\n<!--\n```\n-->", 4),
        (f"<pre>\n```\n</pre>\n{FALSE}\n\n<pre>\n```\n</pre>", 4),
        (f"\f~~~\n{FALSE}\n\f~~~", 2),
        (f"\u2028~~~\n{FALSE}\n\u2028~~~", 2),
        (f"a\u2028```\n{FALSE}\n\n```\n```", 2),
        (f"    ```\n{FALSE}\n    ```", 2),
        (f"`` a\nb ``\n<b\n>\n{FALSE}", 5),
        ("[0.999](\nreceipt:run-one#sr/on) [0.722](receipt:run-one#sr/on)", 1),
        (f"[0.722](\nreceipt:run-one#sr/on)\r{FALSE}", 3),
        ("<receipt:run-one#sr/on>", 1),
        ("0.999 <receipt:run-one#sr/on>", 1),
        ("[0.7\n22](receipt:run-one#sr/on)", 1),
        ("[0.722<b>2</b>](receipt:run-one#sr/on)", 1),
        ("[0.722 ![and 1](picture.png)](receipt:run-one#sr/on)", 1),
    ],
)
def test_nothing_hides_a_false_figure_that_a_reader_is_shown(root: Path, text: str, line: int) -> None:
    beside = "[0.722](receipt:run-one#sr/on)\n\n"
    told = problem(root, beside + text)
    assert told.startswith(f"{line + 2}: sr/on/all of run-one: ")


def test_what_is_nested_too_deep_to_be_read_is_no_pass(root: Path) -> None:
    assert "1: sr/on/all of run-one" in problem(root, "> " * 90 + FALSE)
    assert "1: nested too deep in lists or quotes to be read" in problems(root, "> " * 100 + FALSE)
    assert "1: nested too deep in lists or quotes to be read" in problems(root, "- " * 300 + FALSE)


def test_a_heap_of_brackets_is_no_abort(root: Path) -> None:
    assert check(root, "[![" * 3000).problems == []
    assert problems(root, "![" * 90 + "a" + f"](receipt:{'x' * 9})" * 90)


@pytest.mark.parametrize(
    "name", ["x" * 5000, "./" + "x" * 5000, "x/" * 2500, "a%00/b", "receipts/bench/one/summary.json/"]
)
def test_a_target_that_is_no_path_is_a_problem_of_its_line(root: Path, name: str) -> None:
    assert problem(root, f"\n[0.722](receipt:{name}#sr/on)").startswith("2: ")


# Names


def test_a_receipt_is_named_by_folder_run_id_or_digest(root: Path) -> None:
    one = digest(root)
    for name in ("receipts/bench/one", "./receipts/bench/one/", "run-one", one, one[:12], f"run-one@{one[:12]}"):
        prose = check(root, f"[0.722](receipt:{name}#sr/on)")
        assert (prose.problems, prose.figures) == ([], 1), name
        assert prose.receipts[name].sha256 == one


def test_a_folder_that_was_moved_is_found_by_its_run_id(root: Path) -> None:
    assert check(root, "[0.722](receipt:elsewhere/run-one#sr/on)").problems == []


def test_another_receipt_under_the_same_name_is_found(root: Path) -> None:
    told = problem(root, f"[0.722](receipt:receipts/bench/one@{'0' * 12}#sr/on)")
    assert told == f"1: receipt receipts/bench/one is another one: its sha256 is {digest(root)}, {'0' * 12} is written"


@pytest.mark.parametrize("short", ["", "0" * 11, "xyz", "0" * 65])
def test_what_is_no_digest_vouches_for_nothing(root: Path, short: str) -> None:
    assert check(root, f"[0.9](receipt:run-one@{short}#sr/on)").problems


@pytest.mark.parametrize("name", ["run-none", "receipts/none", "0" * 64])
def test_a_receipt_that_is_not_there_is_said_to_be_missing(root: Path, name: str) -> None:
    (only,) = check(root, f"[0.722](receipt:{name}#sr/on)").problems
    assert only.missing
    assert "is not there" in only.message


@pytest.mark.parametrize(("name", "why"), [("run-tampered", "does not verify"), ("receipts/cut", "was interrupted")])
def test_a_receipt_that_does_not_hold_is_no_missing_one(root: Path, name: str, why: str) -> None:
    (only,) = check(root, f"[0.722](receipt:{name}#sr/on)").problems
    assert not only.missing
    assert why in only.message


# Tables

LONG = """
<!-- receipt: run-one -->

| `metric` | condition | value | interval | n | excluded |
|---|---|---:|---|---|---|
| sr | on | 0.722 | [0.560, 0.842] | 36 | 0 |
| `sr` | off | 0.333 | – | 36 | 0 |
"""

WIDE = """
<!-- a note -->
<!-- receipt: run-two -->
<!-- another
<a href="receipt:that nobody is shown"> -->
| system | note | n | recall_all@1 | interval | **mrr** |
|:--|---|---|---|---|---|
| first | fast | 4 | 0.50 | [0.150, 0.850] | 1.0 |
| second | slow | 4 | 50 % [15, 85] % | [0.150, 0.850] | 1.0 |
"""


def test_a_table_of_metrics_is_compared_cell_by_cell(root: Path) -> None:
    assert problem(root, LONG).startswith("7: sr/off/all of run-one: nothing in the text, [0.2")
    good = LONG.replace("| – |", "| [0.202, 0.497] |")
    assert (check(root, good).problems, check(root, good).figures) == ([], 8)
    for written, other in (("0.722", "0.712"), ("0.842]", "0.851]"), ("| 36 | 0 |\n| `sr`", "| 36 | 1 |\n| `sr`")):
        assert len(problems(root, good.replace(written, other))) == 1, written


def test_a_table_with_a_column_a_metric_is_compared_cell_by_cell(root: Path) -> None:
    assert (check(root, WIDE).problems, check(root, WIDE).figures) == ([], 8)
    for written, other in (
        ("0.50", "0.51"),
        ("| 4 | 50", "| 5 | 50"),
        ("15, 85", "16, 85"),
        ("1.0 |\n| sec", "0.9 |\n| sec"),
    ):
        assert len(problems(root, WIDE.replace(written, other))) == 1, written


def test_an_interval_is_of_the_metric_before_it_and_n_of_the_first(root: Path) -> None:
    table = """<!-- receipt: run-two -->
| n | system | recall_all@1 | interval | mrr | interval |
|---|---|---|---|---|---|
| 4 | first | 0.5 | [0.15, 0.85] | 1 | [1.00, 1.00] |"""
    assert (check(root, table).problems, check(root, table).figures) == ([], 5)
    assert problem(root, table.replace("[1.00, 1", "[0.99, 1")).startswith("4: mrr/first/all")
    assert problem(root, table.replace("| 4 |", "| 5 |")).startswith("4: recall_all@1/first/all")


def test_a_column_of_figures_that_no_metric_has_is_found(root: Path) -> None:
    assert problems(root, WIDE.replace("**mrr**", "mr")) == [
        f"{line}: mr/{system}/all of run-two: the receipt has no such metric (did you mean 'mrr'?)"
        for line, system in ((8, "first"), (9, "second"))
    ]


def test_a_row_of_another_length_or_a_table_without_figures_is_no_pass(root: Path) -> None:
    assert any(
        "5 cells, 6 in the head" in told for told in problems(root, LONG.replace(" | 36 | 0 |\n| `", " | 36 |\n| `"))
    )
    assert "has no figure of it" in problem(root, "<!-- receipt: run-one -->\n| a | b |\n|---|---|\n| c | d |")


def test_without_a_column_for_it_a_row_is_of_on_or_of_the_only_system(root: Path) -> None:
    assert check(root, "<!-- receipt: run-one -->\n| sr |\n|---|\n| 0.722 |").problems == []
    assert "no such system" in problem(root, "<!-- receipt: run-two -->\n| mrr |\n|---|\n| 1.0 |")


@pytest.mark.parametrize("name", ["mean recall", "Values", "sr", "", "figure"])
@pytest.mark.parametrize("cell", ["9.9", "**9.9**", "<b>9.9</b>", "9.9 [9.8, 9.95]"])
def test_a_column_of_figures_that_nobody_reads_is_no_pass(root: Path, name: str, cell: str) -> None:
    table = f"<!-- receipt: run-one -->\n\n| metric | Value | {name} |\n|---|---|---|\n| sr | 0.722 | {cell} |"
    assert problem(root, table).startswith(f"3: column {name!r} cannot be read")
    assert problems(root, table.replace(cell, "a note")) == []


@pytest.mark.parametrize("name", ["condition", "Memory", "SYSTEM", "group", "type", "metric"])
def test_two_columns_that_say_what_a_row_is_of_are_no_pass(root: Path, name: str) -> None:
    head, row = "| metric | condition | group", "| sr | on | all"
    table = f"<!-- receipt: run-one -->\n\n{head} | value |\n|---|---|---|---|\n{row} | 0.722 |"
    assert problems(root, table) == []
    twice = table.replace(head, f"{head} | {name}").replace("|---|", "|---|---|", 1).replace(row, f"{row} | all")
    assert any("say the same thing twice" in told for told in problems(root, twice))


def test_columns_are_known_whatever_their_case(root: Path) -> None:
    table = (
        "<!-- receipt: run-one -->\n| Metric | CONDITION | Value | N |\n|---|---|---|---|\n| sr | off | 0.333 | 36 |"
    )
    assert (check(root, table).problems, check(root, table).figures) == ([], 2)
    assert problem(root, table.replace("0.333", "0.999")).startswith("4: sr/off/all of run-one: '0.999'")


def test_a_second_arm_in_a_table_with_a_column_a_metric_is_no_pass(root: Path) -> None:
    told = problem(root, WIDE.replace("| note |", "| memory |"))
    assert told.startswith("6: columns system and memory say the same thing twice")


def test_a_table_is_found_wherever_it_stands_and_cells_are_as_they_are_shown(root: Path) -> None:
    table = "<!-- receipt: run-one -->\n\nmetric | value\n:-|-:\n`sr` | **0.722**\nsr | 0.999"
    assert problem(root, table).startswith("6: sr/on/all of run-one: '0.999'")
    assert problem(root, table.replace("\n", "\n> ").replace("<", "> <", 1)).startswith("6: sr/on/all")
    assert problems(root, "\n> ".join(LONG.replace("| – |", "| [0.202, 0.497] |").splitlines())) == []
    assert problem(root, "- " + table.replace("\n", "\n  ")).startswith("6: sr/on/all")
    assert problem(root, table.replace("\n", "\r")).startswith("6: sr/on/all of run-one: '0.999'")
    assert "<del>" in problem(root, table.replace("0.999", "<del>0.722</del>"))


def test_a_name_reaches_out_of_a_list_and_not_into_one(root: Path) -> None:
    table = "| sr |\n|---|\n| 0.999 |"
    assert problem(root, f"- <!-- receipt: run-one -->\n\n{table}").startswith("5: sr/on/all")
    nested = "\n  ".join(["", *table.splitlines()]).replace("  ", "- ", 1)
    assert "named before neither" in problem(root, f"<!-- receipt: run-one -->{nested}")
    assert "named before neither" in problem(root, f"- <!-- receipt: run-one -->\n- text\n\n{table}")


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- RECEIPT: run-one -->",
        "<!--receipt:run-one-->",
        "<!--\nreceipt: run-one\n-->",
        "<!--\n\nreceipt:\n\nrun-one\n-->",
    ],
)
def test_a_comment_names_a_receipt_however_it_is_laid_out(root: Path, comment: str) -> None:
    prose = check(root, f"{comment}\n| sr |\n|---|\n| 0.722 |")
    assert (prose.problems, prose.figures) == ([], 1)
    assert "'0.999' in the text" in problem(root, f"{comment}\n| sr |\n|---|\n| 0.999 |")


def test_a_table_that_no_comment_names_a_receipt_for_is_not_looked_at(root: Path) -> None:
    assert check(root, LONG.replace("<!-- receipt: run-one -->", "text")).figures == 0


@pytest.mark.parametrize("after", ["", "\nJust text.", "\n# Heading", "\n<!-- receipt: run-two -->\n| mrr |"])
def test_a_name_before_neither_a_table_nor_a_fence_is_no_pass(root: Path, after: str) -> None:
    told = problems(root, f"<!-- receipt: run-one -->{after}")
    assert "1: receipt run-one is named before neither a table nor a fence" in told


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- receipt -->",
        "<!-- receipt: a b -->",
        "<!-- Receipt run-one -->",
        "<!-- receipt: run-one",
        "<!-- receipt: run-one --> text",
        "text <!-- receipt: run-one --> text",
        "text\n    <!--\n receipt: run-one -->",
        "# Title <!-- receipt: run-one -->",
        "| <!-- receipt: run-one --> |\n|---|",
        "<div><!-- receipt: run-one --></div>",
        "<pre>\n<!-- receipt: run-one -->\n</pre>",
        "<!-- a note\n<!-- receipt: run-one -->",
    ],
)
def test_a_comment_that_cannot_be_read_is_no_pass(root: Path, comment: str) -> None:
    assert "a comment that cannot be read" in problem(root, comment)


# Output of commands

SHOWN = """<!-- receipt: run-one -->
```text
$ smriti bench
SUMMARY
run run-one
sr  0.722

receipt anywhere/one
nox > smriti verify anywhere/one
ok  manifest: good
ok  tasks: the 12 tasks are here
VERIFIED  anywhere/one
```
"""


def test_output_is_the_receipts_line_by_line(root: Path) -> None:
    """But for blank lines, commands, and whether this machine has the tasks."""
    prose = check(root, SHOWN)
    assert (prose.problems, prose.output_lines) == ([], 7)


@pytest.mark.parametrize(
    ("written", "other", "line"),
    [
        ("0.722", "0.723", 6),
        ("run run-one", "run run-two", 5),
        ("good", "bad", 10),
        ("VERIFIED  anywhere", "VERIFIED  else", 12),
        ("receipt anywhere/one", "receipt anywhere/two", 8),
    ],
)
def test_a_changed_line_of_output_is_found(root: Path, written: str, other: str, line: int) -> None:
    assert any(told.startswith(f"{line}: ") for told in problems(root, SHOWN.replace(written, other)))


def test_the_verdict_may_be_cut_and_the_summary_may_not(root: Path) -> None:
    assert check(root, SHOWN.replace("VERIFIED  anywhere/one\n", "")).problems == []
    without = "\n".join(line for line in SHOWN.splitlines() if line.startswith(("<", "`", "SUM", "run")))
    assert "the summary is cut: 2 lines, 4 by receipt run-one" in problem(root, without)
    empty = "<!-- receipt: run-one -->\n```\n```"
    assert "the summary is cut" in problem(root, empty)


def test_a_line_more_than_the_receipt_prints_is_found(root: Path) -> None:
    more = SHOWN.replace("```\n", "and more\n```\n").replace("```text", "```text", 1)
    assert "13: 'and more' is not what receipt run-one prints" in problems(root, more)


def test_a_dropped_or_repeated_line_is_found(root: Path) -> None:
    assert problems(root, SHOWN.replace("sr  0.722\n", ""))
    assert problems(root, SHOWN.replace("sr  0.722\n", "sr  0.722\nsr  0.722\n"))


def test_a_fence_that_is_never_closed_is_compared_to_its_end(root: Path) -> None:
    assert check(root, SHOWN.removesuffix("```\n")).problems == []
    assert problems(root, SHOWN.removesuffix("```\n") + "more")


def test_output_is_compared_wherever_its_fence_stands(root: Path) -> None:
    changed = SHOWN.replace("0.722", "0.999").rstrip().splitlines()
    for first, others in (("> ", "> "), ("1. ", "   "), ("- > ", "  > ")):
        quoted = "\n".join((others if number else first) + line for number, line in enumerate(changed))
        assert problem(root, quoted).startswith("6: 'sr  0.999' in the text")


def test_a_line_of_output_ends_where_a_line_of_the_text_does(root: Path) -> None:
    for mark in "\f\u2028\x85":
        assert problem(root, SHOWN.replace("sr  0.722\n", f"$ mine{mark}0.9\nsr  0.722{mark}0.9\n")).startswith(
            "7: 'sr "
        )


def test_a_receipt_has_the_name_that_a_reader_would_write(root: Path) -> None:
    assert set(check(root, "[0.722](receipt:run%2Done#sr/on)").receipts) == {"run-one"}


@pytest.mark.parametrize("text", [f"{MARK}\n", f"# Claim\r\n{MARK}\r\n", f"a\r{MARK}", f"> {MARK} and more"])
def test_a_mark_makes_a_text_a_claim_wherever_it_stands(tmp_path: Path, text: str) -> None:
    (told,) = check_prose(tmp_path / "README.md", text, [], render).problems
    assert "claim.json beside it cannot be read" in told.message


def test_what_a_machine_can_tell_of_a_receipt_is_asked_of_it(root: Path) -> None:
    """`look` may refuse what the receipt itself leaves open."""
    looked: list[Verdict] = []

    def look(verdict: Verdict) -> Verdict:
        looked.append(verdict)
        return dataclasses.replace(
            verdict, state="refused", checks=(Check("data set", ok=False, detail="another one"),)
        )

    prose = check_prose(root / "README.md", "[0.722](receipt:run-one#sr/on)", [root / "receipts"], render, look=look)
    assert len(looked) == 1
    assert "does not verify: data set: another one" in prose.problems[0].message


# A claim is such a text itself


def test_every_figure_of_a_claim_is_found_and_right(root: Path) -> None:
    claim = make_claim([root / "receipts" / "bench" / "one", root / "receipts" / "two"])
    assert isinstance(claim, Claim)
    text = markdown(claim)
    (root / "claim.json").write_text(claim.model_dump_json(by_alias=True))
    prose = check(root, text)
    assert prose.problems == []
    figures = sum(len(section.figures) for section in claim.receipts)
    assert prose.figures > 5 * figures
    for number, line in enumerate(text.splitlines()):
        if line.startswith("| sr |"):
            changed = text.splitlines()
            changed[number] = (
                line.replace("| 0.7222 |", "| 0.7223 |")
                .replace("| 0.722 |", "| 0.723 |")
                .replace("| 0.333 |", "| 0.334 |")
            )
            assert len({problem.partition(":")[0] for problem in problems(root, "\n".join(changed) + "\n")}) == 1


# Rounding


@given(value=st.floats(-1e3, 1e3), places=st.integers(0, 8), percent=st.booleans())
def test_what_python_writes_is_right_and_a_unit_more_is_not(value: float, places: int, percent: bool) -> None:
    shown = value * 100 if percent else value
    sign = " %" if percent else ""
    stated = Stated(value, Interval(low=value, high=value, level=0.95, method="m"), 1, 0)
    written = f"{shown:.{places}f}"
    if abs(value) < 10 and not places and value != int(value):
        return  # a rate needs a digit after the point
    if not percent:  # a product of floats may lie on the other side of a tie
        assert list(unlike(f"{written}{sign}", stated, "figure")) == []
    beyond = f"{float(written) + 2 * 10**-places:.{places}f}"
    assert list(unlike(f"{beyond}{sign}", stated, "figure"))


def test_a_run_id_that_two_receipts_have_names_neither(root: Path) -> None:
    shutil.copytree(root / "receipts/bench/one", root / "receipts/other/one")
    text = "[0.722](receipt:run-one#sr/on/all)"
    assert problems(root, text) == [], "the same receipt twice is one"
    path = root / "receipts/other/one" / SUMMARY
    path.write_bytes(path.read_bytes().replace(b"2026", b"2027", 1))
    assert "is more than one" in problem(root, text)


def test_a_tie_may_be_written_either_way() -> None:
    stated = Stated(0.125, None, 1, 0)
    assert [list(unlike(text, stated, "value")) for text in ("0.12", "0.13", "12.5 %", "12 %", "13 %")] == [[]] * 5
    assert list(unlike("0.14", stated, "value"))


def test_nothing_stands_for_nothing_alone() -> None:
    nothing = Stated(None, None, 0, 3)
    assert list(unlike("–", nothing, "value")) == []
    assert list(unlike("0", nothing, "value"))
    assert list(unlike("–", Stated(0.0, None, 1, 0), "value"))
