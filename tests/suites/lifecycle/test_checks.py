"""The checks that come with smriti can be read, and a file that is not as it must be is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from smriti.errors import UsageError
from smriti.suites.lifecycle.checks import checks_path, read_checks
from smriti.suites.lifecycle.reader import commands_for
from tests.suites.lifecycle.fakes import own_checks

TEXT = """
schema = "smriti.lifecycle/1"

[[check]]
id = "one"
says = "It is found"
memory = [
  { name = "a", text = "The amber lamp is on.", needle = "amber" },
  { name = "b", text = "Lamp {n} is off.", needle = "Lamp {n}", count = 3 },
]
steps = [
  { name = "kept", part = "control", verb = "remember", memories = ["*"] },
  { name = "found", part = "control", verb = "search", query = "lamp", wanted = ["a"] },
  { name = "found again", part = "check", verb = "search", query = "lamp", wanted = ["b-*"] },
]
"""


def test_every_text_is_known_by_digest_and_by_a_needle_of_its_own() -> None:
    for check in own_checks().checks:
        texts = own_checks().texts[check.id]
        assert list(texts) == list(check.memories)
        for name, text in texts.items():
            assert check.memories[name].sha256 == hashlib.sha256(text.content.encode()).hexdigest()
            assert check.memories[name].source_id == text.source_id == f"{check.id}/{name}"


def test_a_hundred_are_templated_forty_concurrent_and_one_is_long() -> None:
    texts = own_checks().texts
    assert len([name for name in texts["templated"] if name.startswith("service-")]) == 100
    assert len([name for name in texts["concurrent"] if name.startswith("entry-")]) == 40
    assert len(texts["long"]["long"].content) == 10_000
    assert not any(text.content.isascii() for name, text in texts["non-latin"].items() if name != "latin")


def test_no_memory_says_what_it_is_for() -> None:
    """What is remembered must not tell a system what is asked of it."""
    contents = [text.content for texts in own_checks().texts.values() for text in texts.values()]
    assert not any(word in content.lower() for content in contents for word in ("stale", "wanted", "lifecycle"))


def test_templates_are_written_out_and_patterns_stand_for_their_names(tmp_path: Path) -> None:
    (tmp_path / "checks.toml").write_text(TEXT)
    read = read_checks(tmp_path / "checks.toml")
    assert list(read.texts["one"]) == ["a", "b-001", "b-002", "b-003"]
    assert read.texts["one"]["b-002"].content == "Lamp 002 is off."
    assert read.checks[0].steps[0].memories == ("a", "b-001", "b-002", "b-003")
    assert read.checks[0].steps[2].wanted == ("b-001", "b-002", "b-003")
    assert read.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('schema = "smriti.lifecycle/1"', 'schema = "other"', "schema"),
        ('id = "one"', 'id = "one"\nsize = 3', "Extra inputs are not permitted"),
        ('needle = "amber"', 'needle = "blue"', "the needle 'blue' of 'a' does not tell it from 'a'"),
        ('needle = "amber"', 'needle = "is o"', "the needle"),
        ('needle = "amber" }', 'needle = "amber", command = "run it" }', "does not name its command 'run it'"),
        ('wanted = ["b-*"]', 'wanted = ["c"]', "unknown memories c"),
        ('part = "check"', 'part = "control"', "expected control steps first"),
        ('verb = "search"', 'verb = "sing"', "verb"),
        ("[[check]]", "[[check", "expected the checks of coding-memory-lifecycle-v1"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "checks.toml"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(UsageError) as refused:
        read_checks(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_check_twice_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "checks.toml"
    path.write_text(TEXT + TEXT.partition("\n\n")[2])
    with pytest.raises(UsageError, match="check 'one': it stands there twice"):
        read_checks(path)
    with pytest.raises(UsageError, match="No such file"):
        read_checks(tmp_path / "nowhere.toml")


def test_the_checks_are_found_in_this_checkout() -> None:
    assert checks_path().is_file()


# The reader


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], []),
        (["To seed the demo database, run `make seed`."], ["make seed"]),
        (["Run `make x` first. To Seed The Demo Database, run `make seed`."], ["make seed"]),
        (["Seed the demo database by hand.", "Run `make seed`."], []),
        (["To seed the demo database: `a` or `b`"], ["a", "b"]),
        (["seed the demo database `a`", "seed the demo database ` a `"], ["a"]),
        (["seed the demo database: `b`", "seed the demo database: `a`"], ["a", "b"]),
        (["seed the demo database\n`a`"], []),
    ],
)
def test_the_reader_takes_commands_of_sentences_that_name_the_task(texts: list[str], found: list[str]) -> None:
    assert commands_for("seed the demo database", texts) == found
