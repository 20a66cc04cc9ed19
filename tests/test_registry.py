"""What a name on the command line stands for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

import smriti.agents
from smriti import registry
from smriti.errors import UsageError

ADAPTER = "def create(argument):\n    return (__name__, argument)\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Write modules that are agents beside those that came with smriti, and can be imported by their own name too."""
    monkeypatch.setattr(smriti.agents, "__path__", [*smriti.agents.__path__, str(tmp_path)])
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(file: str, content: str = ADAPTER) -> None:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(content)
        importlib.invalidate_caches()

    yield write
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None)):
            del sys.modules[name]
            if name.startswith("smriti.agents."):
                delattr(smriti.agents, name.rpartition(".")[2])


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install entry points `name="module:object"` in a group, and no other."""

    def install(group: str, **values: str) -> None:
        points = EntryPoints(EntryPoint(name.replace("_", "-"), value, group) for name, value in values.items())
        monkeypatch.setattr(registry, "entry_points", points.select)

    return install


# By file name


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("agents", {"nop", "oracle", "rehearsal", "command"}), ("memory", {"off", "file", "embedded"})],
)
def test_every_adapter_that_came_with_smriti_has_a_name(kind: registry.Kind, expected: set[str]) -> None:
    known = registry.names(kind)
    assert expected <= set(known)
    assert known == sorted(set(known))


@pytest.mark.parametrize(("kind", "name"), [("agents", "nop"), ("agents", "oracle"), ("memory", "off")])
def test_a_name_loads_the_adapter_of_that_file(kind: registry.Kind, name: str) -> None:
    assert registry.load(kind, name).name == name


def test_a_dash_in_a_name_is_an_underscore_in_the_files(write: Callable[..., None]) -> None:
    write("two_words.py")
    assert "two-words" in registry.names("agents")
    assert registry.load("agents", "two-words") == ("smriti.agents.two_words", None)


@pytest.mark.parametrize(
    ("spec", "argument"),
    [("mine", None), ("mine:", None), ("mine:fast", "fast"), ("mine:a:b=c", "a:b=c"), ("mine:./x.toml", "./x.toml")],
)
def test_what_follows_the_first_colon_is_the_argument(
    write: Callable[..., None], spec: str, argument: str | None
) -> None:
    write("mine.py")
    assert registry.load("agents", spec) == ("smriti.agents.mine", argument)


def test_a_new_file_is_all_that_a_new_adapter_needs(write: Callable[..., None]) -> None:
    assert "mine" not in registry.names("agents")
    write("mine.py")
    assert "mine" in registry.names("agents")
    assert "mine" not in registry.names("memory")


def test_a_folder_is_an_adapter_as_a_file_is(write: Callable[..., None]) -> None:
    write("mine/__init__.py")
    assert "mine" in registry.names("agents")
    assert registry.load("agents", "mine") == ("smriti.agents.mine", None)


@pytest.mark.parametrize("name", ["hooks", "_ended", "__init__", "", "-", "no such", "nop/", "no-adapter", "os"])
def test_a_module_that_makes_no_adapter_is_none(write: Callable[..., None], name: str) -> None:
    write("no_adapter.py", "def run(): ...\n")
    assert name not in registry.names("agents")
    with pytest.raises(UsageError, match="is not known"):
        registry.load("agents", name)


def test_what_an_adapter_says_of_its_argument_comes_out() -> None:
    with pytest.raises(UsageError, match="expected none"):
        registry.load("agents", "oracle:fast")


# By entry point


def test_an_entry_point_is_an_adapter_with_an_argument(
    write: Callable[..., None], install: Callable[..., None]
) -> None:
    write("elsewhere_t1.py")
    install("smriti.agents", not_ours="elsewhere_t1:create", hooks="elsewhere_t1:create")
    assert {"not-ours", "nop", "hooks"} <= set(registry.names("agents"))
    assert registry.load("agents", "not-ours:x") == ("elsewhere_t1", "x")
    assert registry.load("agents", "hooks") == ("elsewhere_t1", None)


def test_an_entry_point_of_the_other_kind_is_not_found(install: Callable[..., None]) -> None:
    install("smriti.memory", theirs="os:getcwd")
    assert "theirs" in registry.names("memory")
    assert "theirs" not in registry.names("agents")
    with pytest.raises(UsageError, match="agent 'theirs' is not known"):
        registry.load("agents", "theirs")


def test_an_entry_point_does_not_take_the_place_of_smritis_own(install: Callable[..., None]) -> None:
    install("smriti.agents", nop="os:getcwd")
    assert registry.names("agents").count("nop") == 1
    assert registry.load("agents", "nop").name == "nop"


# By dotted path


def test_a_dotted_path_names_any_object(write: Callable[..., None]) -> None:
    write("package_t1/__init__.py", "")
    write("package_t1/module.py", ADAPTER.replace("create", "make"))
    assert registry.load("agents", "package_t1.module:make") == ("package_t1.module", None)
    assert registry.load("memory", "package_t1.module:make") == ("package_t1.module", None)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("smriti.agents.nop", "names no object; expected package.module:object"),
        ("smriti.agents.nop:", "names no object"),
        ("smriti.agents.nowhere:create", "the module cannot be imported: No module named 'smriti.agents.nowhere'"),
        ("no_such_package.module:create", "No module named 'no_such_package'"),
        ("smriti.agents.nop:nothing", "agent smriti.agents.nop:nothing: the module has no callable"),
        ("smriti.agents.nop:__name__", "has no callable"),
        ("smriti.agents.nop:create:argument", "has no callable"),
        ("./mine.py:create", "names no object"),
        (".mine:create", "names no object"),
        ("a..b:create", "names no object"),
        ("mine.toml", "names no object"),
    ],
)
def test_a_dotted_path_that_leads_nowhere_says_so(spec: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.load("agents", spec)
    assert told in str(raised.value)


# Unknown names


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("agents", "oracel", "oracle"),
        ("agents", "rehersal:flake=0.5", "rehearsal"),
        ("memory", "embeded", "embedded"),
    ],
)
def test_an_unknown_name_brings_the_nearest_one(kind: registry.Kind, name: str, meant: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.load(kind, name)
    assert f"Did you mean {meant!r}?" in str(raised.value)


@pytest.mark.parametrize(("kind", "noun"), [("agents", "agent"), ("memory", "memory system")])
def test_an_unknown_name_brings_every_choice(kind: registry.Kind, noun: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.load(kind, "zzzzzz")
    told = str(raised.value)
    assert told.startswith(f"{noun} 'zzzzzz' is not known. Known are {', '.join(registry.names(kind))};")
    assert "package.module:object" in told
    assert "Did you mean" not in told


def test_an_adapter_is_made_anew_at_every_load() -> None:
    made: list[Any] = [registry.load("memory", "off") for _ in range(2)]
    assert made[0] is not made[1]
