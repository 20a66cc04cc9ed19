"""Finds the carriers."""

import importlib
import pkgutil
from dataclasses import dataclass

from parcelrate import carriers
from parcelrate.tariff import Tariff


@dataclass(frozen=True)
class Carrier:
    key: str
    name: str
    tariff: Tariff


def load() -> dict[str, Carrier]:
    """Every carrier by its key: each module of parcelrate.carriers that has a KEY, a NAME and a TARIFF."""
    found = {}
    for info in pkgutil.iter_modules(carriers.__path__):
        module = importlib.import_module(f"{carriers.__name__}.{info.name}")
        if module.KEY in found:
            raise RuntimeError(f"{info.name}: there is a carrier {module.KEY!r} already")
        found[module.KEY] = Carrier(module.KEY, module.NAME, module.TARIFF)
    return dict(sorted(found.items()))
