"""What a run states before it starts: its conditions, refused while that is cheap, and the class of its evidence."""

from __future__ import annotations

from typing import Any

import pytest

from smriti import registry
from smriti.errors import UsageError
from smriti.protocols import MemorySystem
from smriti.suites.bench import manifest as module
from smriti.suites.bench.manifest import bench_manifest, resolve_conditions
from smriti.types import BenchConfig, BenchManifest, CodeIdentity, Condition
from tests.benches import Acting, tiny_task

EMBEDDED: MemorySystem = registry.load("memory", "embedded")
FILE: MemorySystem = registry.load("memory", "file")
CLEAN = CodeIdentity(version="1", commit="c" * 40, dirty=False, sha256="0" * 64)
DIRTY = CLEAN.model_copy(update={"dirty": True})
NO_COMMIT = CLEAN.model_copy(update={"commit": None, "dirty": None})


@pytest.mark.parametrize(
    "text", ["off", "on", "handed", "placebo", "file", "ablate:all", *(f"ablate:{lane}" for lane in EMBEDDED.lanes)]
)
def test_a_condition_reads_back_as_it_is_written(text: str) -> None:
    assert str(Condition.parse(text)) == text
    assert resolve_conditions(text, EMBEDDED) == (text,)


def test_conditions_keep_their_order_and_lose_their_spaces() -> None:
    assert resolve_conditions("on , off,ablate:kw", EMBEDDED) == ("on", "off", "ablate:kw")


def test_without_a_word_a_system_with_lanes_is_ablated_too() -> None:
    assert resolve_conditions(None, EMBEDDED) == ("off", "on", "ablate:all")
    assert resolve_conditions(None, FILE) == ("off", "on")


@pytest.mark.parametrize(
    ("given", "memory", "message"),
    [
        ("off,on,off", EMBEDDED, "names off twice"),
        ("ablate:kw,ablate:kw", EMBEDDED, "names ablate:kw twice"),
        ("", EMBEDDED, "condition '' is not one of off, on"),
        ("off,,on", EMBEDDED, "condition '' is not one of off, on"),
        ("ablate", EMBEDDED, "condition 'ablate' is not one of"),
        ("ablate:", EMBEDDED, "condition 'ablate:' is not one of"),
        ("ablate:kw:sem", EMBEDDED, "condition 'ablate:kw:sem' is not one of"),
        ("OFF", EMBEDDED, "condition 'OFF' is not one of"),
        ("handd", EMBEDDED, r"condition 'handd' is not one of .* \(did you mean 'handed'\?\)"),
        ("off,ablate:kv", EMBEDDED, r"its lanes are kw, sem, .* \(did you mean 'ablate:kw'\?\)"),
        ("off,ablate:graph", EMBEDDED, "ablate:graph, which memory system 'embedded' cannot run: its lanes are kw"),
        ("ablate:all", FILE, "memory system 'file' has no lanes to ablate"),
        ("ablate:kw", FILE, "memory system 'file' has no lanes to ablate"),
    ],
)
def test_conditions_that_cannot_be_run_are_refused(given: str, memory: MemorySystem, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve_conditions(given, memory)


class Real(Acting):
    """An agent that does not go by a script."""

    scripted = False


SCRIPTED, REAL = Acting(lambda _job: None), Real(lambda _job: None)
WHOLE: dict[str, object] = {"selected": 2, "of": 2}
SOME: dict[str, object] = {"selected": 2, "of": 3}


def stated(agent: Acting = REAL, selection: dict[str, object] | None = None, **config: Any) -> BenchManifest:
    """The manifest of a run of two tasks."""
    asked = {"memory": "embedded", "agent": "acting", "conditions": ("off", "on"), "trials": 3, "timeout_s": 60}
    return bench_manifest(
        BenchConfig(**{**asked, "seed": 7, **config}),
        [tiny_task(), tiny_task("beta")],
        memory=EMBEDDED,
        file_memory=FILE,
        agent=agent,
        selection=selection or WHOLE,
        engine="local",
        sandbox="none",
        jobs=2,
        delivery="hooks",
    )


@pytest.mark.parametrize(
    ("agent", "selection", "code", "evidence_class"),
    [
        (SCRIPTED, WHOLE, CLEAN, "rehearsal"),
        (SCRIPTED, SOME, NO_COMMIT, "rehearsal"),
        (SCRIPTED, WHOLE, DIRTY, "rehearsal"),
        (REAL, SOME, CLEAN, "development"),
        (REAL, WHOLE, DIRTY, "development"),
        (REAL, WHOLE, NO_COMMIT, "development"),
        (REAL, WHOLE, CLEAN, "measured"),
    ],
)
def test_the_class_of_the_evidence(
    monkeypatch: pytest.MonkeyPatch,
    agent: Acting,
    selection: dict[str, object],
    code: CodeIdentity,
    evidence_class: str,
) -> None:
    monkeypatch.setattr(module, "code_identity", lambda: code)
    assert stated(agent, selection).evidence_class == evidence_class


def test_a_manifest_says_what_is_planned() -> None:
    manifest = stated()
    assert (manifest.planned, manifest.seed, manifest.selection) == (2 * 2 * 3, 7, WHOLE)
    assert [task.id for task in manifest.tasks] == ["alpha", "beta"]
    assert manifest.tasks[0].sha256 == tiny_task().sha256
    assert [system.name for system in manifest.systems] == ["embedded"]
    assert manifest.packages["pydantic"]


def test_under_file_the_file_memory_is_a_system_of_the_run_too() -> None:
    manifest = stated(conditions=("off", "file"))
    assert [system.name for system in manifest.systems] == ["embedded", "file"]


def test_two_runs_never_have_the_same_id() -> None:
    assert stated().run_id != stated().run_id


def test_a_run_of_no_task_is_refused() -> None:
    with pytest.raises(UsageError, match="no task is selected"):
        bench_manifest(
            stated().config,
            [],
            memory=EMBEDDED,
            file_memory=FILE,
            agent=REAL,
            selection=WHOLE,
            engine="local",
            sandbox="none",
            jobs=1,
            delivery="none",
        )
