"""The state of the cold store, and the file that it is kept in."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


class UnusableStore(Exception):
    """The store file is missing, or does not hold a store."""


@dataclass
class Crate:
    number: int | None
    product: str
    unit: str
    kg: int


@dataclass
class Unit:
    name: str
    temp_c: float
    limit_c: float
    frost_mm: int
    gasket: str
    warm: bool = False


@dataclass
class Store:
    units: list[Unit]
    crates: list[Crate]


def load(path: Path) -> Store:
    """Read a store; UnusableStore says what is wrong with the file."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        return Store([Unit(**unit) for unit in state["units"]], [Crate(**crate) for crate in state["crates"]])
    except OSError as error:
        raise UnusableStore(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableStore(f"{path} does not hold a store: {error}") from error


def save(store: Store, path: Path) -> None:
    """Write a store in the form that people can edit and diff."""
    path.write_text(json.dumps(asdict(store), indent=2, sort_keys=True) + "\n", encoding="utf-8")
