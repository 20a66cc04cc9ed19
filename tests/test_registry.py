"""What a name on the command line stands for."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import smriti.agents
from smriti import registry
from smriti.errors import UsageError

ADAPTER = "def create(argument):\n    return (__name__, argument)\n"
COMPLETE = """
from smriti.types import SystemIdentity

class Made:
    name, version, scripted, channels, lanes, capabilities = "made", "1", True, frozenset(), (), frozenset()

    def __init__(self, *arguments):
        self.arguments = arguments

    def identity(self):
        return SystemIdentity(name=self.name, version=self.version)

    def run(self, job): ...

    def open(self, workspace, replica=None): ...

made = Made("at import")

def no_argument(): return Made()
def one_argument(argument): return Made(argument)
def optional_argument(argument="default"): return Made(argument)
def two_arguments(one, two): return Made(one, two)
def by_name(*, key): return Made(key)
"""
"""Adapters of both kinds, and what makes them."""


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
    write("elsewhere_t1.py", COMPLETE)
    install("smriti.agents", not_ours="elsewhere_t1:one_argument", hooks="elsewhere_t1:one_argument")
    assert {"not-ours", "nop", "hooks"} <= set(registry.names("agents"))
    assert registry.load("agents", "not-ours:x").arguments == ("x",)
    assert registry.load("agents", "hooks").arguments == (None,)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("no_such_module_t1:create", "its entry point cannot be loaded: ModuleNotFoundError: No module named"),
        ("elsewhere_t2:no_such", "its entry point cannot be loaded: AttributeError"),
        ("elsewhere_t2:two_arguments", "it could not be made: TypeError"),
        ("os:path.basename", "it could not be made: TypeError"),
        ("elsewhere_t2:tells", "is of type str, which lacks name, version"),
    ],
)
def test_an_entry_point_that_cannot_be_used_says_so_in_one_paragraph(
    write: Callable[..., None], install: Callable[..., None], value: str, told: str
) -> None:
    write("elsewhere_t2.py", COMPLETE + "\ndef tells(argument): return 'it'\n")
    install("smriti.agents", theirs=value)
    assert told in refusal("agents", "theirs")


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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]) -> Callable[..., Path]:
    """Write modules into the current directory, which is on no import path. Their names are forgotten afterwards."""
    del write  # its clean-up is wanted
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def here(file: str, content: str = COMPLETE) -> Path:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(content)
        return folder / file

    return here


def refusal(kind: registry.Kind, spec: str) -> str:
    """What is said of an adapter that is refused, in one paragraph."""
    with pytest.raises(UsageError) as raised:
        registry.load(kind, spec)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("kind", ["agents", "memory"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("made", ("at import",)),
        ("Made", ()),
        ("no_argument", ()),
        ("one_argument", (None,)),
        ("optional_argument", ("default",)),
    ],
)
def test_an_object_is_the_adapter_itself_or_what_makes_it(
    write: Callable[..., None], kind: registry.Kind, name: str, arguments: tuple[object, ...]
) -> None:
    write("package_t1/__init__.py", "")
    write("package_t1/module.py", COMPLETE)
    assert registry.load(kind, f"package_t1.module:{name}").arguments == arguments


def test_a_module_of_one_file_in_the_current_directory_is_enough(here: Callable[..., Path]) -> None:
    here("flat_t1.py")
    before = list(sys.path)
    assert registry.load("memory", "flat_t1:no_argument").name == "made"
    assert sys.path == before, "the directory is on the path for that long only"


def test_a_module_of_a_folder_in_the_current_directory_needs_no_init(here: Callable[..., Path]) -> None:
    here("folder_t1/mine.py")
    assert registry.load("agents", "folder_t1.mine:made").name == "made"


def test_a_name_of_smritis_own_is_no_module_of_the_current_directory(here: Callable[..., Path]) -> None:
    here("oracle.py")
    assert "expected none" in refusal("agents", "oracle:made")


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("import no_such_sdk\n", "made", "cannot be imported: ModuleNotFoundError: No module named 'no_such_sdk' (/"),
        ("\n1 / 0\n", "made", "cannot be imported: ZeroDivisionError: division by zero (/"),
        ("def made(:\n", "made", "cannot be imported: SyntaxError: "),
        ("raise SystemExit('no key')\n", "made", "cannot be imported: SystemExit: no key (/"),
        ("def made():\n    raise ValueError('no key\\nset it')\n", "made", "not be made: ValueError: no key set it (/"),
        ("made = 7\n", "made", "is of type int; expected the agent itself, an object with run(), or a class"),
        ("def make(): ...\n", "made", "no object of the name 'made'; did you mean 'make'?"),
        (COMPLETE, "two_arguments", "needs the arguments one, two; expected"),
        (COMPLETE, "by_name", "needs the arguments key; expected"),
        (
            "def made(): ...\n",
            "made",
            "is of type NoneType, which lacks name, version, scripted, channels, identity(), r",
        ),
        (
            COMPLETE + "Made.channels = None; Made.run = 1\n",
            "made",
            "is of type Made, which lacks channels, run(); exp",
        ),
        (COMPLETE + "Made.identity = lambda self: {}\n", "made", "its identity() is {}, expected a smriti.types.Sys"),
        (COMPLETE + "Made.identity = lambda self: 1 / 0\n", "made", "its identity() failed: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_code_of_the_users_is_told_in_one_paragraph(
    here: Callable[..., Path], content: str, name: str, told: str
) -> None:
    file = here("broken_t1.py", content)
    said = refusal("agents", f"broken_t1:{name}")
    assert said.startswith(f"agent broken_t1:{name}")
    assert told in said
    if told.endswith("(/"):
        assert f"({file}, line " in said


def test_a_usage_error_of_the_users_code_comes_out_as_it_is(here: Callable[..., Path]) -> None:
    here("careful_t1.py", "from smriti.errors import UsageError\ndef made(): raise UsageError('set A_KEY')\n")
    assert refusal("agents", "careful_t1:made") == "set A_KEY"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("smriti.agents.nop", "names no object; expected package.module:object"),
        ("smriti.agents.nop:", "names no object"),
        (
            "smriti.agents.nowhere:create",
            "the module cannot be imported: ModuleNotFoundError: No module named 'smriti.a",
        ),
        ("no_such_package.module:create", "No module named 'no_such_package'"),
        (
            "smriti.agents.nop:nothing",
            "agent smriti.agents.nop:nothing: the module has no object of the name 'nothing'",
        ),
        ("smriti.agents.nop:__name__", "is of type str; expected the agent itself"),
        ("smriti.agents.nop:create:argument", "the module has no object of the name 'create:argument'"),
        ("./mine.py:create", "names no object"),
        (".mine:create", "names no object"),
        ("a..b:create", "names no object"),
        ("mine.toml", "names no object"),
    ],
)
def test_a_dotted_path_that_leads_nowhere_says_so(spec: str, told: str) -> None:
    assert told in refusal("agents", spec)


# What an adapter is made of


def test_a_module_of_one_file_is_that_file(here: Callable[..., Path]) -> None:
    file = here("source_t1.py")
    registry.load("memory", "source_t1:made")
    before = registry.sources("memory", "source_t1:made")
    assert before == {"memory/source_t1.py": hashlib.sha256(COMPLETE.encode()).hexdigest()}
    file.write_text(COMPLETE + "# changed\n")
    assert registry.sources("memory", "source_t1:made") != before
    assert registry.sources("memory", "source_t1:made").keys() == before.keys()


def test_what_a_module_of_one_file_imports_from_beside_it_counts_too(here: Callable[..., Path]) -> None:
    here("part_t1.py", "x = 1\n")
    here("not_imported_t1.py", "")
    here("venv/site-packages/sdk_t1.py", "x = 1\n")
    lines = "import sys\nsys.path.append('venv/site-packages')\nimport part_t1, sdk_t1\nsys.path.pop()\n"
    here("source_t2.py", lines + COMPLETE)
    registry.load("memory", "source_t2:made")
    before = registry.sources("memory", "source_t2:made")
    assert list(before) == ["memory/part_t1.py", "memory/source_t2.py"]
    here("part_t1.py", "x = 2\n")
    now = registry.sources("memory", "source_t2:made")
    assert [label for label in now if now[label] != before[label]] == ["memory/part_t1.py"]


def test_a_package_is_every_python_file_of_it(here: Callable[..., Path]) -> None:
    here("package_t2/__init__.py", "")
    here("package_t2/adapter.py")
    inner = here("package_t2/inner.py", "x = 1\n")
    registry.load("agents", "package_t2.adapter:made")
    before = registry.sources("agents", "package_t2.adapter:made")
    assert list(before) == ["agents/package_t2/**/*.py"]
    here("package_t2/notes.txt", "nothing")
    assert registry.sources("agents", "package_t2.adapter:made") == before
    inner.rename(inner.with_name("other.py"))
    renamed = registry.sources("agents", "package_t2.adapter:made")
    assert renamed != before
    inner.with_name("other.py").write_text("x = 2\n")
    assert registry.sources("agents", "package_t2.adapter:made") != renamed


def test_a_module_in_a_folder_that_is_no_package_is_its_own_file(here: Callable[..., Path]) -> None:
    here("folder_t2/mine.py")
    registry.load("agents", "folder_t2.mine:made")
    assert list(registry.sources("agents", "folder_t2.mine:made")) == ["agents/mine.py"]


def test_an_entry_point_is_its_distribution_and_its_code(
    write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("elsewhere_t3.py", COMPLETE)
    point = EntryPoint("theirs", "elsewhere_t3:one_argument", "smriti.agents")
    vars(point)["dist"] = SimpleNamespace(name="their-agent", version="1.4")
    monkeypatch.setattr(registry, "entry_points", EntryPoints([point]).select)
    digest = hashlib.sha256(COMPLETE.encode()).hexdigest()
    assert registry.sources("agents", "theirs:x") == {"agents/their-agent 1.4 elsewhere_t3.py": digest}


def test_what_came_with_smriti_is_part_of_its_own_code() -> None:
    assert registry.sources("agents", "rehearsal:flake=0.5") == {}
    assert registry.sources("memory", "embedded") == {}


def test_a_command_is_its_file_and_what_it_runs(tmp_path: Path) -> None:
    program, script, file = tmp_path / "run-it", tmp_path / "agent.py", tmp_path / "agent.toml"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    script.write_text("pass\n")
    file.write_text(f"""name = "a"\nversion = "1"\ncommand = ["{program}", "{script}", "agent.py", "/", "-x"]\n""")
    before = registry.sources("agents", f"command:{file}")
    assert list(before) == ["agents/agent.toml", "agents/command[0] run-it", "agents/command[1] agent.py"]
    for path, label in zip((file, program, script), before, strict=True):
        path.write_text(path.read_text() + "# changed\n")
        now = registry.sources("agents", f"command:{file}")
        assert [each for each in before if now[each] != before[each]] == [label]
        before = now


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


def test_an_adapter_of_smritis_own_is_told_from_a_users() -> None:
    assert all(registry.is_own("memory", spec) for spec in ("grep", "bm25:longmemeval-official", "openai-vector:a@b"))
    assert not any(registry.is_own("memory", spec) for spec in ("mine:System", "a.b:c", "gerp"))
