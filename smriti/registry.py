"""Names to adapters: by file name, by entry point, or by `package.module:object`; and what each is made of."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from smriti.errors import SmritiError, UsageError
from smriti.protocols import Agent, MemorySystem
from smriti.types import SystemIdentity

Kind = Literal["memory", "agents"]

_NOUN = {"memory": "memory system", "agents": "agent"}
_PROTOCOL: dict[Kind, type] = {"memory": MemorySystem, "agents": Agent}
_SMRITI = Path(__file__).parent
_INSTALLED = {"site-packages", "dist-packages"}
_WORKS = {"memory": "open", "agents": "run"}
"""The method by which an adapter itself is told from what makes one."""


def load(kind: Kind, spec: str) -> Any:
    """Return the adapter that `spec` names: `name`, `name:argument` or `package.module:object`.

    An adapter module has `create(argument: str | None)`, and an entry point in the group `smriti.<kind>` is called the
    same way. The object of a module is the adapter itself, or what makes it when called. UsageError for an unknown
    name, with the choices and the nearest one, for whatever code of the user's raises, and for an adapter that lacks
    what its protocol has.
    """
    name, _, argument = spec.partition(":")
    if create := _own(kind, name):
        return create(argument or None)
    where = f"{_NOUN[kind]} {spec}"
    if point := _entry_point(kind, name):
        with _as_usage_error(where, "its entry point cannot be loaded"):
            factory = point.load()
        with _as_usage_error(where, "it could not be made"):
            return _complete(kind, where, factory(argument or None))
    if "." in name or (argument and _is_importable(name)):
        with _current_directory_on_path():
            return _complete(kind, where, _made(kind, where, _object(where, name, argument)))
    known = names(kind)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(
        f"{_NOUN[kind]} {name!r} is not known.{hint} Known are {', '.join(known)}; "
        "an adapter of your own is named as package.module:object."
    )


def is_own(kind: Kind, spec: str) -> bool:
    """Tell whether `spec` names an adapter that comes with smriti."""
    return _own(kind, spec.partition(":")[0]) is not None


def names(kind: Kind) -> list[str]:
    """Return every name that `load` knows, sorted."""
    package = importlib.import_module(f"smriti.{kind}")
    own = [
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(package.__path__)
        if hasattr(importlib.import_module(f"smriti.{kind}.{module.name}"), "create")
    ]
    return sorted({*own, *(point.name for point in entry_points(group=f"smriti.{kind}"))})


def argument(kind: Kind, name: str) -> str | None:
    """Say in plain words what has to stand after `name` and a colon; None where nothing has to."""
    needed: str | None = getattr(_own_module(kind, name), "ARGUMENT", None)
    return needed


def sources(kind: Kind, spec: str) -> dict[str, str]:
    """Return label → sha256 of the code and the files that the adapter of `spec` is made of, as far as they are known.

    Code of the user's is every .py file of its package or, for a module in none, its file and what has been imported
    from the same folder: ask once it is loaded. A module of smriti's own is part of smriti; it adds what its
    `sources(argument)` names. No label holds a path of this machine.
    """
    name, _, argument = spec.partition(":")
    if _own(kind, name):
        own: Callable[[str | None], dict[str, str]] | None = getattr(_own_module(kind, name), "sources", None)
        return {} if own is None else {f"{kind}/{label}": sha256 for label, sha256 in own(argument or None).items()}
    if point := _entry_point(kind, name):
        made_by = f"{point.dist.name} {point.dist.version} " if point.dist else ""
        return _code_of(point.module, f"{kind}/{made_by}")
    with _current_directory_on_path():
        return _code_of(name, f"{kind}/")


def _own(kind: Kind, name: str) -> Callable[[str | None], Any] | None:
    create: Callable[[str | None], Any] | None = getattr(_own_module(kind, name), "create", None)
    return create


def _own_module(kind: Kind, name: str) -> object:
    module_name = f"smriti.{kind}.{name.replace('-', '_')}"
    if name.replace("-", "_").isidentifier() and importlib.util.find_spec(module_name) is not None:
        return importlib.import_module(module_name)
    return None


def _entry_point(kind: Kind, name: str) -> EntryPoint | None:
    return next(iter(entry_points(group=f"smriti.{kind}", name=name)), None)


@contextlib.contextmanager
def _current_directory_on_path() -> Iterator[None]:
    """Let modules in the current directory be imported, first of all, as `python -m` does."""
    here = os.getcwd()  # noqa: PTH109  # the import system's entries are strings
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(here)


def _is_importable(name: str) -> bool:
    if not name.isidentifier():
        return False
    with _current_directory_on_path(), contextlib.suppress(ValueError):
        return importlib.util.find_spec(name) is not None
    return False


def _object(where: str, module_name: str, attribute: str) -> Any:
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        raise UsageError(f"{where} names no object; expected package.module:object")
    with _as_usage_error(where, "the module cannot be imported"):
        module = importlib.import_module(module_name)
    with _as_usage_error(where, "the object cannot be had"):
        if hasattr(module, attribute):
            return getattr(module, attribute)
    near = difflib.get_close_matches(attribute, vars(module), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"{where}: the module has no object of the name {attribute!r}{hint}")


def _made(kind: Kind, where: str, found: Any) -> Any:
    """Return `found` if it is an adapter, or what it makes when it is called."""
    if not inspect.isclass(found) and hasattr(found, _WORKS[kind]):
        return found
    if not callable(found):
        raise UsageError(
            f"{where} is of type {type(found).__name__}; expected the {_NOUN[kind]} itself, an object with "
            f"{_WORKS[kind]}(), or a class or function that makes it"
        )
    with _as_usage_error(where, "it could not be made"):
        return found(*_arguments(where, found))


def _arguments(where: str, factory: Callable[..., Any]) -> list[None]:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except ValueError:  # some of what is written in C cannot be asked
        return []
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.default is each.empty]
    needed = [
        each.name
        for each in parameters
        if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD} and each.default is each.empty
    ]
    if by_name or len(needed) > 1:
        raise UsageError(
            f"{where} needs the arguments {', '.join([*needed, *by_name])}; expected a class or function that takes "
            "none, or one, which is None"
        )
    return [None] * len(needed)


def _complete(kind: Kind, where: str, adapter: Any) -> Any:
    """Return `adapter` if it has every member of its protocol; UsageError names those that it lacks."""
    members = {name: member for name, member in vars(_PROTOCOL[kind]).items() if not name.startswith("_")}
    missing = []
    for name, member in members.items():
        with _as_usage_error(where, f"{name} cannot be had"):
            found = getattr(adapter, name, None)
        if found is None or (inspect.isfunction(member) and not callable(found)):
            missing.append(f"{name}()" if inspect.isfunction(member) else name)
    if missing:
        raise UsageError(
            f"{where} is of type {type(adapter).__name__}, which lacks {', '.join(missing)}; expected what "
            f"{_PROTOCOL[kind].__name__} in smriti/protocols.py has: {', '.join(members)}"
        )
    with _as_usage_error(where, "its identity() failed"):
        identity = adapter.identity()
    if not isinstance(identity, SystemIdentity):
        raise UsageError(f"{where}: its identity() is {identity!r:.100}, expected a smriti.types.SystemIdentity")
    return adapter


@contextlib.contextmanager
def _as_usage_error(where: str, what: str) -> Iterator[None]:
    """Turn what code of the user's raises into one paragraph, with the exception's type and where it was raised."""
    try:
        yield
    except SmritiError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        raise UsageError(f"{where}: {what}: {type(error).__name__}: {said}{_place(error)}") from error


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return ""  # its text names file and line
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not frame.filename.startswith("<") and "importlib" not in frame.filename
    ]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _code_of(module_name: str, label: str) -> dict[str, str]:
    """Digest the outermost package that `module_name` lies in or, where there is none, its file and those beside it."""
    parts = module_name.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None or not spec.has_location:
            continue  # a folder without __init__.py may hold anything
        origin = Path(spec.origin)
        if spec.submodule_search_locations is None:
            files = {origin, *_imported_from(origin.parent)}
            return {
                f"{label}{file.relative_to(origin.parent).as_posix()}": _digest([file], origin.parent)
                for file in sorted(files)
            }
        return {f"{label}{name}/**/*.py": _digest(origin.parent.rglob("*.py"), origin.parent)}
    return {}


def _imported_from(folder: Path) -> Iterator[Path]:
    """Yield the file of every module that was imported from below `folder`, but for what is installed there."""
    for module in list(sys.modules.values()):
        found = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        path = Path(found) if isinstance(found, str) else None
        if path is None or path.suffix != ".py" or not path.is_relative_to(folder) or not path.is_file():
            continue
        if not path.is_relative_to(_SMRITI) and not _INSTALLED & set(path.parts):
            yield path


def _digest(files: Iterable[Path], root: Path) -> str:
    """Return the sha256 of a lone file, or of the names and digests of many."""
    digests = {}
    for path in sorted(files):
        with path.open("rb") as file:
            digests[path.relative_to(root).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    if len(digests) == 1:
        return next(iter(digests.values()))
    return hashlib.sha256("".join(f"{name}\0{sha256}\n" for name, sha256 in digests.items()).encode()).hexdigest()
