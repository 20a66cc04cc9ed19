"""Bad tasks, one flaw each: the good task, copied and spoiled so that one rule, and no other, refuses it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

GOOD = Path(__file__).parent / "good" / "unpaid-mark"

Spoil = Callable[[Path], None]
"""Puts one flaw into the copy of the good task that it is given; the folder above the copy is free for its use."""

SPOILED: dict[str, list[Spoil]] = {}
"""Rule → what it refuses."""

HARMLESS: list[Spoil] = []
"""Changes that no rule may refuse."""


def copy_good(directory: Path) -> Path:
    """Copy the good task below `directory` and return its folder."""
    return Path(shutil.copytree(GOOD, directory / GOOD.name))


def edit_json(folder: Path, **fields: Any) -> None:
    """Replace fields of task.json."""
    path = folder / "task.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def edit_memory(folder: Path, number: int, **fields: Any) -> None:
    """Replace fields of one planted memory, counted from 0."""
    memories = json.loads((folder / "task.json").read_text())["planted_memories"]
    memories[number] |= fields
    edit_json(folder, planted_memories=memories)


def replace(folder: Path, file: str, old: str, new: str) -> None:
    """Replace `old`, which must be there, in a file of the task."""
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


def append(folder: Path, file: str, text: str) -> None:
    """Add to the end of a file of the task, or make it."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + text)


def prepend(folder: Path, file: str, text: str) -> None:
    """Put `text` before what a file of the task holds."""
    (folder / file).write_text(text + (folder / file).read_text())


def write_history(folder: Path, *earlier: Mapping[str, str], messages: Sequence[str] = ()) -> None:
    """Write a history of whole trees: `earlier`, oldest first, and then repo_fixture/ as it is now."""
    fixture = folder / "repo_fixture"
    tip = {path.relative_to(fixture).as_posix(): path for path in sorted(fixture.rglob("*")) if path.is_file()}
    trees = [*earlier, {name: path.read_text() for name, path in tip.items()}]
    stream = "".join(
        _commit(tree, messages[number] if number < len(messages) else f"Change {number}", 1_700_000_000 + number)
        for number, tree in enumerate(trees)
    )
    (folder / "history.fast-import").write_text(stream)


def _commit(tree: Mapping[str, str], message: str, seconds: int) -> str:
    files = "".join(
        f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n" for name, text in sorted(tree.items())
    )
    return (
        f"commit refs/heads/main\ncommitter Dev <dev@example.com> {seconds} +0000\n"
        f"data {len(message.encode())}\n{message}\ndeleteall\n{files}\n"
    )


def spoils(rule: str) -> Callable[[Spoil], Spoil]:
    """Register a bad task under the rule that refuses it."""

    def register(spoil: Spoil) -> Spoil:
        SPOILED.setdefault(rule, []).append(spoil)
        return spoil

    return register


def harmless(spoil: Spoil) -> Spoil:
    """Register a change after which the task is still good."""
    HARMLESS.append(spoil)
    return spoil


# schema


@spoils("schema")
def broken_json(folder: Path) -> None:
    append(folder, "task.json", ",")


@spoils("schema")
def repeated_key(folder: Path) -> None:
    replace(folder, "task.json", '"version": 1,', '"version": 2, "version": 1,')


@spoils("schema")
def repeated_key_in_a_memory(folder: Path) -> None:
    replace(folder, "task.json", '"source_id": "m1"', '"source_id": "m0", "source_id": "m1"')


@spoils("schema")
def unknown_field(folder: Path) -> None:
    edit_json(folder, difficulty="hard")


@spoils("schema")
def number_as_text(folder: Path) -> None:
    edit_json(folder, version="1")


@spoils("schema")
def unknown_role(folder: Path) -> None:
    edit_memory(folder, 0, role="hint")


@spoils("schema")
def version_zero(folder: Path) -> None:
    edit_json(folder, version=0)


@spoils("schema")
def not_utf8(folder: Path) -> None:
    (folder / "task.json").write_bytes(b'{"id": "\xff"}')


# parts


@spoils("parts")
def no_description(folder: Path) -> None:
    (folder / "task.json").unlink()


@spoils("parts")
def empty_description(folder: Path) -> None:
    (folder / "task.json").write_text("")


@spoils("parts")
def no_naive(folder: Path) -> None:
    shutil.rmtree(folder / "naive")


@spoils("parts")
def only_caches_in_hidden(folder: Path) -> None:
    shutil.rmtree(folder / "hidden")
    append(folder, "hidden/__pycache__/check.pyc", "cache")


@spoils("parts")
def solution_is_a_file(folder: Path) -> None:
    shutil.rmtree(folder / "solution")
    append(folder, "solution", "row() { :; }\n")


@spoils("parts")
def misnamed_history(folder: Path) -> None:
    write_history(folder)
    (folder / "history.fast-import").rename(folder / "history.fastimport")


@spoils("parts")
def fixture_elsewhere(folder: Path) -> None:
    edit_json(folder, repo_fixture="../repo_fixture")


# identity


@spoils("identity")
def id_of_another_folder(folder: Path) -> None:
    edit_json(folder, id="unpaid-marks")


@spoils("identity")
def repeated_source_id(folder: Path) -> None:
    edit_memory(folder, 1, source_id="m1")


@spoils("identity")
def realm_of_no_project(folder: Path) -> None:
    edit_memory(folder, 1, realm="ledger-import")


@spoils("identity")
def realm_in_capitals(folder: Path) -> None:
    edit_memory(folder, 1, realm="project:Ledger")


# path


@spoils("path")
def link_in_the_fixture(folder: Path) -> None:
    (folder / "repo_fixture/READ.md").symlink_to("README.md")


@spoils("path")
def link_to_a_folder(folder: Path) -> None:
    (folder / "hidden/more").symlink_to(folder.parent)


@spoils("path")
def solution_is_a_link(folder: Path) -> None:
    (folder / "solution").rename(folder.parent / "elsewhere")
    (folder / "solution").symlink_to("../elsewhere")


@spoils("path")
def description_is_a_pipe(folder: Path) -> None:
    (folder / "task.json").unlink()
    os.mkfifo(folder / "task.json")


@spoils("path")
def link_beside_the_history(folder: Path) -> None:
    write_history(folder)
    (folder / "repo_fixture/lib/row.sh").symlink_to("cell.sh")


@spoils("path")
def repository_in_the_fixture(folder: Path) -> None:
    append(folder, "repo_fixture/.git/HEAD", "ref: refs/heads/main\n")


@spoils("path")
def absolute_program(folder: Path) -> None:
    edit_json(folder, check_cmd=["/bin/sh", "grader/check.sh"])


@spoils("path")
def absolute_option(folder: Path) -> None:
    edit_json(folder, visible_cmd=["sh", "test.sh", "--config=/etc/rows"])


@spoils("path")
def check_above_the_copy(folder: Path) -> None:
    edit_json(folder, check_cmd=["sh", "grader/../../check.sh"])


@spoils("path")
def deliverable_above_the_copy(folder: Path) -> None:
    edit_json(folder, deliverables=["lib/**", "../**"])


# deliverables


@spoils("deliverables")
def solution_changes_what_it_may_not(folder: Path) -> None:
    append(folder, "solution/README.md", "# rows\n")


@spoils("deliverables")
def naive_adds_what_it_may_not(folder: Path) -> None:
    append(folder, "naive/NOTES.md", "a note\n")


@spoils("deliverables")
def naive_repeats_the_fixture(folder: Path) -> None:
    shutil.copy(folder / "repo_fixture/rows.sh", folder / "naive/rows.sh")


@spoils("deliverables")
def hidden_overwrites_the_fixture(folder: Path) -> None:
    shutil.copy(folder / "repo_fixture/test.sh", folder / "hidden/test.sh")


@spoils("deliverables")
def hidden_overwrites_a_deliverable(folder: Path) -> None:
    append(folder, "solution/lib/mark.sh", "# the mark\n")
    append(folder, "hidden/lib/mark.sh", "# the mark\n")


@spoils("deliverables")
def hidden_needs_a_folder_where_a_file_is(folder: Path) -> None:
    append(folder, "hidden/test.sh/more.sh", "true\n")


# isolated


PYTHON_CHECK = """\
import subprocess, sys
done = subprocess.run(["sh", "grader/check.sh"])
sys.exit(done.returncode)
"""


def check_in_python(folder: Path, *options: str, head: str = "") -> None:
    """Let a Python script ask the shell check, with `options` for its interpreter and `head` as its first line."""
    append(folder, "hidden/grader/check.py", head + PYTHON_CHECK)
    edit_json(folder, check_cmd=["python3", *options, "grader/check.py"], requires=["sh", "python3"])


@harmless
def check_in_isolated_python(folder: Path) -> None:
    check_in_python(folder, "-B", "-I")


@spoils("isolated")
def check_that_is_not_isolated(folder: Path) -> None:
    check_in_python(folder)


@spoils("isolated")
def check_whose_isolation_goes_to_the_script(folder: Path) -> None:
    check_in_python(folder, "-B")
    edit_json(folder, check_cmd=["python3", "-B", "grader/check.py", "-I"])


@spoils("isolated")
def check_that_imports_the_agents_code(folder: Path) -> None:
    append(folder, "repo_fixture/tally/__init__.py", "")
    check_in_python(folder, "-I", head="import os, sys; sys.path.insert(0, os.getcwd()); from tally import __name__\n")


# requires


@spoils("requires")
def requires_nothing(folder: Path) -> None:
    edit_json(folder, requires=[])


@spoils("requires")
def visible_program_not_required(folder: Path) -> None:
    edit_json(folder, visible_cmd=["env", "sh", "test.sh"])


# history


@spoils("history")
def tip_lacks_a_change(folder: Path) -> None:
    write_history(folder)
    append(folder, "repo_fixture/README.md", "\nOne line more.\n")


@spoils("history")
def tip_has_a_file_more(folder: Path) -> None:
    append(folder, "repo_fixture/NEWS.md", "Nothing new.\n")
    write_history(folder)
    (folder / "repo_fixture/NEWS.md").unlink()


@spoils("history")
def tip_has_another_mode(folder: Path) -> None:
    write_history(folder)
    (folder / "repo_fixture/rows.sh").chmod(0o755)


@spoils("history")
def history_of_nothing(folder: Path) -> None:
    (folder / "history.fast-import").write_text("")


@spoils("history")
def history_of_garbage(folder: Path) -> None:
    (folder / "history.fast-import").write_text("no stream\n")


@spoils("history")
def history_of_two_branches(folder: Path) -> None:
    write_history(folder)
    append(folder, "history.fast-import", "reset refs/heads/other\nfrom refs/heads/main\n\n")


# leak


@spoils("leak")
def leak_in_the_prompt(folder: Path) -> None:
    edit_json(folder, prompt="Mark the lines without an amount as owing.")


@spoils("leak")
def leak_in_a_file(folder: Path) -> None:
    append(folder, "repo_fixture/README.md", "\nWho pays late is OWING.\n")


@spoils("leak")
def leak_in_a_file_name(folder: Path) -> None:
    append(folder, "repo_fixture/docs/owing.md", "# Late lines\n")


@spoils("leak")
def leak_in_an_old_blob(folder: Path) -> None:
    write_history(folder, {"README.md": "# rows\n\nLate lines are OWING.\n"})


@spoils("leak")
def leak_in_an_old_path(folder: Path) -> None:
    write_history(folder, {"docs/OWING/list.md": "# Late lines\n"})


@spoils("leak")
def leak_in_a_commit_message(folder: Path) -> None:
    write_history(folder, {"README.md": "# rows\n"}, messages=["Mark late lines as OWING", "Drop the mark"])


@spoils("leak")
def leak_in_a_tag(folder: Path) -> None:
    write_history(folder)
    message = "The owing release"
    tag = (
        f"tag v1\nfrom refs/heads/main\ntagger Dev <dev@example.com> 1700000009 +0000\ndata {len(message)}\n{message}\n"
    )
    append(folder, "history.fast-import", tag)


@spoils("leak")
def leak_that_no_branch_reaches(folder: Path) -> None:
    write_history(folder, {"README.md": "Late lines are OWING.\n"})
    stream = (folder / "history.fast-import").read_text()
    first, second = stream.split("commit refs/heads/main\n")[1:]
    start = "commit refs/heads/main\n"
    cut = "reset refs/heads/main\n\n"
    (folder / "history.fast-import").write_text(start + first + cut + start + second)


@spoils("leak")
def terms_of_a_deducible_task(folder: Path) -> None:
    edit_json(folder, deducible=True)


# the visible tests


@spoils("visible-test-states-convention")
def test_of_the_length_of_the_mark(folder: Path) -> None:
    append(folder, "repo_fixture/test.sh", 'row=$(echo ann | sh rows.sh)\ntest "${#row}" -eq 9\n')
    prepend(folder, "repo_fixture/test.sh", "set -e\n")


@spoils("visible-contradicts-solution")
def test_of_the_length_of_the_naive_mark(folder: Path) -> None:
    append(folder, "repo_fixture/test.sh", 'row=$(echo ann | sh rows.sh)\ntest "${#row}" -eq 8\n')
    prepend(folder, "repo_fixture/test.sh", "set -e\n")


@spoils("naive-fails-visible")
def test_that_nothing_passes(folder: Path) -> None:
    append(folder, "repo_fixture/test.sh", "echo no\nexit 1\n")


@spoils("naive-fails-visible")
def no_such_test(folder: Path) -> None:
    edit_json(folder, visible_cmd=["sh", "tests.sh"])


# the check


@spoils("fixture-passes")
def check_content_with_an_empty_cell(folder: Path) -> None:
    replace(folder, "hidden/grader/check.sh", 'test "$found" = "$2"', 'test "$found" = "$2" || test "$found" = bob,')


@spoils("solution-fails")
def check_of_another_mark(folder: Path) -> None:
    replace(folder, "hidden/grader/check.sh", "bob,OWING", "bob,OWING!")


@spoils("solution-fails")
def check_that_fails_every_fifth_time(folder: Path) -> None:
    count = folder.parent / "count"
    append(folder, "hidden/grader/check.sh", "")
    prepend(folder, "hidden/grader/check.sh", f"echo run >> {count}\ntest $(wc -l < {count}) -lt 5 || exit 1\n")


@spoils("solution-fails")
def check_that_cannot_be_started(folder: Path) -> None:
    edit_json(folder, check_cmd=["sh", "grader/checks.sh"])


@spoils("naive-passes")
def check_content_with_any_mark(folder: Path) -> None:
    replace(
        folder, "hidden/grader/check.sh", 'test "$found" = "$2"', 'test "$found" = "$2" || test "$found" = bob,none'
    )


@spoils("passes-on-nothing")
def check_content_with_no_output(folder: Path) -> None:
    replace(
        folder, "hidden/grader/check.sh", 'test "$found" = "$2"', 'test "$found" = "$2" || test -z "$(cat lib/cell.sh)"'
    )


@spoils("check-slow")
def check_that_waits_for_the_fixture(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'test "$(echo bob | sh rows.sh)" != bob, || sleep 30\n')
    edit_json(folder, timeout_s=0.5)


@spoils("check-slow")
def check_that_waits_for_the_solution(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'test "$(echo bob | sh rows.sh)" != bob,OWING || sleep 30\n')
    edit_json(folder, timeout_s=0.5)


@spoils("check-slow")
def check_that_leaves_a_file_and_waits(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'touch "$TMPDIR/found"\nsleep 30\n')
    edit_json(folder, timeout_s=0.2)


@spoils("check-writes-outside")
def check_that_writes_to_home(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'mkdir "$HOME/.cache"\n')


@spoils("check-writes-outside")
def check_that_leaves_a_temporary_file(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'touch "$TMPDIR/found"\n')


@spoils("check-writes-outside")
def check_that_writes_beside_the_copy(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", "touch ../found\n")


@spoils("check-writes-outside")
def check_that_writes_above_its_root(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", "touch ../../found\n")


@spoils("check-writes-outside")
def check_that_removes_its_home(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'rmdir "$HOME"\n')


@spoils("check-writes-outside")
def check_that_writes_to_its_task(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", f"touch {folder}/found\n")


@spoils("check-writes-outside")
def check_that_changes_its_task(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", f"echo more >> {folder}/repo_fixture/README.md\n")


# what may be found, and what must be


@spoils("fixture-literal")
def string_that_the_fixture_has(folder: Path) -> None:
    append(folder, "repo_fixture/README.md", "\nThe reader stops at a row-of-dots line.\n")
    append(folder, "solution/lib/cell.sh", "stop='row-of-dots'\n")
    append(folder, "hidden/grader/check.sh", '# stop="row-of-dots"\n')


@spoils("fixture-literal")
def number_that_the_fixture_has(folder: Path) -> None:
    append(folder, "repo_fixture/lib/limits.sh", "bytes=4096\n")
    append(folder, "solution/lib/cell.sh", "# at most 4096 bytes\n")
    append(folder, "hidden/grader/check.sh", "# at most 4096.\n")


@spoils("memory-lacks")
def memory_without_the_term(folder: Path) -> None:
    edit_memory(folder, 0, content="In the rows report a line without an amount gets a mark.")


@spoils("memory-lacks")
def term_in_a_distractor_alone(folder: Path) -> None:
    edit_memory(folder, 0, content="In the rows report a line without an amount gets a mark.")
    edit_memory(folder, 1, content="The neighbours' tool reads OWING as zero.")


@spoils("memory-lacks")
def no_needed_memory(folder: Path) -> None:
    edit_memory(folder, 0, role="distractor")


@spoils("memory-lacks")
def no_leak_terms(folder: Path) -> None:
    edit_json(folder, leak_terms=[])


@spoils("memory-lacks")
def solution_without_the_term(folder: Path) -> None:
    replace(folder, "solution/lib/cell.sh", '"${2:-OWING}"', '"${2:-OW""ING}"')


@spoils("memory-lacks")
def hidden_without_the_term(folder: Path) -> None:
    replace(folder, "hidden/grader/check.sh", "'bob,OWING'", "bob,OW'ING'")


@spoils("memory-lacks")
def naive_with_the_term(folder: Path) -> None:
    append(folder, "naive/lib/cell.sh", "# was: owing\n")


# good tasks


@harmless
def nothing_at_all(folder: Path) -> None:
    pass


@harmless
def a_history(folder: Path) -> None:
    write_history(folder, {"README.md": "# rows\n"}, {"rows.sh": "cat\n", "old/rows.sh": "cat\n"})


@harmless
def a_deducible_task_with_a_shared_literal(folder: Path) -> None:
    string_that_the_fixture_has(folder)
    edit_json(folder, deducible=True, leak_terms=[])


@harmless
def a_literal_that_the_prompt_has(folder: Path) -> None:
    string_that_the_fixture_has(folder)
    edit_json(folder, prompt="Mark lines that have no amount. Stop at row-of-dots.")


@harmless
def a_literal_that_a_memory_has(folder: Path) -> None:
    number_that_the_fixture_has(folder)
    edit_memory(folder, 1, content="Rows are at most 4096 bytes.")


@harmless
def a_literal_inside_a_longer_word(folder: Path) -> None:
    append(folder, "repo_fixture/README.md", "\nRows have 40960 bytes, or row-of-dots_2.\n")
    append(folder, "solution/lib/cell.sh", "# 4096 'row-of-dots'\n")
    append(folder, "hidden/grader/check.sh", "# 4096 'row-of-dots'\n")


@harmless
def a_term_inside_a_longer_word(folder: Path) -> None:
    append(folder, "repo_fixture/README.md", "\nKnowing, following and OWING_2 are other words.\n")


@harmless
def a_check_that_tidies_up_after_itself(folder: Path) -> None:
    prepend(folder, "hidden/grader/check.sh", 'touch "$TMPDIR/found" found\nrm "$TMPDIR/found"\n')


@harmless
def what_interpreters_leave(folder: Path) -> None:
    append(folder, "repo_fixture/__pycache__/rows.pyc", "OWING")
    append(folder, "__pycache__/task.pyc", "cache")


@harmless
def dots_that_climb_nowhere(folder: Path) -> None:
    edit_json(folder, visible_cmd=["sh", "test.sh", "v1..v2", "--from=lib/cell.sh", "..."])
