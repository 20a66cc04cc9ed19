"""The steps that exist, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from coldroom.store import Store

Work = Callable[[Store], list[str]]


@dataclass(frozen=True)
class Step:
    """A subcommand: what it is called, what its help says, and what it does to a store."""

    name: str
    help: str
    work: Work


STEPS: dict[str, Step] = {}

USUAL_ORDER = "inventory reseal label probe sweep defrost".split()
"""The night shift's round."""


def step(help: str) -> Callable[[Work], Work]:
    """Register the decorated function as a step of the same name."""

    def register(work: Work) -> Work:
        STEPS[work.__name__] = Step(work.__name__, help, work)
        return work

    return register


def in_usual_order() -> list[Step]:
    """Give every step; one that is not on the round yet comes last."""
    return sorted(STEPS.values(), key=lambda known: USUAL_ORDER.index(known.name) if known.name in USUAL_ORDER else len(USUAL_ORDER))
