"""What Hypothesis draws, and records built by hand: one place for all tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from smriti.sandbox.filetree import IGNORED_NAMES
from smriti.types import (
    AGENT_FAULTS,
    VERDICTS,
    BenchConfig,
    BenchManifest,
    CodeIdentity,
    Fault,
    File,
    Memory,
    PhaseSeconds,
    Planted,
    Status,
    SystemIdentity,
    Task,
    TaskFolder,
    TaskIdentity,
    TrialCase,
    TrialEvidence,
    TrialRecord,
    Usage,
    trial_realm,
    trial_session_id,
)

STATUSES: tuple[Status, ...] = (
    *sorted(VERDICTS),
    "skipped",
    *sorted(AGENT_FAULTS),
    "plant_failed",
    "check_timeout",
    "forget_failed",
    "infra_error",
)


def usage(total: int | None) -> Usage:
    if total is None:
        return Usage()
    return Usage(input_tokens=total, output_tokens=0, cache_read_tokens=0, cache_write_tokens=0, source="agent")


def record(
    task: str = "alpha",
    condition: str = "on",
    trial: int = 1,
    *,
    status: Status = "passed",
    tokens: int | None = 100,
    confirmed: bool | None = True,
    contaminated: bool | None = False,
    **fields: Any,
) -> TrialRecord:
    """A trial record in which everything that is not given is unremarkable."""
    stated: dict[str, Any] = {
        "case": f"{task}/{condition}/t{trial}",
        "run_id": "run",
        "task_id": task,
        "task_sha256": "0" * 64,
        "family": "convention",
        "split": "visible",
        "condition": condition,
        "trial": trial,
        "order": 0,
        "status": status,
        "passed": status == "passed" if status in VERDICTS else None,
        "usage": usage(tokens),
        "planted_ids": ("m",),
        "injected_ids": ("m",) if confirmed else (),
        "injected_confirmed": confirmed,
        "contaminated": contaminated,
        "echoed": False,
        "seconds": PhaseSeconds(),
        "transcript_sha256": None,
        "diff_sha256": None,
        "fault": None if status in VERDICTS else Fault(status=status, phase="agent", message="planted"),
        "evidence_sha256": "0" * 64,
    }
    return TrialRecord(**{**stated, **fields})


def evidence(
    task: str = "alpha",
    condition: str = "on",
    trial: int = 1,
    *,
    run_id: str = "run",
    order: int = 0,
    status: Status = "passed",
    tokens: int | None = 100,
    injected: tuple[str, ...] | None = None,
    **fields: Any,
) -> TrialEvidence:
    """Evidence that scores as `status`, of a trial that could have been; what is not given is unremarkable."""
    case = TrialCase(task, condition, trial, order)
    realm = trial_realm(run_id, case)
    ran, plants = status != "skipped", status != "skipped" and condition not in {"off", "handed", "placebo"}
    planted = (Planted(id=f"{case.id}/m1", source_id="m1", role="convention"),) if plants else ()
    reached = planted if condition in {"on", "file"} else ()
    graded = status in VERDICTS
    stated: dict[str, Any] = {
        "case": case.id,
        "run_id": run_id,
        "manifest_sha256": "0" * 64,
        "task_id": task,
        "task_sha256": "0" * 64,
        "family": "convention",
        "split": "visible",
        "condition": condition,
        "trial": trial,
        "order": order,
        "realm": realm,
        "session_id": trial_session_id(realm),
        "delivery": "prompt" if reached else "none",
        "planted": planted,
        "injected_ids": (tuple(memory.id for memory in reached) if injected is None else injected) if ran else None,
        "echoed_ids": (),
        "agent_exit_status": 0 if ran else None,
        "check_exit_status": (0 if status == "passed" else 1) if graded else None,
        "usage": usage(tokens if ran else None),
        "turns": 3 if ran else None,
        "seconds": PhaseSeconds(prepare=0.25, agent=0.5, grade=0.125, total=1.0) if ran else PhaseSeconds(),
        "transcript_sha256": "1" * 64 if ran else None,
        "diff_sha256": "2" * 64 if ran else None,
        "check_output_sha256": "3" * 64 if graded else None,
        "left_out": (),
        "fault": None if graded else Fault(status=status, phase="agent" if ran else "prepare", message="planted"),
    }
    return TrialEvidence(**{**stated, **fields})


def manifest(tasks: list[str], conditions: list[str], trials: int, *, seed: int = 0, **fields: Any) -> BenchManifest:
    """A manifest for a matrix of `tasks` × `conditions` × `trials`; a rehearsal unless it is given another class."""
    scripted = fields.get("evidence_class", "rehearsal") == "rehearsal"
    agent = "rehearsal" if scripted else "command:coder.toml"
    stated: dict[str, Any] = {
        "suite": "bench",
        "evidence_class": "rehearsal",
        "run_id": "run",
        "config": BenchConfig(
            memory="embedded", agent=agent, conditions=tuple(conditions), trials=trials, timeout_s=60, seed=seed
        ),
        "code": CodeIdentity(version="0", commit=None, dirty=None, sha256="0" * 64),
        "packages": {},
        "systems": (SystemIdentity(name="embedded", version="1"),),
        "agents": (SystemIdentity(name="rehearsal", version="1"),),
        "scripted": scripted,
        "delivery": "hooks",
        "artifacts": {},
        "engine": "local",
        "datasets": {},
        "tasks": tuple(
            TaskIdentity(id=task, version=1, family="convention", split="visible", sha256="0" * 64) for task in tasks
        ),
        "selection": {"selected": len(tasks), "of": len(tasks)},
        "seed": seed,
        "sandbox": "none",
        "jobs": 1,
        "host": {},
        "planned": len(tasks) * len(conditions) * trials,
        "started": "2026-01-01T00:00:00+00:00",
    }
    return BenchManifest(**{**stated, **fields})


@st.composite
def trial_records(draw: st.DrawFn, conditions: tuple[str, ...] = ("off", "on")) -> list[TrialRecord]:
    """Records of some cells of a small matrix, each cell at most once, in any order."""
    cells = [(task, condition, trial) for task in "abcd" for condition in conditions for trial in (1, 2, 3)]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True))
    return [
        record(
            task,
            condition,
            trial,
            status=draw(st.sampled_from(STATUSES)),
            tokens=draw(st.none() | st.integers(0, 1000)),
            confirmed=draw(st.none() | st.booleans()),
            contaminated=draw(st.none() | st.booleans()),
            order=order,
        )
        for order, (task, condition, trial) in enumerate(chosen)
    ]


def tree(files: Mapping[str, str | File]) -> dict[str, File]:
    """A tree in which a plain text stands for a file that is not executable."""
    return {path: file if isinstance(file, File) else File(file.encode()) for path, file in files.items()}


def task_folder(
    fixture: Mapping[str, str | File],
    *,
    hidden: Mapping[str, str | File] | None = None,
    history: bytes | None = None,
    sha256: str = "0" * 64,
    **fields: Any,
) -> TaskFolder:
    """A task in memory in which everything that is not given is unremarkable; `fields` are those of its task.json."""
    stated: dict[str, Any] = {
        "id": "a-task",
        "version": 1,
        "family": "convention",
        "split": "visible",
        "prompt": "Do it.",
        "check_cmd": ("true",),
        "visible_cmd": ("true",),
        "planted_memories": (Memory(content="A fact.", type="wisdom", role="convention", source_id="m"),),
        "deducible": False,
        "deliverables": ("**",),
        "timeout_s": 60,
        "expected_tokens_budget": 1000,
    }
    return TaskFolder(
        task=Task(**{**stated, **fields}),
        folder=Path("/nowhere"),
        sha256=sha256,
        fixture=tree(fixture),
        hidden=tree(hidden or {}),
        solution={},
        naive={},
        history=history,
    )


file_names = st.text("ab._- é\"'\\\t", min_size=1, max_size=4).filter(
    lambda name: name not in {".", "..", *IGNORED_NAMES}
)
"""Names that every file system here takes and keeps apart."""


def file_trees(contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[dict[str, File]]:
    """Trees that a disk could hold: no path of a file is also that of a folder."""
    files = st.builds(File, contents, st.booleans())
    folders = st.recursive(
        st.dictionaries(file_names, files, max_size=3),
        lambda below: st.dictionaries(file_names, files | below, max_size=3),
        max_leaves=5,
    )
    return folders.map(lambda folder: dict(_flattened(folder, "")))


def _flattened(folder: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, File]]:
    for name, entry in folder.items():
        if isinstance(entry, File):
            yield prefix + name, entry
        else:
            yield from _flattened(entry, f"{prefix}{name}/")


# Rows of data sets


words = st.text('abc é{}[]"\\\n', min_size=1, max_size=12).map(lambda text: f"w{text}")


@st.composite
def longmemeval_rows(draw: st.DrawFn, max_rows: int = 3) -> list[dict[str, Any]]:
    """Well-formed LongMemEval rows, in the names of the file, with sessions that are empty, marked or listed twice."""
    return [_longmemeval_row(draw, number) for number in range(draw(st.integers(1, max_rows)))]


def _longmemeval_row(draw: st.DrawFn, number: int) -> dict[str, Any]:
    turns = st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": words | st.just("")},
        optional={"has_answer": st.booleans()},
    )
    sessions = draw(st.dictionaries(words, st.lists(turns, max_size=3), min_size=1, max_size=4))
    listed = [*sessions, *draw(st.lists(st.sampled_from(sorted(sessions)), max_size=1))]
    answerable = draw(st.booleans())
    return {
        "question_id": f"{draw(words)}{number}{'' if answerable else '_abs'}",
        "question_type": draw(st.sampled_from(["multi-session", "temporal-reasoning"])),
        "question": draw(words),
        "answer": draw(words | st.integers(0, 9)),
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": [f"2023/05/{draw(st.integers(10, 31))} (Sat) 02:21" for _ in listed],
        "haystack_session_ids": listed,
        "haystack_sessions": [[dict(turn) for turn in sessions[session_id]] for session_id in listed],
        "answer_session_ids": draw(
            st.lists(st.sampled_from(sorted(sessions)), min_size=int(answerable), max_size=3, unique=True)
        ),
    }


@dataclass(frozen=True)
class Broken:
    """Rows of which one is malformed in one field."""

    rows: list[Any]
    number: int
    field: str


@st.composite
def broken_longmemeval_rows(draw: st.DrawFn) -> Broken:
    """Well-formed rows, but that one field of one row is missing, of another type, or at odds with the others."""
    rows: list[dict[str, Any]] = draw(longmemeval_rows())
    number = draw(st.integers(0, len(rows) - 1))
    row = rows[number]
    field = draw(st.sampled_from(sorted(row)))
    match draw(st.sampled_from(["missing", "type", "inner", "length", "gold", "other turns", "id", "empty"])):
        case "missing":
            del row[field]
        case "inner" if row["haystack_sessions"][0]:
            field = "haystack_sessions"
            turn = draw(st.sampled_from(row["haystack_sessions"][0]))
            turn[draw(st.sampled_from(["role", "content"]))] = draw(st.none() | st.integers() | st.lists(st.text()))
        case "length":
            field = "haystack_session_ids"
            draw(st.sampled_from([row["haystack_dates"], row["haystack_sessions"]])).pop()
        case "gold":
            field = "answer_session_ids"
            row[field] = [*row[field], "no such session"]
        case "other turns":
            field = "haystack_session_ids"
            row[field].append(row[field][0])
            row["haystack_dates"].append(row["haystack_dates"][0])
            row["haystack_sessions"].append([*row["haystack_sessions"][0], {"role": "user", "content": "more"}])
        case "id" if number > 0:
            field = "question_id"
            row[field] = rows[0][field]
        case "empty":
            field = draw(st.sampled_from(["question_id", "question_type", "question", "question_date"]))
            row[field] = draw(st.sampled_from(["", " \n"]))
        case _:
            row[field] = draw(st.none() | st.booleans() | st.floats(0, 1) | st.dictionaries(st.text(), st.text()))
    return Broken(rows, number, field)
