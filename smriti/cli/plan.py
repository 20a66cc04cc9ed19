"""Print what each trial of a bench run would do."""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer

from smriti.score.bench import planned_cases
from smriti.types import BenchManifest, Condition, TaskFolder, trial_realm

_PLANTING = {"on", "file", "ablate"}


def print_plan(manifest: BenchManifest, tasks: Sequence[TaskFolder], *, as_json: bool) -> None:
    """Print every trial in the order in which it would start; `as_json` prints one object instead of lines."""
    by_id = {folder.task.id: folder.task for folder in tasks}
    rows = [
        {
            "order": case.order,
            "case": case.id,
            "realm": trial_realm(manifest.run_id, case),
            "plants": len(by_id[case.task_id].planted_memories)
            if Condition.parse(case.condition).kind in _PLANTING
            else 0,
            "agent": manifest.config.agent,
            "check": list(by_id[case.task_id].check_cmd),
        }
        for case in planned_cases(manifest)
    ]
    if as_json:
        typer.echo(json.dumps({"planned": len(rows), "trials": rows}))
        return
    for row, case in zip(rows, planned_cases(manifest), strict=True):
        check = " ".join(by_id[case.task_id].check_cmd)
        typer.echo(
            f"{case.order:>4}  {case.id}  plants {row['plants']} in {row['realm']}  then {row['agent']}, then {check}"
        )
    typer.echo(f"{len(rows)} trials planned; nothing was run")
