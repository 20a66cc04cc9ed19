"""Which code, packages and machine ran, and how two experiments are told apart."""

from __future__ import annotations

import getpass
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import smriti
from smriti.receipts import fingerprint
from smriti.receipts.fingerprint import code_identity, differences, host, installed_packages
from smriti.types import BenchManifest, CodeIdentity, SystemIdentity
from tests.strategies import manifest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not there")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that stands in for smriti, in a folder of its own."""
    directory = tmp_path / "checkout" / "smriti"
    (directory / "sub").mkdir(parents=True)
    (directory / "__init__.py").write_text("a = 1\n")
    (directory / "sub" / "module.py").write_text("b = 2\n")
    monkeypatch.setattr(fingerprint, "PACKAGE", directory)
    return directory


def git(repository: Path, *arguments: str) -> str:
    """Ask git, with nobody's configuration."""
    author = {f"GIT_{role}_{what}": "dev@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **author}
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(package: Path) -> Path:
    """A clean checkout of the package, with one commit."""
    (package.parent / "pyproject.toml").touch()
    git(package.parent, "init", "--quiet")
    git(package.parent, "add", ".")
    git(package.parent, "commit", "--quiet", "--message", "Begin")
    return package.parent


# Code


def test_the_identity_of_this_very_package_is_stated() -> None:
    identity = code_identity()
    assert identity.version == smriti.__version__
    assert len(identity.sha256) == 64
    assert identity == code_identity()


Change = Callable[[Path], object]

CHANGES: dict[str, Change] = {
    "content": lambda package: (package / "__init__.py").write_text("a = 2\n"),
    "name": lambda package: (package / "sub" / "module.py").rename(package / "sub" / "other.py"),
    "place": lambda package: (package / "sub" / "module.py").rename(package / "module.py"),
    "a file more": lambda package: (package / "sub" / "__init__.py").touch(),
    "a file less": lambda package: (package / "sub" / "module.py").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_any_change_of_the_packages_python_changes_its_digest(package: Path, change: Change) -> None:
    before = code_identity().sha256
    change(package)
    assert code_identity().sha256 != before


def test_tasks_caches_and_the_place_of_the_package_do_not_change_its_digest(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks have digests of their own, and lie in the wheel, but not in the package of a checkout."""
    before = code_identity().sha256
    for extra in ("tasks/a/hidden/check.py", "eval/x.py", "__pycache__/module.cpython-311.pyc", "py.typed"):
        (package / extra).parent.mkdir(parents=True, exist_ok=True)
        (package / extra).write_text("x")
    moved = tmp_path / "elsewhere"
    shutil.copytree(package, moved)
    monkeypatch.setattr(fingerprint, "PACKAGE", moved)
    assert code_identity().sha256 == before


def test_outside_a_checkout_commit_and_dirt_are_unknown(package: Path) -> None:
    assert (code_identity().commit, code_identity().dirty) == (None, None)
    (package.parent / "pyproject.toml").touch()
    assert (code_identity().commit, code_identity().dirty) == (None, None)


@needs_git
def test_a_clean_checkout_has_its_commit(checkout: Path) -> None:
    identity = code_identity()
    assert (identity.commit, identity.dirty) == (git(checkout, "rev-parse", "HEAD"), False)


@needs_git
@pytest.mark.parametrize("file", ["smriti/__init__.py", "smriti/new.py", "pyproject.toml"])
def test_a_changed_or_new_file_makes_a_checkout_dirty(checkout: Path, file: str) -> None:
    (checkout / file).write_text("changed = True\n")
    identity = code_identity()
    assert (identity.commit, identity.dirty) == (git(checkout, "rev-parse", "HEAD"), True)


@needs_git
def test_what_git_ignores_makes_no_checkout_dirty(checkout: Path) -> None:
    (checkout / ".git" / "info").mkdir(exist_ok=True)
    (checkout / ".git" / "info" / "exclude").write_text("receipts/\n")
    (checkout / "receipts").mkdir()
    (checkout / "receipts" / "manifest.json").touch()
    assert code_identity().dirty is False


@needs_git
def test_a_repository_without_a_commit_has_none(package: Path) -> None:
    (package.parent / "pyproject.toml").touch()
    git(package.parent, "init", "--quiet")
    assert (code_identity().commit, code_identity().dirty) == (None, True)


@needs_git
def test_a_repository_around_an_installed_package_is_not_its_checkout(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    assert code_identity().commit is None


@needs_git
def test_the_environment_cannot_point_to_another_repository(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a git hook, which has GIT_DIR set."""
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet")
    git(tmp_path / "other", "commit", "--quiet", "--allow-empty", "--message", "Another")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    identity = code_identity()
    assert (identity.commit, identity.dirty) == (git(checkout, "rev-parse", "HEAD"), False)


@needs_git
def test_without_git_commit_and_dirt_are_unknown(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checkout.is_dir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (code_identity().commit, code_identity().dirty) == (None, None)


@needs_git
@pytest.mark.parametrize("dirty", [True, False])
def test_what_the_wheel_was_built_from_comes_before_any_checkout(checkout: Path, *, dirty: bool) -> None:
    (checkout / "smriti" / "_commit.json").write_text(json.dumps({"commit": "c" * 40, "dirty": dirty}))
    assert (code_identity().commit, code_identity().dirty) == ("c" * 40, dirty)


# Packages and machine


def test_what_is_installed_is_listed_by_name() -> None:
    found = installed_packages()
    assert found["pytest"] == pytest.__version__
    assert list(found) == sorted(found, key=str.lower)


def test_of_two_of_a_name_the_one_that_is_imported_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("first", "1.0"), ("second", "2.0")):
        described = tmp_path / folder / f"twice-{version}.dist-info"
        described.mkdir(parents=True)
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: twice\nVersion: {version}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), *sys.path, str(tmp_path / "second")])
    assert installed_packages()["twice"] == "1.0"


def test_the_host_is_described_without_a_name_a_user_or_a_path() -> None:
    described = host()
    assert set(described) == {"system", "release", "machine", "python", "cpus"}
    assert not {platform.node(), getpass.getuser(), str(Path.home())} & set(map(str, described.values()))
    json.dumps(described)


# Differences

OCCASION: dict[str, Any] = {"run_id": "other", "started": "2027-01-01T00:00:00+00:00", "jobs": 8, "host": {"cpus": 2}}

OTHER: dict[str, Any] = {
    "evidence_class": "measured",
    "config": manifest(["a"], ["on"], 3).config,
    "code": CodeIdentity(version="0", commit="c", dirty=None, sha256="0" * 64),
    "packages": {"httpx": "1"},
    "systems": (SystemIdentity(name="embedded", version="2"),),
    "agents": (SystemIdentity(name="rehearsal", version="1", detail={"flake": 0.5}),),
    "scripted": False,
    "delivery": "prompt",
    "artifacts": {"smriti.whl": "0" * 64},
    "engine": "dask",
    "datasets": {"locomo": "0" * 64},
    "tasks": manifest(["b"], ["on"], 1).tasks,
    "selection": {"split": "visible"},
    "seed": 1,
    "sandbox": "bubblewrap",
    "planned": 2,
}


@pytest.fixture
def before() -> BenchManifest:
    return manifest(["a"], ["on"], 1)


def test_an_experiment_does_not_differ_from_itself(before: BenchManifest) -> None:
    assert differences(before, before) == []
    assert differences(before, BenchManifest.model_validate_json(before.model_dump_json(by_alias=True))) == []


@pytest.mark.parametrize("field", OCCASION)
def test_another_occasion_is_no_other_experiment(before: BenchManifest, field: str) -> None:
    assert differences(before, before.model_copy(update={field: OCCASION[field]})) == []


@pytest.mark.parametrize("field", OTHER)
def test_any_other_field_makes_another_experiment_and_is_named(before: BenchManifest, field: str) -> None:
    told = differences(before, before.model_copy(update={field: OTHER[field]}))
    assert told
    assert all(line.startswith(field) for line in told)


def test_every_field_of_a_manifest_is_of_the_occasion_or_of_the_experiment() -> None:
    assert set(BenchManifest.model_fields) - {"schema_", "suite"} == OCCASION.keys() | OTHER.keys()


def test_a_difference_is_named_down_to_the_value_with_both_values(before: BenchManifest) -> None:
    other = manifest(["a"], ["on", "off"], 1, seed=7, packages={"httpx": "1"})
    assert differences(before, other) == [
        "config.conditions: ['on'] in the receipt, ['on', 'off'] now",
        "config.seed: 0 in the receipt, 7 now",
        "packages.httpx: nothing in the receipt, '1' now",
        "seed: 0 in the receipt, 7 now",
        "planned: 1 in the receipt, 2 now",
    ]
    changed = before.model_copy(update={"systems": OTHER["systems"]})
    assert differences(before, changed) == ["systems[0].version: '1' in the receipt, '2' now"]


jsons = st.recursive(
    st.none() | st.integers(0, 2) | st.sampled_from(["", "a"]),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from("ab"), below, max_size=2),
    max_leaves=4,
)
selections = st.dictionaries(st.sampled_from("ab"), jsons)


@settings(max_examples=60, deadline=None)
@given(selections, selections)
def test_whatever_differs_is_told_and_nothing_else(one: dict[str, Any], other: dict[str, Any]) -> None:
    told = differences(manifest(["a"], ["on"], 1, selection=one), manifest(["a"], ["on"], 1, selection=other))
    assert bool(told) == (one != other)
    assert all(line.startswith("selection.") for line in told)
    assert len(told) == len(set(told))
