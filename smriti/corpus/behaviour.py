"""Rules that are settled by running a task: its check and its visible tests, over the fixture and both changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from smriti.corpus.shape import DESCRIPTION, Finding, Reading, read_folder
from smriti.sandbox.filetree import changed_paths, lay
from smriti.sandbox.grading import MAX_CHECK_OUTPUT_BYTES, run_check
from smriti.sandbox.none import command_path, make_cage
from smriti.types import Completed, File, FileTree, TaskFolder

SOLUTION_RUNS = 3
VISIBLE_TIMEOUT_S = 60.0
_CAGE_FOLDERS = frozenset({"repo", "home", "tmp"})


@dataclass(frozen=True)
class CheckRun:
    """One run of check_cmd: over what, how it ended, and what it left outside the graded copy."""

    over: str
    ended: Completed
    strays: tuple[str, ...] = ()


@dataclass(frozen=True)
class Behaviour:
    """How a task behaved; `visible` is by the name of the change."""

    checks: tuple[CheckRun, ...]
    visible: Mapping[str, Completed]
    altered: tuple[str, ...]
    """Files of the task's own folder that are not what they were before."""

    def of(self, over: str) -> list[Completed]:
        """Return the check's runs over `over` that came to an end."""
        return [run.ended for run in self.checks if run.over == over and not run.ended.timed_out]


def observe(task: TaskFolder, before: Reading, scratch: Path) -> Behaviour:
    """Run the check six times and the visible tests twice, each in a fresh cage below `scratch`."""
    naive, solution = {**task.fixture, **task.naive}, {**task.fixture, **task.solution}
    checks = [
        _check("the untouched fixture", task, dict(task.fixture), scratch / "check-fixture"),
        _check("naive/", task, naive, scratch / "check-naive"),
    ]
    emptied = {**solution, **{path: File(b"", file.executable) for path, file in task.solution.items()}}
    checks.append(_check("emptied files", task, emptied, scratch / "check-emptied"))
    for number in range(SOLUTION_RUNS):
        checks.append(_check("solution/", task, solution, scratch / f"check-solution-{number + 1}"))
        if checks[-1].ended.timed_out:
            break
    return Behaviour(
        checks=tuple(checks),
        visible={
            "naive/": _visible(task, naive, scratch / "visible-naive"),
            "solution/": _visible(task, solution, scratch / "visible-solution"),
        },
        altered=tuple(changed_paths(before.tree, read_folder(task.folder).tree)),
    )


def visible_test_states_convention(behaviour: Behaviour) -> Iterator[Finding]:
    """The visible tests do not tell the solution from the naive change: else they state what only a memory should."""
    naive, solution = behaviour.visible["naive/"], behaviour.visible["solution/"]
    if naive.exit_status != 0 and solution.exit_status == 0:
        yield Finding(DESCRIPTION, f"visible_cmd passes solution/ and fails naive/: {_end(naive)}")


def visible_contradicts_solution(behaviour: Behaviour) -> Iterator[Finding]:
    """The visible tests do not pass the naive change and fail the solution."""
    naive, solution = behaviour.visible["naive/"], behaviour.visible["solution/"]
    if naive.exit_status == 0 and solution.exit_status != 0:
        yield Finding(DESCRIPTION, f"visible_cmd passes naive/ and fails solution/: {_end(solution)}")


def naive_fails_visible(behaviour: Behaviour) -> Iterator[Finding]:
    """The naive change passes the visible tests, as the solution does."""
    naive, solution = behaviour.visible["naive/"], behaviour.visible["solution/"]
    if naive.exit_status != 0 and solution.exit_status != 0:
        yield Finding(DESCRIPTION, f"visible_cmd fails naive/ and solution/ alike: {_end(naive)}")


def fixture_passes(behaviour: Behaviour) -> Iterator[Finding]:
    """The check fails the untouched fixture."""
    if any(ended.exit_status == 0 for ended in behaviour.of("the untouched fixture")):
        yield Finding("hidden", "the check passes the untouched fixture: there is nothing to do")


def solution_fails(behaviour: Behaviour) -> Iterator[Finding]:
    """The check passes the solution, three times of three."""
    runs = behaviour.of("solution/")
    failed = [ended for ended in runs if ended.exit_status != 0]
    if failed:
        yield Finding("solution", f"the check fails it in {len(failed)} of {len(runs)} runs: {_end(failed[0])}")


def naive_passes(behaviour: Behaviour) -> Iterator[Finding]:
    """The check fails the naive change: the task needs what the memory says."""
    if any(ended.exit_status == 0 for ended in behaviour.of("naive/")):
        yield Finding("naive", "the check passes it: the memory is not needed")


def passes_on_nothing(behaviour: Behaviour) -> Iterator[Finding]:
    """The check fails the solution with its files emptied: nothing passes because something is absent."""
    if any(ended.exit_status == 0 for ended in behaviour.of("emptied files")):
        yield Finding("hidden", "the check passes where every file of solution/ is empty")


def check_slow(behaviour: Behaviour) -> Iterator[Finding]:
    """The check ends within timeout_s, over the fixture, the naive change and the solution."""
    for run in behaviour.checks:
        if run.ended.timed_out:
            yield Finding("hidden", f"the check of {run.over} was not done after {run.ended.seconds:.1f} s (timeout_s)")


def check_writes_outside(behaviour: Behaviour) -> Iterator[Finding]:
    """The check writes nothing outside the graded copy, and leaves TMPDIR as empty as it was."""
    strays = {(stray, run.over): None for run in behaviour.checks if not run.ended.timed_out for stray in run.strays}
    for stray, over in strays:
        yield Finding("hidden", f"the check of {over} left {stray}")
    for path in behaviour.altered:
        yield Finding(path, "was added, changed or removed while the check ran")


BEHAVIOUR_RULES: dict[str, Callable[[Behaviour], Iterator[Finding]]] = {
    "visible-test-states-convention": visible_test_states_convention,
    "visible-contradicts-solution": visible_contradicts_solution,
    "naive-fails-visible": naive_fails_visible,
    "fixture-passes": fixture_passes,
    "solution-fails": solution_fails,
    "naive-passes": naive_passes,
    "passes-on-nothing": passes_on_nothing,
    "check-slow": check_slow,
    "check-writes-outside": check_writes_outside,
}


def _check(over: str, task: TaskFolder, graded: FileTree, scratch: Path) -> CheckRun:
    root = scratch / "run"
    root.mkdir(parents=True)
    ended = _ended(lambda: run_check(task, graded, root))
    run = CheckRun(over, ended, tuple(_strays(scratch)))
    shutil.rmtree(scratch, ignore_errors=True)
    return run


def _visible(task: TaskFolder, graded: FileTree, scratch: Path) -> Completed:
    cage = make_cage(scratch, command_path(task.task.requires))
    lay(graded, cage.workdir)
    ended = _ended(
        lambda: cage.run(task.task.visible_cmd, timeout_s=VISIBLE_TIMEOUT_S, max_output_bytes=MAX_CHECK_OUTPUT_BYTES)
    )
    shutil.rmtree(scratch, ignore_errors=True)
    return ended


def _ended(run: Callable[[], Completed]) -> Completed:
    """Run it; a command that cannot be started has failed, and says so as a shell would: with exit status 127."""
    try:
        return run()
    except OSError as error:
        return Completed(exit_status=127, stdout=b"", stderr=str(error).encode(), seconds=0.0)


def _strays(scratch: Path) -> Iterator[str]:
    """Yield what stands around the graded copy that `make_cage` did not put there."""
    for entry in sorted(scratch.iterdir()):
        if entry.name != "run":
            yield f"../../{entry.name}"
    root = scratch / "run"
    for entry in sorted(root.iterdir()):
        if entry.name not in _CAGE_FOLDERS:
            yield f"../{entry.name}"
    for name, folder in (("$HOME", root / "home"), ("$TMPDIR", root / "tmp")):
        if not folder.is_dir():
            yield f"no {name}"
            continue
        for entry in sorted(folder.iterdir()):
            yield f"{name}/{entry.name}"


def _end(ended: Completed) -> str:
    """Say how a command ended, with the last of what it printed."""
    if ended.timed_out:
        return f"not done after {ended.seconds:.0f} s"
    printed = (ended.stdout + b"\n" + ended.stderr).decode(errors="replace").split("\n")
    lines = [line.strip() for line in printed if line.strip()]
    return f"exit status {ended.exit_status}: {' | '.join(lines[-3:])[-300:] or 'nothing was printed'}"
