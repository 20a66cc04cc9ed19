"""Rules that are settled by reading a task: names, paths, what it says and what it gives away."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from smriti.corpus.history import History
from smriti.corpus.shape import DESCRIPTION, HISTORY, Finding, leaves_the_task
from smriti.corpus.text import added_text, line_of, mentions, numbers, strings, tree_text
from smriti.sandbox.filetree import matches
from smriti.types import OWN_REALM, FileTree, TaskFolder

NEEDED_ROLES = frozenset({"convention", "correction"})


@dataclass(frozen=True)
class Candidate:
    """A task that asks for admission, with what the rules must know besides."""

    task: TaskFolder
    history: History | None = None
    """None for a task without a history, and where there is no git to read it with."""
    irregular: frozenset[str] = frozenset()
    """Paths in the fixture that rule `path` has refused."""
    namesakes: tuple[str, ...] = ()
    """Other folders of the corpus with the same id."""


def identity(candidate: Candidate) -> Iterator[Finding]:
    """The id is well formed, the folder's name, no other task's; source_ids are unique; realms are project:<name>."""
    task = candidate.task.task
    if not re.fullmatch(r"[a-z][a-z0-9-]{2,47}", task.id):
        yield Finding(DESCRIPTION, f"id is {task.id!r}; expected [a-z][a-z0-9-]{{2,47}}")
    if task.id != candidate.task.folder.name:
        yield Finding(DESCRIPTION, f"id is {task.id!r}; expected the folder's name, {candidate.task.folder.name!r}")
    if candidate.namesakes:
        yield Finding(DESCRIPTION, f"id {task.id!r} is also that of {', '.join(candidate.namesakes)}")
    for source_id, count in Counter(memory.source_id for memory in task.planted_memories).items():
        if count > 1:
            yield Finding(DESCRIPTION, f"source_id {source_id!r} names {count} memories; expected one")
    for memory in task.planted_memories:
        if not re.fullmatch(r"project:[a-z][a-z0-9-]*", memory.realm):
            yield Finding(
                DESCRIPTION,
                f"memory {memory.source_id!r} is of realm {memory.realm!r}; expected {OWN_REALM} or project:<name>",
            )


def deliverables(candidate: Candidate) -> Iterator[Finding]:
    """Each file of solution/ and naive/ is a deliverable and changes the fixture; hidden/ lies over none of theirs."""
    task = candidate.task
    overlays = {"solution": task.solution, "naive": task.naive}
    for part, overlay in overlays.items():
        for path, file in overlay.items():
            if not matches(path, task.task.deliverables):
                yield Finding(f"{part}/{path}", f"matches none of the deliverables {list(task.task.deliverables)!r}")
            if task.fixture.get(path) == file:
                yield Finding(f"{part}/{path}", "is the fixture's file unchanged")
            if in_the_way := _blocking(path, task.fixture):
                yield Finding(f"{part}/{path}", f"cannot be laid over the fixture, which has {in_the_way}")
    for path in task.hidden:
        for part, tree in {"repo_fixture": task.fixture, **overlays}.items():
            if path in tree:
                yield Finding(f"hidden/{path}", f"overwrites {part}/{path}")
            elif in_the_way := _blocking(path, tree):
                yield Finding(f"hidden/{path}", f"cannot be laid over {part}/, which has {in_the_way}")


def requires(candidate: Candidate) -> Iterator[Finding]:
    """The programs of check_cmd and visible_cmd are listed in `requires` (git need not be)."""
    task = candidate.task.task
    for name, command in (("check_cmd", task.check_cmd), ("visible_cmd", task.visible_cmd)):
        program = command[0]
        if program not in (*task.requires, "git") and not leaves_the_task(program):
            yield Finding(DESCRIPTION, f"{name} runs {program!r}, which is not among requires {list(task.requires)!r}")


def isolated(candidate: Candidate) -> Iterator[Finding]:
    """A Python check runs with -I, and no Python file of hidden/ imports a module that the agent could write."""
    task = candidate.task
    command = task.task.check_cmd
    if re.fullmatch(r"python3?(\.\d+)?", command[0].rsplit("/", 1)[-1]) and "-I" not in _options(command):
        yield Finding(DESCRIPTION, f"check_cmd is {list(command)!r}; expected python3 -I before the script")
    agents_own = _modules(task.fixture) | _modules(task.solution) | _modules(task.naive)
    for path, file in task.hidden.items():
        for module in sorted(_imports(file.content) & agents_own) if path.endswith(".py") else ():
            yield Finding(f"hidden/{path}", f"imports {module!r}, which the agent may change; drive it as a subprocess")


def history(candidate: Candidate) -> Iterator[Finding]:
    """The tip of history.fast-import is repo_fixture/, file by file."""
    past = candidate.history
    if past is None:
        return
    if past.fault:
        yield Finding(HISTORY, past.fault)
        return
    fixture = candidate.task.fixture
    for path in sorted((past.tip.keys() | fixture.keys()) - candidate.irregular):
        if path not in fixture:
            yield Finding(HISTORY, f"its tip has {path}, which repo_fixture/ has not")
        elif path not in past.tip:
            yield Finding(HISTORY, f"its tip lacks {path}, which repo_fixture/ has")
        elif past.tip[path] != fixture[path]:
            yield Finding(HISTORY, f"its tip has another {path} than repo_fixture/, in content or mode")


def leak(candidate: Candidate) -> Iterator[Finding]:
    """No leak term is in prompt, id, a visible file, its name or a git object; a deducible task has no leak terms."""
    task = candidate.task.task
    if task.deducible and task.leak_terms:
        yield Finding(DESCRIPTION, f"leak_terms are {list(task.leak_terms)!r}; expected none where deducible")
    for term in task.leak_terms:
        for name, text in (("prompt", task.prompt), ("id", task.id)):
            if mentions(term, text):
                yield Finding(DESCRIPTION, f"leak term {term!r} is in the {name}")
        for path, file in candidate.task.fixture.items():
            content = file.content.decode(errors="replace")
            if mentions(term, path):
                yield Finding(f"repo_fixture/{path}", f"leak term {term!r} is in the file's name")
            if mentions(term, content):
                yield Finding(f"repo_fixture/{path}", f"leak term {term!r} is in line {line_of(term, content)}")
        for what, text in _of_the_past_alone(candidate):
            if mentions(term, text):
                yield Finding(HISTORY, f"leak term {term!r} is in {what}")


def memory_lacks(candidate: Candidate) -> Iterator[Finding]:
    """Not deducible: there are leak terms, each in a needed memory, hidden/ and solution/, none in what naive/ adds."""
    task = candidate.task
    if task.task.deducible:
        return
    needed = "\n".join(memory.content for memory in task.task.planted_memories if memory.role in NEEDED_ROLES)
    if not needed:
        yield Finding(DESCRIPTION, f"no planted memory has a needed role ({', '.join(sorted(NEEDED_ROLES))})")
    if not task.task.leak_terms:
        yield Finding(DESCRIPTION, "leak_terms is empty; expected what gives the answer away")
    places = {
        "a needed memory": needed,
        "hidden/": tree_text(task.hidden),
        "solution/": tree_text(task.solution),
    }
    naive = added_text(task.fixture, task.naive)
    for term in task.task.leak_terms:
        for place, text in places.items():
            if text and not mentions(term, text):
                yield Finding(DESCRIPTION, f"leak term {term!r} is not in {place}")
        if mentions(term, naive):
            yield Finding(DESCRIPTION, f"leak term {term!r} is in what naive/ adds")


def fixture_literal(candidate: Candidate) -> Iterator[Finding]:
    """Not deducible: no literal that solution/ adds, hidden/ has, and no memory or prompt has, is in the fixture."""
    task = candidate.task
    if task.task.deducible:
        return
    said = "\n".join([task.task.prompt, *(memory.content for memory in task.task.planted_memories)])
    added, hidden = added_text(task.fixture, task.solution), tree_text(task.hidden)
    shared = {f"string {literal!r}": literal for literal in strings(added) & strings(hidden)}
    shared |= {f"number {literal}": literal for literal in numbers(added) & numbers(hidden)}
    for name, literal in sorted(shared.items()):
        if mentions(literal, said) or any(mentions(term, literal) for term in task.task.leak_terms):
            continue
        found = [
            path
            for path, file in task.fixture.items()
            if mentions(literal, f"{path}\n{file.content.decode(errors='replace')}", ignore_case=False)
        ]
        if found:
            others = f" (and {len(found) - 1} more files)" if len(found) > 1 else ""
            yield Finding(
                f"repo_fixture/{found[0]}",
                f"has the {name}{others}, which solution/ adds and hidden/ has, but neither a memory nor the prompt",
            )


STATIC_RULES = {
    "identity": identity,
    "deliverables": deliverables,
    "requires": requires,
    "isolated": isolated,
    "history": history,
    "leak": leak,
    "memory-lacks": memory_lacks,
    "fixture-literal": fixture_literal,
}


def _options(command: Sequence[str]) -> list[str]:
    """Return the interpreter's own options, those before the script."""
    return list(takewhile(lambda word: word.startswith("-"), command[1:]))


def _modules(tree: FileTree) -> set[str]:
    """Return the names under which the tree's Python files can be imported from its root."""
    return {path.split("/")[0].removesuffix(".py") for path in tree if path.endswith(".py")}


def _imports(source: bytes) -> set[str]:
    """Return the top-level names that a Python file imports anywhere in its code; none of what is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return set()
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.split(".")[0] for name in named}


def _blocking(path: str, tree: FileTree) -> str | None:
    """Name what in `tree` is a file where `path` needs a folder, or the other way round."""
    steps = path.split("/")
    for length in range(1, len(steps)):
        if (parent := "/".join(steps[:length])) in tree:
            return f"a file {parent}"
    return f"a folder {path}" if any(other.startswith(path + "/") for other in tree) else None


def _of_the_past_alone(candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Yield what the history says beyond the fixture, whose own leaks are told once."""
    present = {file.content for file in candidate.task.fixture.values()}
    present |= {path.encode() for path in candidate.task.fixture}
    for what, content in candidate.history.texts if candidate.history else ():
        if content not in present:
            yield what, content.decode(errors="replace")
