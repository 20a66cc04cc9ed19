"""`smriti plan`: how many trials it takes to show an effect of a given size."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from smriti.cli.present import Present
from smriti.cli.tables import new_table, print_table, summary_console
from smriti.errors import UsageError
from smriti.metrics.power import MOST_TASKS, MOST_TRIALS, RUNS, Plan, Variation, variation_of
from smriti.metrics.power import plan as plan_trials
from smriti.receipts.compare import FEWEST_CASES, FEWEST_TASKS
from smriti.receipts.sealed import SealedReceipt, read_sealed
from smriti.types import BenchManifest

_DEFAULT = Variation()
_FURTHEST = 6.0
"""Logits: of so large a spread nearly every task always passes or never does."""


def plan(
    *,
    effect: Annotated[float, typer.Option(metavar="D", help="Difference of success rates to be shown, such as 0.15.")],
    tasks: Annotated[int, typer.Option(metavar="N", help="Tasks that are compared.")],
    power: Annotated[float, typer.Option(metavar="P", help="Chance of showing it.")] = 0.8,
    base_rate: Annotated[
        float | None, typer.Option(metavar="P", help="Mean success rate of the baseline (default: 0.5).")
    ] = None,
    task_sd: Annotated[
        float | None, typer.Option(metavar="SD", help="Spread of the tasks' rates, in logits (default: 1.5).")
    ] = None,
    effect_sd: Annotated[
        float | None, typer.Option(metavar="SD", help="Spread of the effect over tasks, in logits (default: 0.5).")
    ] = None,
    from_receipt: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="Take defaults from this receipt of the bench.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the simulation.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the trials of each task under each condition with which `smriti compare` shows an effect.

    By simulation of the test that it makes. Exit 0: answered, also where no number of trials is enough.
    """
    variation, source = _DEFAULT, None
    if from_receipt is not None:
        source = _bench(from_receipt)
        variation = _variation_of(source)
    given = {"base_rate": base_rate, "task_sd": task_sd, "effect_sd": effect_sd}
    variation = replace(variation, **{name: value for name, value in given.items() if value is not None})
    _check(effect, tasks, power, variation)
    fewest = -(-FEWEST_CASES // tasks)
    found = plan_trials(effect, tasks, variation, power=power, fewest=fewest, seed=seed)
    if as_json:
        typer.echo(json.dumps({**asdict(found), "from": str(from_receipt) if from_receipt else None, "runs": RUNS}))
    else:
        _print(summary_console(), found, source)


def _bench(directory: Path) -> SealedReceipt:
    if not directory.exists():
        raise UsageError(f"--from: {directory} is not there, expected a receipt folder of the bench")
    receipt = read_sealed(directory, Present().vouch)
    if not isinstance(receipt.manifest, BenchManifest):
        raise UsageError(f"--from: {directory} is a receipt of {receipt.manifest.suite}, expected one of the bench")
    return receipt


def _variation_of(receipt: SealedReceipt) -> Variation:
    """Take the baseline from on where there is one, and what memory does to tasks from off and on."""
    arms = {name: [r for r in receipt.records if r.condition == name] for name in ("off", "on")}
    if not any(record.status != "skipped" for arm in arms.values() for record in arm):
        raise UsageError(
            f"--from: {receipt.directory} has no attempted trial under off or on; there is nothing to take"
        )
    found = variation_of(arms["on"] or arms["off"], (), _DEFAULT)
    return replace(found, effect_sd=variation_of(arms["off"], arms["on"], _DEFAULT).effect_sd)


def _check(effect: float, tasks: int, power: float, variation: Variation) -> None:
    wrong: list[str] = []
    if not 0 < abs(effect) < 1:
        wrong.append(f"--effect is {effect}, expected a difference of rates between -1 and 1 that is not 0")
    elif not 0 < variation.base_rate < 1:
        wrong.append(f"--base-rate is {variation.base_rate}, expected a rate above 0 and below 1")
    elif not 0 < variation.base_rate + effect < 1:
        wrong.append(
            f"--effect is {effect}, which from a base rate of {variation.base_rate:.3f} leads to "
            f"{variation.base_rate + effect:.3f}, expected a rate above 0 and below 1; give a smaller effect or "
            "another --base-rate"
        )
    if not FEWEST_TASKS <= tasks <= MOST_TASKS:
        wrong.append(f"--tasks is {tasks}, expected {FEWEST_TASKS} (fewer get no verdict) to {MOST_TASKS}")
    if not 0 < power < 1:
        wrong.append(f"--power is {power}, expected a chance above 0 and below 1")
    for flag, value in (("--task-sd", variation.task_sd), ("--effect-sd", variation.effect_sd)):
        if not 0 <= value <= _FURTHEST:
            wrong.append(f"{flag} is {value}, expected logits from 0 to {_FURTHEST:g}")
    if wrong:
        raise UsageError("; ".join(wrong))


def _print(console: Console, found: Plan, source: SealedReceipt | None) -> None:
    variation = found.variation
    if source is not None and source.manifest.evidence_class == "rehearsal":
        console.print(
            "REHEARSAL: the receipt that the defaults come from has a scripted agent; a real one varies otherwise",
            soft_wrap=True,
        )
    console.print(
        f"effect {found.effect:+g} on a base rate of {variation.base_rate:.3f}, {found.tasks} tasks, between which "
        f"success varies by {variation.task_sd:g} and the effect by {variation.effect_sd:g} logits "
        f"({'defaults and options' if source is None else source.directory})",
        soft_wrap=True,
    )
    limit = found.reached[-1].power
    if found.trials is not None:
        reached = next(each.power for each in found.reached if each.trials == found.trials)
        answer = f"{found.trials} trials of each task under each condition: power {reached:.2f}"
    elif limit < found.power:
        answer = (
            f"no number of trials reaches a power of {found.power:g}: {found.tasks} tasks alone allow {limit:.2f}, "
            "however often each is run. More tasks are needed"
        )
    else:
        best = found.reached[-2].power
        answer = (
            f"more than {MOST_TRIALS} trials of each task would be needed: {MOST_TRIALS} reach {best:.2f}, and without "
            f"end {limit:.2f}. More tasks are the better way"
        )
    console.print(f"\n{answer}", soft_wrap=True)
    table = new_table("trials", "power")
    for each in found.reached:
        table.add_row("without end" if each.trials is None else str(each.trials), f"{each.power:.3f}")
    title = f"what {RUNS} simulated comparisons show (two-sided at 5 %, interval and test both; seed {found.seed})"
    print_table(console, title, table)
