"""Trees of files: written and read back, told apart, selected, and compared."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from smriti.sandbox import filetree
from smriti.sandbox.filetree import changed_paths, digest, lay, matches, overlay, read_tree, unified_diff, unlock
from smriti.types import File, FileTree
from tests.strategies import file_trees, tree

few = settings(max_examples=40, deadline=None)
bytes_trees = file_trees(st.binary(max_size=20))
lines = st.sampled_from(
    ["a", "b", "", " ", "-- a", "++ b", "\\ No", "é", "\r", "\f", "\v", "\x1c", "\u2028", "\x85", "\t"]
)
texts = st.builds(
    lambda several, end: ("\n".join(several) + end).encode(), st.lists(lines), st.sampled_from(["", "\n"])
)
text_trees = file_trees(texts)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for one example: fixtures of a test are shared by all of its examples."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


# Writing and reading


@few
@given(bytes_trees)
def test_what_is_laid_is_read_back(files: FileTree) -> None:
    with folder() as directory:
        lay(files, directory)
        read, irregular = read_tree(directory)
    assert (read, irregular) == (files, [])
    assert list(read) == sorted(files)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 3_000_000])
def test_a_file_of_any_size_is_laid_whole(tmp_path: Path, size: int) -> None:
    files = {"a/b": File(b"x" * size)}
    lay(files, tmp_path)
    assert read_tree(tmp_path)[0] == files


def test_laying_over_a_file_leaves_nothing_of_it(tmp_path: Path) -> None:
    lay({"tool": File(b"a longer text", executable=True), "kept": File(b"")}, tmp_path)
    lay({"tool": File(b"short")}, tmp_path)
    assert read_tree(tmp_path)[0] == {"tool": File(b"short"), "kept": File(b"")}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_are_755_and_644_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        lay({"tool": File(b"", executable=True), "text": File(b"")}, tmp_path)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o7777 for name in ("tool", "text")] == [0o755, 0o644]


@pytest.mark.parametrize(
    ("mode", "executable"), [(0o644, False), (0o600, False), (0o755, True), (0o744, True), (0o654, True), (0o645, True)]
)
def test_a_file_that_anyone_may_execute_is_executable(tmp_path: Path, mode: int, *, executable: bool) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    assert read_tree(tmp_path)[0]["file"].executable is executable


def test_links_are_told_and_never_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    lay({"secret": File(b"s")}, outside)
    lay({"a/real": File(b"r")}, inside)
    (inside / "to-file").symlink_to(outside / "secret")
    (inside / "to-folder").symlink_to(outside)
    (inside / "to-nothing").symlink_to("nowhere")
    (inside / "to-itself").symlink_to("to-itself")
    (inside / "a" / "up").symlink_to("..")
    files, irregular = read_tree(inside)
    assert files == {"a/real": File(b"r")}
    names = ["a/up", "to-file", "to-folder", "to-itself", "to-nothing"]
    assert irregular == [f"{name}: a symbolic link" for name in names]


def test_a_fifo_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert read_tree(tmp_path) == ({}, ["fifo: not a regular file"])


def test_a_file_over_the_bound_is_told_and_one_at_the_bound_is_read(tmp_path: Path) -> None:
    lay({"at": File(b"1234"), "over": File(b"12345")}, tmp_path)
    assert read_tree(tmp_path, 4) == ({"at": File(b"1234")}, ["over: 5 bytes, over the bound of 4"])
    assert read_tree(tmp_path)[1] == []


def test_what_tools_leave_behind_is_no_part_of_a_tree(tmp_path: Path) -> None:
    ignored = [".git/config", "a/.git/x", "a/__pycache__/m.pyc", "__pycache__/b/c", ".DS_Store", "a/.DS_Store"]
    kept = [".gitignore", ".github/x", "__pycache__x", "a/git", "x.pyc"]
    lay({path: File(b"") for path in [*ignored, *kept]}, tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: elsewhere")
    files, irregular = read_tree(tmp_path)
    assert (sorted(files), irregular) == (sorted(kept), [])


def test_an_empty_folder_is_no_part_of_a_tree(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert read_tree(tmp_path) == ({}, [])


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes no such name")
def test_a_name_that_is_not_utf_8_is_told_in_words_that_are(tmp_path: Path) -> None:
    bad = os.fsencode(tmp_path) + b"/b\xff"
    Path(os.fsdecode(bad)).write_text("x")
    Path(os.fsdecode(bad + b"-folder")).mkdir()
    Path(os.fsdecode(bad + b"-folder/file")).write_text("x")
    files, irregular = read_tree(tmp_path)
    assert files == {}
    assert irregular == ["b?-folder: its name is not UTF-8", "b?: its name is not UTF-8"]
    "".join(irregular).encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    lay({"file": File(b""), "folder/file": File(b""), "listed/file": File(b"")}, tmp_path)
    closed = {"file": 0o000, "folder": 0o000, "listed": 0o400}
    for name, mode in closed.items():
        (tmp_path / name).chmod(mode)
    files, irregular = read_tree(tmp_path)
    for name in closed:
        (tmp_path / name).chmod(0o700)
    assert files == {}
    assert irregular == [f"{name}: cannot be read (Permission denied)" for name in ("file", "folder", "listed/file")]


def test_a_folder_too_deep_for_a_path_is_told(tmp_path: Path) -> None:
    step = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=step)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=step)
        os.close(step)
        step = below
    os.close(step)
    files, (told,) = read_tree(tmp_path)
    shutil.rmtree(tmp_path / ("x" * 250))
    assert files == {}
    assert told.endswith("x: cannot be read (File name too long)")


@pytest.mark.skipif(sys.platform == "darwin", reason="no path is as long")
def test_a_folder_deeper_than_the_stack_is_read(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 1100)
    subprocess.run(["mkdir", "-p", deep], cwd=tmp_path, check=True)
    try:
        (tmp_path / deep / "file").write_text("x")
        assert read_tree(tmp_path) == ({f"{deep}/file": File(b"x")}, [])
    finally:
        subprocess.run(["rm", "-rf", "d"], cwd=tmp_path, check=True)  # Python 3.11 cannot remove it


def test_a_root_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_tree(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        read_tree(tmp_path / "file")


# Telling apart


@few
@given(bytes_trees, bytes_trees)
def test_two_trees_have_one_digest_only_if_they_are_equal(one: FileTree, other: FileTree) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@few
@given(bytes_trees, st.data())
def test_any_change_of_name_mode_or_content_changes_the_digest(files: FileTree, data: st.DataObject) -> None:
    assume(files)
    path = data.draw(st.sampled_from(sorted(files)))
    file, rest = files[path], {other: content for other, content in files.items() if other != path}
    for changed in (
        rest,
        {**rest, path + "x": file},
        {**rest, path: File(file.content, not file.executable)},
        {**rest, path: File(file.content + b"\n", file.executable)},
        {**rest, path: File(b"y" + file.content[1:], file.executable)} if file.content[:1] != b"y" else rest,
    ):
        assert digest(changed) != digest(files)


@few
@given(bytes_trees)
def test_the_digest_does_not_depend_on_the_order(files: FileTree) -> None:
    assert digest(dict(reversed(list(files.items())))) == digest(files)


def test_the_digest_stays_what_receipts_hold() -> None:
    files = {"b": File(b"B"), "a/x": File(b"", executable=True)}
    empty, b = hashlib.sha256(b"").hexdigest(), hashlib.sha256(b"B").hexdigest()
    assert digest(files) == hashlib.sha256(f"a/x\0x\0{empty}\nb\0-\0{b}\n".encode()).hexdigest()


@few
@given(bytes_trees, bytes_trees)
def test_changed_paths_are_what_stands_in_the_way_of_equality(before: FileTree, after: FileTree) -> None:
    changed = changed_paths(before, after)
    assert changed == sorted(set(changed)) == changed_paths(after, before)
    assert bool(changed) == (dict(before) != dict(after))
    kept = {path: file for path, file in before.items() if path not in changed}
    assert kept == {path: file for path, file in after.items() if path not in changed}


def test_changed_paths_are_added_removed_and_altered_in_content_or_mode() -> None:
    before = tree({"same": "s", "gone": "g", "text": "old", "mode": "m"})
    after = tree({"same": "s", "new": "n", "text": "new", "mode": File(b"m", executable=True)})
    assert changed_paths(before, after) == ["gone", "mode", "new", "text"]


@few
@given(bytes_trees, bytes_trees)
def test_an_overlay_can_be_laid_and_holds_the_upper_tree_whole(lower: FileTree, upper: FileTree) -> None:
    both = overlay(lower, upper)
    assert upper.items() <= both.items()
    assert both.items() - upper.items() <= lower.items()
    for path in lower.keys() - both.keys():
        assert any(path.startswith(other + "/") or other.startswith(path + "/") for other in upper)
    with folder() as directory:
        lay(both, directory)
        assert read_tree(directory)[0] == both


def test_an_overlay_puts_folders_over_files_and_files_over_folders() -> None:
    lower = tree({"a": "file", "b/c": "below", "b/d/e": "below", "kept": "k", "shared": "old", "bb": "kept"})
    upper = tree({"a/x/y": "new", "b": "new", "shared": "new"})
    assert overlay(lower, upper) == {**upper, **tree({"kept": "k", "bb": "kept"})}


# Selecting


@pytest.mark.parametrize(
    ("glob", "hits", "misses"),
    [
        ("a.py", ["a.py"], ["b/a.py", "a.pyc", "aXpy", "A.py", "a.py/b"]),
        ("*.py", ["a.py", ".py"], ["b/a.py", "a.py/b", "a.pyx"]),
        ("a/*", ["a/b", "a/.b"], ["a", "a/b/c", "b/a/c"]),
        ("a/*/c", ["a/b/c"], ["a/c", "a/b/b/c"]),
        ("*", ["a", "a b", "a\nb"], ["a/b"]),
        ("**", ["a", "a/b", "a/b/c", ".x/y", "a\nb/c"], []),
        ("a/**", ["a/b", "a/b/c", "a/.b/c"], ["a", "ab/c", "b/a/c"]),
        ("**/a", ["a", "b/a", "b/c/a"], ["ba", "b/ba", "a/b"]),
        ("a/**/c", ["a/c", "a/b/c", "a/b/b/c"], ["ac", "a/bc", "a/c/d"]),
        ("**/*.py", ["a.py", "b/a.py", "b/c/a.py"], ["a.pyc", "b/a"]),
        ("a/**/*", ["a/b", "a/b/c"], ["a", "b/c"]),
        ("?.py", ["a.py", "é.py"], [".py", "ab.py", "/.py"]),
        ("a?b", ["a-b"], ["a/b", "ab"]),
        ("[ab]", ["[ab]"], ["a", "b"]),
        ("a+(b).{c}|^$", ["a+(b).{c}|^$"], ["aa(b).{c}|^$"]),
        ("", [], ["a"]),
    ],
)
def test_a_star_stays_within_a_name_and_two_span_folders(glob: str, hits: list[str], misses: list[str]) -> None:
    assert [path for path in [*hits, *misses] if matches(path, [glob])] == hits


def test_a_path_that_matches_one_of_several_globs_matches() -> None:
    assert matches("a/b", ["x", "a/*"])
    assert not matches("a/b", ["x", "a"])
    assert not matches("a/b", [])


steps = st.text("ab.", min_size=1, max_size=3)


@given(
    st.lists(steps, min_size=1, max_size=4),
    st.lists(
        st.text("ab.*?", min_size=1, max_size=3).filter(lambda step: "**" not in step) | st.just("**"), min_size=1
    ),
)
def test_a_slow_matcher_agrees(path: list[str], glob: list[str]) -> None:
    def slow(names: list[str], patterns: list[str]) -> bool:
        if not patterns or not names:
            return not patterns and not names
        if patterns == ["**"]:
            return True
        if patterns[0] == "**":
            return slow(names, patterns[1:]) or slow(names[1:], patterns)
        return fnmatchcase(names[0], patterns[0]) and slow(names[1:], patterns[1:])

    assert matches("/".join(path), ["/".join(glob)]) == slow(path, glob)


# Comparing


def changed(path: str, before: str | File | None, after: str | File | None) -> str:
    """The diff of one file, None for a file that is not there."""
    old = {} if before is None else tree({path: before})
    new = {} if after is None else tree({path: after})
    return unified_diff(old, new).decode()


@few
@given(bytes_trees)
def test_no_change_is_an_empty_diff(files: FileTree) -> None:
    assert unified_diff(files, files) == b""


def test_a_change_of_text_shows_the_lines_and_their_surroundings() -> None:
    assert changed("a.txt", "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nfive\n6\n") == (
        "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+five\n 6\n"
    )


def test_a_new_file_comes_from_nothing_with_its_mode() -> None:
    assert changed("bin/tool", None, File(b"#!\n", executable=True)) == (
        "diff --git a/bin/tool b/bin/tool\nnew file mode 100755\n--- /dev/null\n+++ b/bin/tool\n@@ -0,0 +1 @@\n+#!\n"
    )


def test_a_deleted_file_goes_to_nothing() -> None:
    assert changed("a", "x\n", None) == (
        "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )


def test_an_empty_file_that_comes_or_goes_is_shown() -> None:
    assert changed("a", None, "") == "diff --git a/a b/a\nnew file mode 100644\n"
    assert changed("a", "", None) == "diff --git a/a b/a\ndeleted file mode 100644\n"


def test_a_change_of_mode_is_shown_alone_and_with_one_of_text() -> None:
    head = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n"
    assert changed("a", "x\n", File(b"x\n", executable=True)) == head
    assert changed("a", "x\n", File(b"y\n", executable=True)) == head + "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"


def test_a_missing_line_feed_at_the_end_is_shown() -> None:
    missing = "\\ No newline at end of file\n"
    assert changed("a", "x", "x\n").endswith(f"-x\n{missing}+x\n")
    assert changed("a", "x\n", "x").endswith(f"-x\n+x\n{missing}")
    assert changed("a", "x", "y").endswith(f"-x\n{missing}+y\n{missing}")


def test_a_line_ends_at_a_line_feed_and_nowhere_else() -> None:
    assert changed("a", "1\f2\r3\u20284\n", "1\f2\r3\u20285\n").endswith(
        "@@ -1 +1 @@\n-1\f2\r3\u20284\n+1\f2\r3\u20285\n"
    )
    assert changed("a", "1\r\n", "1\n").endswith("-1\r\n+1\n")


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (b"\xff", b"\xfe", "a/x and b/x"),
        (b"text\n", b"\xff", "a/x and b/x"),
        (None, b"\xff", "/dev/null and b/x"),
        (b"\xff", None, "a/x and /dev/null"),
    ],
)
def test_a_file_that_is_not_text_is_named_and_not_shown(before: bytes | None, after: bytes | None, names: str) -> None:
    diff = changed("x", None if before is None else File(before), None if after is None else File(after))
    assert diff.startswith("diff --git a/x b/x\n")
    assert diff.endswith(f"Binary files {names} differ\n")
    assert "@@" not in diff


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("é.txt", "a/é.txt"),
        ("a b", '"a/a b"'),
        ('"', r'"a/\""'),
        ("\\", r'"a/\\"'),
        ("\t\n\x7f", r'"a/\011\012\177"'),
    ],
)
def test_a_name_that_is_not_plain_is_quoted_as_git_quotes_it(name: str, written: str) -> None:
    head = changed(name, "", "x").split("\n")[0]
    assert head == f"diff --git {written} {written.replace('a/', 'b/', 1)}"
    assert changed(name, "x\n", "").split("\n")[1] == f"--- {written}"


def test_files_come_in_the_order_of_their_paths() -> None:
    diff = unified_diff(tree({"c": "", "a": "x"}), tree({"b": "y", "c": "z"})).decode()
    heads = [line for line in diff.splitlines() if line.startswith("diff")]
    assert heads == [f"diff --git a/{name} b/{name}" for name in "abc"]


def test_a_diff_over_the_bound_is_cut_between_files_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    after = tree({"a": "a\n" * 9, "b": "b\n" * 99, "c": "c\n"})
    first = unified_diff({}, tree({"a": "a\n" * 9}))
    monkeypatch.setattr(filetree, "MAX_DIFF_BYTES", len(first))
    assert unified_diff({}, tree({"a": "a\n" * 9})) == first
    assert unified_diff({}, after) == first + b"# the rest of the diff is over the bound and was cut\n"
    monkeypatch.setattr(filetree, "MAX_DIFF_BYTES", len(first) - 1)
    assert unified_diff({}, after) == b"# the rest of the diff is over the bound and was cut\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@few
@given(one=text_trees, other=text_trees, similar=st.booleans())
def test_git_makes_the_one_tree_of_the_other_by_the_diff(one: FileTree, other: FileTree, *, similar: bool) -> None:
    before, after = one, overlay(one, other) if similar else other
    diff = unified_diff(before, after)
    assume(diff)
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    with folder() as directory:
        lay(before, directory)
        env |= {"GIT_CEILING_DIRECTORIES": str(directory.parent), "HOME": str(directory)}
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(command, input=diff, cwd=directory, env=env, capture_output=True, check=False)
        assert (done.returncode, done.stderr.decode()) == (0, "")
        assert read_tree(directory)[0] == after


# Rights that were taken away


def test_rights_are_given_back_and_no_link_is_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    lay(tree({"a/b": "x", "a/deep/c": File(b"y", executable=True)}), root / "repo")
    outside.mkdir(mode=0o500)
    (root / "repo" / "link").symlink_to(outside)
    for path in ("repo/a/b", "repo/a/deep", "repo/a", "repo", "."):
        (root / path).chmod(0)
    unlock(root / "repo", root)
    assert [stat.S_IMODE((root / path).stat().st_mode) for path in (".", "repo", "repo/a", "repo/a/b")] == [
        0o700,
        0o700,
        0o700,
        0o400,
    ]
    assert read_tree(root / "repo")[0] == tree({"a/b": "x", "a/deep/c": File(b"y", executable=True)})
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500
    unlock(root / "repo" / "link")
    assert stat.S_IMODE(outside.stat().st_mode) == 0o500


def test_what_is_not_there_cannot_be_unlocked_and_that_is_no_error(tmp_path: Path) -> None:
    unlock(tmp_path / "gone" / "repo", tmp_path)
    assert list(tmp_path.iterdir()) == []
