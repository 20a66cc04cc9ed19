"""Names to adapters: by file name, by entry point, or by `package.module:object`."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Literal

from smriti.errors import UsageError

Kind = Literal["memory", "agents"]

_NOUN = {"memory": "memory system", "agents": "agent"}


def load(kind: Kind, spec: str) -> Any:
    """Return the adapter that `spec` names: `name`, `name:argument` or `package.module:object`.

    An adapter module has `create(argument: str | None)`; an entry point in the group `smriti.<kind>` and an object of a
    dotted path are called the same way. UsageError for an unknown name, with the choices and the nearest one.
    """
    name, _, argument = spec.partition(":")
    if "." in name:
        return _load_object(kind, name, argument)(None)
    factory = _factory(kind, name)
    if factory is None:
        known = names(kind)
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"{_NOUN[kind]} {name!r} is not known.{hint} Known are {', '.join(known)}; "
            "an adapter of your own is named as package.module:object."
        )
    return factory(argument or None)


def names(kind: Kind) -> list[str]:
    """Return every name that `load` knows, sorted."""
    package = importlib.import_module(f"smriti.{kind}")
    own = [
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(package.__path__)
        if hasattr(importlib.import_module(f"smriti.{kind}.{module.name}"), "create")
    ]
    return sorted({*own, *(point.name for point in entry_points(group=f"smriti.{kind}"))})


def _factory(kind: Kind, name: str) -> Callable[[str | None], Any] | None:
    module_name = f"smriti.{kind}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and importlib.util.find_spec(module_name) is not None:
        factory: Callable[[str | None], Any] | None = getattr(importlib.import_module(module_name), "create", None)
        if factory is not None:
            return factory
    for point in entry_points(group=f"smriti.{kind}", name=name):
        loaded: Callable[[str | None], Any] = point.load()
        return loaded
    return None


def _load_object(kind: Kind, module_name: str, attribute: str) -> Callable[[str | None], Any]:
    where = f"{_NOUN[kind]} {module_name}:{attribute}"
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        raise UsageError(f"{where} names no object; expected package.module:object")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(f"{where}: the module cannot be imported: {error}") from error
    found: Callable[[str | None], Any] | None = getattr(module, attribute, None)
    if not callable(found):
        raise UsageError(f"{where}: the module has no callable of that name")
    return found
