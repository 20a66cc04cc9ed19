"""Grade a deliverable: pristine fixture + the agent's deliverables + hidden checks on top, in a cage of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smriti.sandbox.filetree import changed_paths, lay, matches, overlay, read_file, read_tree, unlock
from smriti.sandbox.none import cage_workdir, command_path, make_cage
from smriti.types import Completed, File, FileTree, TaskFolder

MAX_DELIVERABLE_BYTES = 5_000_000
MAX_CHECK_OUTPUT_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Deliverables:
    """What of an agent's work is graded, and what is not, each with its reason."""

    tree: FileTree
    """The fixture with the accepted changes applied."""
    left_out: tuple[str, ...]


def read_work(workdir: Path, root: Path) -> tuple[dict[str, File], list[str]]:
    """Read what an agent left in `workdir`, below `root`; what it took the rights from is unlocked first.

    The second value is that of `read_tree`, and says, too, where the directory itself is gone or is another thing.
    """
    unlock(workdir, root)
    try:
        if not workdir.is_symlink() and workdir.is_dir():
            return read_tree(workdir, MAX_DELIVERABLE_BYTES)
        became = "replaced" if workdir.is_symlink() or workdir.exists() else "removed"
    except OSError as error:
        return {}, [f".: the working directory cannot be read ({error.strerror})"]
    return {}, [f".: the working directory was {became}"]


def select_deliverables(task: TaskFolder, worked: FileTree, irregular: list[str]) -> Deliverables:
    """Take from `worked`, the agent's tree, only what the task lets it change; a deleted deliverable is deleted."""
    kept: dict[str, File] = dict(task.fixture)
    changes: dict[str, File] = {}
    left_out = list(irregular)
    for path in changed_paths(task.fixture, worked):
        if not matches(path, task.task.deliverables):
            left_out.append(f"{path}: not among the deliverables")
            continue
        kept.pop(path, None)
        if path in worked:
            changes[path] = worked[path]
    accepted = overlay(changes, kept)
    blocked = [path for path in changes if path not in accepted]
    left_out += [f"{path}: in the place of what is not among the deliverables" for path in blocked]
    return Deliverables(accepted, tuple(left_out))


def run_check(task: TaskFolder, graded: FileTree, root: Path) -> Completed:
    """Lay `graded` and hidden/ into a fresh cage below `root` and run the task's check there.

    FileNotFoundError when its command is missing. Standard error follows standard output in what is returned.
    """
    cage = make_cage(root, command_path(task.task.requires))
    lay(overlay(graded, task.hidden), cage.workdir)
    return cage.run(task.task.check_cmd, timeout_s=task.task.timeout_s, max_output_bytes=MAX_CHECK_OUTPUT_BYTES)


def altered_checks(task: TaskFolder, root: Path) -> list[str]:
    """Name the files of hidden/ that are no longer as `run_check` laid them below `root`."""
    workdir = cage_workdir(root)
    return [path for path, file in task.hidden.items() if read_file(workdir / path) != file]
